// The provenance of a row of path_collect: what it says beside its texts.
#pragma once

#include <array>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "rows/row.h"

namespace agentr {

// Rows of this version train what revision/make/splice.h describes. Those of version 1, which name
// none, trained shared prefixes, the instruction's turn and refused actions.
constexpr int kRowVersion = 2;

struct ProvenanceField {
  const char* name;
  bool counted = false;  // the audit counts the rows by its values
};

// In the order in which they are written. What is not known is null. Nodes are positions in the
// tree's file (agent-r trees: in depth-first order), null where there is none.
inline constexpr std::array<ProvenanceField, 27> kProvenanceFields = {{
    {"version"},           // kRowVersion
    {"tree"},              // its file
    {"task"},              // the id
    {"model"},             // that made the tree
    {"data_hash"},         // of the environment's data
    {"nodes"},             // {good, bad, ancestor, first_error}
    {"rewards"},           // {good, bad, replay}
    {"mistake", true},     // name of the first error
    {"evidence"},          // ended leaves after the first error
    {"reason"},            // of the verifier
    {"values"},            // of the verifier rollout, {before, behind: {successes, continuations,
                           // low, high}} with the 95 % interval
    {"revision_length"},   // {from_start, from_ancestor}
    {"bad_steps"},         // turns of the bad path
    {"recovery", true},    // recovery actions
    {"pruned_turns"},      // left out of the paths
    {"seed"},              // this and the next options are those of the run
    {"alpha"},             //
    {"beta"},              //
    {"good_margin"},       //
    {"pairing"},           //
    {"verifier", true},    //
    {"prune"},             //
    {"train_prefix"},      // whether the shared prefix is trained
    {"replay", true},      // outcome: verified, diverged, failed, unchecked
    {"dropped_turns"},     // oldest turns that do not fit
    {"last_observation"},  // the reply to the last turn
    {"hash"},              // of the row's texts
}};

BadPath BadPathOf(const nlohmann::ordered_json& provenance);

// Throws FatalError(kFile), with the cure, for the provenance of a row of version 1. What is not
// path_collect's passes: its provenance always names the tree that the row is of.
void RefuseOldRow(const nlohmann::ordered_json& provenance);

// The same for a file in Agent-R's format, whose rows tell nothing: by the provenance that
// path_collect writes beside it, ROWS.provenance.jsonl. Passes where there is no such file.
void RefuseOldRowsBeside(const std::filesystem::path& rows);

}  // namespace agentr
