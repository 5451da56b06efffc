// Tree files: one JSON document per task, in two formats, which ReadTree recognises.
//
// compact (the default), version 1. After "nodes" there is one node per line, parents before
// children; fields with their default value are left out:
//   {"format": "agentr-tree", "version": 1,
//    "family": "textcraft", "task": 31, "model": "planner", "data_hash": "…",
//    "model_identity": "…",                                     where the model has one
//    "search": {"iterations": 8, …},
//    "instruction": [{"role", "content"}, …],
//    "nodes": [
//     {"observation"},                                                    the root
//     {"parent": 0, "response", "action", "observation", "reward": 0, "visits": 0, "value": 0,
//      "end": "done" | "disaster" | "depth" | "cut", "dropped_turns": 0,
//      "token_ids": […], "logprobs": […], "reasoning_content", "cut_turns": 0},
//     …]}
// "parent" is the index of a node in "nodes"; the other fields are those of Node (mcts/tree.h).
//
// agent-r: the nested nodes of Agent-R's own files, each with its whole conversation. They do not
// contain the model, the options or token ids, so a tree read from such a file has none of these.
// Our files have an additional field, "end": "depth" or "cut", at leaves that the depth limit or
// cut turns ended, which Agent-R's own files do not distinguish.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "common/named_values.h"
#include "mcts/tree.h"

namespace agentr {

enum class TreeFormat { kCompact, kAgentR };

inline constexpr std::array<NamedValue<TreeFormat>, 2> kTreeFormats = {
    {{"compact", TreeFormat::kCompact}, {"agent-r", TreeFormat::kAgentR}}};

// The same tree gives the same bytes. Invalid UTF-8 becomes U+FFFD.
std::string WriteTree(const Tree& tree, TreeFormat format);

// Reads either format. `name` is the file's name in messages. Throws FatalError(kFile) that names
// the field or, if the text is not JSON, the line.
Tree ReadTree(std::string_view text, const std::string& name);

}  // namespace agentr
