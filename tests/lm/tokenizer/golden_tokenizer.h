#pragma once

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "lm/tokenizer/tokenizer.h"
#include "tests/common/scratch_folder.h"

namespace agentr {

inline nlohmann::json ReadGolden(const std::string& name) {
  return nlohmann::json::parse(std::ifstream(AGENTR_SOURCE_DIR "/tests/golden/" + name));
}

// Of pairs of a role and a content.
inline std::vector<Message> ConversationOf(const nlohmann::json& turns) {
  std::vector<Message> conversation;
  for (const nlohmann::json& turn : turns) conversation.push_back({turn.at(0), turn.at(1)});
  return conversation;
}

// The small tokenizers of scripts/golden/tokenizer_kinds.py: {"tokenizer", "tokenizer_config"}.
inline nlohmann::json GoldenTokenizerFiles(const std::string& kind) {
  return ReadGolden("tokenizers/" + kind + ".json");
}

inline std::unique_ptr<Tokenizer> LoadTokenizer(const nlohmann::json& files) {
  const ScratchFolder folder;
  folder.Write("tokenizer.json", files.at("tokenizer").dump());
  if (files.contains("tokenizer_config")) {
    folder.Write("tokenizer_config.json", files["tokenizer_config"].dump());
  }
  return Tokenizer::Load(folder.path());
}

inline std::unique_ptr<Tokenizer> GoldenTokenizer(const std::string& kind) {
  return LoadTokenizer(GoldenTokenizerFiles(kind));
}

}  // namespace agentr
