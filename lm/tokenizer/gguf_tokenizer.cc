#include "lm/tokenizer/gguf_tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/utf8.h"
#include "lm/tokenizer/bpe.h"

namespace agentr {
namespace {

using nlohmann::json;
using TokenTexts = std::vector<std::string_view>;

// The kinds of tokens that matter, as the file numbers them.
constexpr int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6;

json SplitJson(const std::string& pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

json ByteLevelJson(bool gpt2_pattern) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", true},
          {"use_regex", gpt2_pattern}};
}

json SequenceJson(const json& steps) { return {{"type", "Sequence"}, {"pretokenizers", steps}}; }

json DigitsJson() { return {{"type", "Digits"}, {"individual_digits", true}}; }

// How a text is divided into pieces, by the value of tokenizer.ggml.pre. The patterns are those of
// the models' tokenizer.json.
struct Division {
  std::string_view name;
  json (*pre_tokenizer)();
  bool ignore_merges = false;  // a piece that is a token becomes it
  bool nfc = false;
  bool adds_bos = false;  // where the file does not say it, as in llama.cpp
};

json Gpt2() { return ByteLevelJson(true); }
json DigitsThenGpt2() { return SequenceJson({DigitsJson(), ByteLevelJson(true)}); }
json Llama3() {
  return SequenceJson(
      {SplitJson(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
                 R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
       ByteLevelJson(false)});
}
json Qwen2() {
  return SequenceJson({SplitJson(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|)"
                                 R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"),
                       ByteLevelJson(false)});
}
json Gpt4o() {
  return SequenceJson(
      {SplitJson(R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
                 R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
                 R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
                 R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)"
                 R"(\s*[\r\n]+|\s+(?!\S)|\s+)"),
       ByteLevelJson(false)});
}

// Of those that divide alike, the first one but default is written.
constexpr std::array<Division, 15> kDivisions = {{{"default", &Gpt2},
                                                  {"gpt-2", &Gpt2},
                                                  {"olmo", &Gpt2},
                                                  {"smollm", &DigitsThenGpt2},
                                                  {"refact", &DigitsThenGpt2},
                                                  {"starcoder", &DigitsThenGpt2},
                                                  {"llama-bpe", &Llama3, true, false, true},
                                                  {"qwen2", &Qwen2, false, true},
                                                  {"dbrx", &Llama3},
                                                  {"gpt-4o", &Gpt4o},
                                                  {"smaug-bpe", &Llama3},
                                                  {"deepseek-r1-qwen", &Qwen2, false, true},
                                                  {"llama3", &Llama3, true, false, true},
                                                  {"llama-v3", &Llama3, true, false, true},
                                                  {"falcon3", &Llama3, true, false, true}}};

// tokenizer.ggml.pre, or what a file without it must have: older programs wrote none.
std::string_view DivisionName(const GgufFile& file) {
  if (file.Has("tokenizer.ggml.pre")) return file.Get<std::string_view>("tokenizer.ggml.pre");
  constexpr size_t kLlama3Tokens = 128'000;  // without the special ones
  const auto architecture = file.Get<std::string_view>("general.architecture", "");
  if (architecture == "qwen2" || architecture == "qwen3") return "qwen2";
  const bool llama3 = architecture == "llama" &&
                      file.Get<TokenTexts>("tokenizer.ggml.tokens").size() >= kLlama3Tokens;
  return llama3 ? "llama-bpe" : "default";
}

const Division& DivisionOf(const GgufFile& file) {
  const std::string_view name = DivisionName(file);
  std::vector<std::string_view> names;
  for (const Division& known : kDivisions) {
    if (known.name == name) return known;
    names.push_back(known.name);
  }
  file.Refuse("tokenizer.ggml.pre",
              fmt::format("is '{}'; {} are supported", name, fmt::join(names, ", ")));
}

json VocabularyJson(const TokenTexts& tokens) {
  json vocabulary = json::object();
  for (size_t id = 0; id < tokens.size(); ++id) {
    vocabulary.emplace(std::string(tokens[id]), id);
  }
  return vocabulary;
}

// Whether a token takes the white space behind it. A file does not say it; of Phi-3's tokens
// llama.cpp knows it by name.
bool TakesSpaceBehind(const GgufFile& file, std::string_view token) {
  return file.Get<std::string_view>("general.architecture", "") == "phi3" &&
         file.Get<std::string_view>("tokenizer.ggml.model") == "llama" && token != "<unk>" &&
         token != "<s>" && token != "<|endoftext|>";
}

// Those of all three kinds are found in a text before all others.
json AddedTokensJson(const GgufFile& file, const TokenTexts& tokens) {
  const auto types = file.Get("tokenizer.ggml.token_type", std::vector<int64_t>());
  json added = json::array();
  for (size_t id = 0; id < std::min(types.size(), tokens.size()); ++id) {
    if (types[id] < kUnknown || types[id] > kUserDefined) continue;
    added.push_back({{"id", id},
                     {"content", std::string(tokens[id])},
                     {"special", types[id] != kUserDefined},
                     {"normalized", false},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", TakesSpaceBehind(file, tokens[id])}});
  }
  return added;
}

json BytePairJson(const GgufFile& file) {
  const Division& division = DivisionOf(file);
  const TokenTexts& tokens = file.Get<TokenTexts>("tokenizer.ggml.tokens");
  json merges = json::array();
  for (const std::string_view merge : file.Get<TokenTexts>("tokenizer.ggml.merges")) {
    merges.push_back(std::string(merge));
  }
  return {{"normalizer", division.nfc ? json{{"type", "NFC"}} : json()},
          {"pre_tokenizer", division.pre_tokenizer()},
          {"decoder", ByteLevelJson(true)},
          {"added_tokens", AddedTokensJson(file, tokens)},
          {"model",
           {{"type", "BPE"},
            {"ignore_merges", division.ignore_merges},
            {"vocab", VocabularyJson(tokens)},
            {"merges", std::move(merges)}}}};
}

// Every division of a piece into two other pieces, those of the best piece first.
json MergesByScore(const GgufFile& file, const TokenTexts& tokens) {
  const auto& scores = file.Get<std::vector<double>>("tokenizer.ggml.scores");
  if (scores.size() != tokens.size()) {
    file.Refuse("tokenizer.ggml.scores", "does not have one score per token");
  }
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t id = 0; id < tokens.size(); ++id) ids.emplace(tokens[id], id);
  std::vector<size_t> order;
  for (size_t id = 0; id < tokens.size(); ++id) order.push_back(id);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](size_t id) { return scores[id]; });
  json merges = json::array();
  for (const size_t id : order) {
    const std::string_view piece = tokens[id];
    for (size_t at = 1; at < piece.size(); ++at) {
      if ((piece[at] & 0xC0) == 0x80) continue;  // within a character
      const std::string_view left = piece.substr(0, at), right = piece.substr(at);
      if (ids.contains(left) && ids.contains(right)) {
        merges.push_back(json::array({std::string(left), std::string(right)}));
      }
    }
  }
  return merges;
}

json SentencePieceJson(const GgufFile& file) {
  const TokenTexts& tokens = file.Get<TokenTexts>("tokenizer.ggml.tokens");
  const bool prefix = file.Get<bool>("tokenizer.ggml.add_space_prefix", true);
  const json replace = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}};
  json decoders =
      json::array({{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
                   {{"type", "ByteFallback"}},
                   {{"type", "Fuse"}}});
  json normalizer = replace;
  if (prefix) {
    normalizer = {{"type", "Sequence"},
                  {"normalizers", {{{"type", "Prepend"}, {"prepend", "▁"}}, replace}}};
    decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  json model = {{"type", "BPE"},
                {"byte_fallback", true},
                {"fuse_unk", true},
                {"vocab", VocabularyJson(tokens)},
                {"merges", MergesByScore(file, tokens)}};
  const auto unk = file.Get<int64_t>("tokenizer.ggml.unknown_token_id", 0);
  if (unk < 0 || unk >= static_cast<int64_t>(tokens.size())) {
    file.Refuse("tokenizer.ggml.unknown_token_id", fmt::format("is {}, no token", unk));
  }
  model["unk_token"] = std::string(tokens[unk]);
  return {{"normalizer", std::move(normalizer)},
          {"decoder", {{"type", "Sequence"}, {"decoders", std::move(decoders)}}},
          {"added_tokens", AddedTokensJson(file, tokens)},
          {"model", std::move(model)}};
}

// What matters of the steps that divide a text: names, patterns and switches.
void DescribeDivision(const json& step, std::string& text) {
  if (!step.is_object()) return;
  const auto type = step.value("type", "");
  if (type == "Sequence") {
    for (const json& inner : step["pretokenizers"]) DescribeDivision(inner, text);
    return;
  }
  text += fmt::format("{} {} {} {}\n", type, step.value("pattern", json()).dump(),
                      step.value("use_regex", type == "ByteLevel"),
                      step.value("individual_digits", false));
}

std::string DivisionText(const json& pre_tokenizer) {
  std::string text;
  DescribeDivision(pre_tokenizer, text);
  return text;
}

void PutBytePairs(const TokenizerJson& tokenizer, GgufVocabulary& vocabulary) {
  vocabulary.model = "gpt2";
  const std::string text = DivisionText(tokenizer["pre_tokenizer"].value());
  const auto* found = std::ranges::find_if(kDivisions, [&](const Division& known) {
    return DivisionText(known.pre_tokenizer()) == text && known.name != "default";
  });
  if (found == kDivisions.end()) {
    tokenizer["pre_tokenizer"].Refuse("divides texts as no GGUF file that is known");
  }
  vocabulary.pre = found->name;
  for (const TokenizerJson& merge : tokenizer["model"]["merges"].Items()) {
    const auto [left, right] = MergeParts(merge);
    vocabulary.merges.push_back(left + " " + right);
  }
}

// Whether a pre_tokenizer puts a space before a text.
bool PutsSpaceBefore(const TokenizerJson& step) {
  if (step.is_null()) return false;
  const std::string type = step["type"].Text();
  if (type == "Sequence") {
    return std::ranges::any_of(step["pretokenizers"].Items(), PutsSpaceBefore);
  }
  return type == "Metaspace" &&
         step["prepend_scheme"].Text(step["add_prefix_space"].Bool(true) ? "always" : "never") !=
             "never";
}

// The score of a piece falls with the rank of its first merge.
void PutScores(const TokenizerJson& tokenizer, GgufVocabulary& vocabulary) {
  vocabulary.model = "llama";
  std::unordered_map<std::string, float> ranks;
  float rank = 0;
  for (const TokenizerJson& merge : tokenizer["model"]["merges"].Items()) {
    const auto [left, right] = MergeParts(merge);
    if (ranks.emplace(left + right, rank).second) ++rank;
  }
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    const auto found = ranks.find(token);
    vocabulary.scores.push_back(found == ranks.end() ? -1e6f : -found->second);
    if (token.size() == 6 && token.starts_with("<0x")) vocabulary.types[id] = kByte;
  }
  vocabulary.space_prefix =
      tokenizer["normalizer"].value().dump().find("Prepend") != std::string::npos ||
      PutsSpaceBefore(tokenizer["pre_tokenizer"]);
}

}  // namespace

GgufVocabulary VocabularyForGguf(const TokenizerJson& tokenizer, int64_t size) {
  const TokenizerJson model = tokenizer["model"];
  if (model["type"].Text("BPE") != "BPE") model["type"].Refuse("is not BPE");
  GgufVocabulary vocabulary;
  for (int64_t id = 0; id < size; ++id) vocabulary.tokens.push_back(fmt::format("[unused {}]", id));
  vocabulary.types.assign(size, kUnused);
  const auto put = [&](int64_t id, const std::string& text, int32_t type) {
    if (id >= size) return;  // a special token without a row
    vocabulary.tokens[id] = text;
    vocabulary.types[id] = type;
  };
  for (const auto& [text, id] : model["vocab"].value().items()) put(id, text, kNormal);
  for (const TokenizerJson& token : tokenizer["added_tokens"].Items()) {
    put(token["id"].TokenId(), token["content"].Text(),
        token["special"].Bool(false) ? kControl : kUserDefined);
  }
  if (model["byte_fallback"].Bool(false)) {
    PutScores(tokenizer, vocabulary);
    const std::string unknown = model["unk_token"].Text("");
    for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
      if (vocabulary.tokens[id] == unknown) vocabulary.types[id] = kUnknown;
    }
  } else {
    PutBytePairs(tokenizer, vocabulary);
  }
  vocabulary.adds_bos = PutsTokenBefore(tokenizer["post_processor"]);
  return vocabulary;
}

json GgufTokenizerJson(const GgufFile& file) {
  for (const std::string_view token : file.Get<TokenTexts>("tokenizer.ggml.tokens")) {
    if (!IsValidUtf8(token)) file.Refuse("tokenizer.ggml.tokens", "has a token that is not UTF-8");
  }
  const auto model = file.Get<std::string_view>("tokenizer.ggml.model");
  if (model == "gpt2") return BytePairJson(file);
  if (model == "llama") return SentencePieceJson(file);
  file.Refuse("tokenizer.ggml.model", fmt::format("is '{}'; gpt2 and llama are supported", model));
}

TokenizerConfig GgufTokenizerConfig(const GgufFile& file) {
  const TokenTexts& tokens = file.Get<TokenTexts>("tokenizer.ggml.tokens");
  TokenizerConfig config;
  for (const auto& [key, name] :
       {std::pair("bos", "bos_token"), std::pair("eos", "eos_token"),
        std::pair("unknown", "unk_token"), std::pair("padding", "pad_token")}) {
    const std::string field = fmt::format("tokenizer.ggml.{}_token_id", key);
    if (!file.Has(field)) continue;
    const auto id = file.Get<int64_t>(field);
    if (id < 0 || id >= static_cast<int64_t>(tokens.size())) {
      file.Refuse(field, fmt::format("is {}, no token of {}", id, tokens.size()));
    }
    if (!tokens[id].empty()) config.special_tokens[name] = std::string(tokens[id]);
  }
  // Without the field, llama.cpp puts BOS before texts of SentencePiece models, and of others where
  // the division says so.
  const bool byte_pairs = file.Get<std::string_view>("tokenizer.ggml.model") == "gpt2";
  config.adds_bos =
      file.Get<bool>("tokenizer.ggml.add_bos_token", !byte_pairs || DivisionOf(file).adds_bos);
  if (byte_pairs && DivisionName(file) == "default") {
    spdlog::warn(
        "{} does not say how its tokenizer divides a text (tokenizer.ggml.pre): GPT-2's way is "
        "assumed, which gives other tokens if the model was trained with another. Cure: a newer "
        "GGUF file of the model, or its Hugging Face folder",
        file.path().string());
  }
  if (file.Has("tokenizer.chat_template")) {
    config.chat_template = std::string(file.Get<std::string_view>("tokenizer.chat_template"));
    config.chat_template_file = "tokenizer.chat_template";
  }
  return config;
}

}  // namespace agentr
