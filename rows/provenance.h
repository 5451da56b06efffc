// The version of path_collect's rows, by which files of the old kind are told: those of version 1,
// which name none, trained shared prefixes, the instruction's turn and refused actions.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

namespace agentr {

// Throws FatalError(kFile), with the cure, for the provenance of a row of version 1. What is not
// path_collect's passes: its provenance always names the tree that the row is of.
void RefuseOldRow(const nlohmann::ordered_json& provenance);

// The same for a file in Agent-R's format, whose rows tell nothing: by the provenance that
// path_collect writes beside it, ROWS.provenance.jsonl. Passes where there is no such file.
void RefuseOldRowsBeside(const std::filesystem::path& rows);

}  // namespace agentr
