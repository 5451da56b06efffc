// Preferences in a file of JSON lines, in the conversational format of TRL's preference trainers,
// as path_collect --data_type preferences writes them (revision/preference_rows.h):
//
//   {"prompt": [{role, content}, …], "chosen": [{role: assistant, content}],
//    "rejected": [{role: assistant, content}]}
//
// Other fields are ignored. The prompt ends with a message of the user or of a tool.
#pragma once

#include <filesystem>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

struct WrittenPreference {
  std::vector<Message> prompt;
  Message chosen;
  Message rejected;
};

// Throws FatalError(kFile) with the line, what is wrong and the cure.
std::vector<WrittenPreference> ReadPreferences(const std::filesystem::path& file);

}  // namespace agentr
