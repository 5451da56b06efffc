#include "lm/tokenizer/tokenizer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "common/hash.h"
#include "common/random.h"
#include "common/utf8.h"
#include "tests/common/fatal_error.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kRows[] =
    "each string and kind: SHA-256 of ids, 6 digits; of their text, 4; of plain ids, 6, if they "
    "differ";

// The strings of strings.json, by the rule of scripts/golden/tokenizer_kinds.py.
std::vector<std::string> GoldenStrings(const json& golden) {
  auto strings = golden.at("parts").get<std::vector<std::string>>();
  const std::vector<std::string> parts = strings;
  uint64_t state = 1;
  const auto draw = [&](uint64_t n) {
    state = (state * 1103515245 + 12345) % (uint64_t{1} << 31);
    return (state >> 16) % n;
  };
  while (strings.size() < golden.at(kRows).size()) {
    std::string text;
    for (uint64_t count = 1 + draw(8); count > 0; --count) text += parts[draw(parts.size())];
    strings.push_back(text);
  }
  return strings;
}

std::string Digest(const std::string& text, size_t digits) {
  return Sha256(text).substr(0, digits);
}

std::string Digest(const std::vector<int32_t>& ids) {
  return Digest(fmt::format("{}", fmt::join(ids, " ")), 6);
}

// Ids with what they spell, for messages.
std::string Spelled(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += fmt::format(" {}'{}'", id, tokenizer.TokenBytes(id));
  return text;
}

// `expected`: the digests of one string and kind.
void ExpectGolden(const Tokenizer& tokenizer, const std::string& text,
                  const std::string& expected) {
  const std::vector<int32_t> ids = tokenizer.Encode(text);
  const std::vector<int32_t> plain = tokenizer.Encode(text, SpecialText::kPlain);
  EXPECT_EQ(Digest(ids), expected.substr(0, 6)) << Spelled(tokenizer, ids);
  EXPECT_EQ(Digest(tokenizer.Decode(ids), 4), expected.substr(6, 4)) << tokenizer.Decode(ids);
  EXPECT_EQ(Digest(plain), expected.size() > 10 ? expected.substr(10) : expected.substr(0, 6))
      << Spelled(tokenizer, plain);
}

TEST(Tokenizer, IsTheTokenizersLibraryOnEveryGolden) {
  const json golden = ReadGolden("tokenizers/strings.json");
  const std::vector<std::string> strings = GoldenStrings(golden);
  ASSERT_GE(strings.size(), 3000);
  const auto kinds = golden.at("kinds").get<std::vector<std::string>>();
  for (size_t kind = 0; kind < kinds.size(); ++kind) {
    const auto tokenizer = GoldenTokenizer(kinds[kind]);
    for (size_t i = 0; i < strings.size(); ++i) {
      SCOPED_TRACE(fmt::format("{}, string {}: {}", kinds[kind], i, json(strings[i]).dump()));
      const std::string row = golden[kRows][i].get<std::string>();
      std::istringstream words(row);
      std::string expected;
      for (size_t k = 0; k <= kind; ++k) words >> expected;
      ExpectGolden(*tokenizer, strings[i], expected);
    }
  }
}

constexpr const char* kKinds[] = {"gpt2",   "prefix",  "llama3", "qwen2",
                                  "llama2", "mistral", "unknown"};

TEST(Tokenizer, TakesBrokenUtf8AsPythonReplacesIt) {
  const json golden = ReadGolden("tokenizers/strings.json");
  const auto tokenizer = GoldenTokenizer("gpt2");
  ASSERT_FALSE(golden.at("broken UTF-8").empty());
  for (const json& row : golden.at("broken UTF-8")) {
    const std::string hex = row.at(0).get<std::string>(), text = row.at(1).get<std::string>();
    std::string bytes;
    for (size_t i = 0; i < hex.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
    const std::vector<int32_t> ids = tokenizer->Encode(bytes);
    EXPECT_EQ(ids, tokenizer->Encode(text)) << row;
    EXPECT_EQ(tokenizer->Decode(ids), text) << row;
    EXPECT_EQ(ToValidUtf8(bytes), text) << row;
    EXPECT_EQ(IsValidUtf8(bytes), bytes == text) << row;
  }
}

// Any ids, most of them no text that Encode gives: cut characters, special tokens, unused ids.
TEST(IncrementalDecoder, GivesWholeCharactersAndTogetherDecode) {
  RandomStream random(1);
  for (const char* kind : kKinds) {
    const auto tokenizer = GoldenTokenizer(kind);
    for (int round = 0; round < 500; ++round) {
      std::vector<int32_t> ids(random.Below(12));
      for (int32_t& id : ids) id = static_cast<int32_t>(random.Below(tokenizer->size() + 3)) - 1;
      const bool skip_special = random.Chance(0.5);
      IncrementalDecoder decoder(*tokenizer, skip_special);
      std::string text;
      for (const int32_t id : ids) {
        const std::string piece = decoder.Add(id);
        EXPECT_TRUE(IsValidUtf8(piece));
        text += piece;
      }
      text += decoder.Finish();
      EXPECT_EQ(text, tokenizer->Decode(ids, skip_special)) << kind << json(ids);
    }
  }
}

TEST(IncrementalDecoder, HoldsACharacterBackUntilItIsWhole) {
  const auto tokenizer = GoldenTokenizer("mistral");
  IncrementalDecoder decoder(*tokenizer);
  const auto byte = [&](const char* token) { return *tokenizer->Id(token); };
  EXPECT_EQ(decoder.Add(byte("<0xE2>")), "");
  EXPECT_EQ(decoder.Add(byte("<0x82>")), "");
  EXPECT_EQ(decoder.Add(byte("<0xAC>")), "€");
  EXPECT_EQ(decoder.Add(byte("<0xE2>")), "");
  EXPECT_EQ(decoder.Add(byte("a")), "\uFFFDa");
  EXPECT_EQ(decoder.Add(byte("<0xC3>")), "");
  EXPECT_EQ(decoder.Finish(), "\uFFFD");
}

TEST(Tokenizer, EncodesTheSameInManyThreads) {
  const std::vector<std::string> strings = GoldenStrings(ReadGolden("tokenizers/strings.json"));
  const auto encode_all = [&](const Tokenizer& tokenizer) {
    std::vector<std::vector<int32_t>> all;
    for (size_t i = 0; i < strings.size(); i += 5) all.push_back(tokenizer.Encode(strings[i]));
    return all;
  };
  const auto expected = encode_all(*GoldenTokenizer("llama3"));
  const auto shared = GoldenTokenizer("llama3");
  std::vector<std::vector<std::vector<int32_t>>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = encode_all(*shared); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST(Tokenizer, PlainTextNeverBecomesASpecialToken) {
  RandomStream random(2);
  for (const char* kind : kKinds) {
    if (std::string_view(kind) == "unknown") continue;  // <unk> stands for what it does not know
    const auto tokenizer = GoldenTokenizer(kind);
    std::vector<std::string> spellings = {" ", "<", "|>", "a"};
    for (int32_t id = 0; id < tokenizer->size(); ++id) {
      if (tokenizer->IsSpecial(id)) spellings.push_back(tokenizer->TokenBytes(id));
    }
    ASSERT_GT(spellings.size(), 4u);
    for (int round = 0; round < 200; ++round) {
      std::string text;
      for (uint64_t n = random.Below(6); n-- > 0;) text += random.Pick(spellings);
      for (const int32_t id : tokenizer->Encode(text, SpecialText::kPlain)) {
        EXPECT_FALSE(tokenizer->IsSpecial(id)) << kind << ": " << text;
      }
    }
  }
}

// A vocabulary that spells a special token, and merges that lead to it, do not help either.
TEST(Tokenizer, PlainTextNeverMergesIntoASpecialToken) {
  json files;
  files["tokenizer"] = {
      {"added_tokens", {{{"id", 4}, {"content", "<s>"}, {"special", true}}}},
      {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
      {"decoder", {{"type", "ByteLevel"}}},
      {"model",
       {{"type", "BPE"},
        {"ignore_merges", true},
        {"vocab", {{"<", 0}, {"s", 1}, {">", 2}, {"<s", 3}, {"<s>", 4}}},
        {"merges", {"< s", "<s >"}}}}};
  const auto tokenizer = LoadTokenizer(files);
  EXPECT_THAT(tokenizer->Encode("<s>"), ElementsAre(4));
  EXPECT_THAT(tokenizer->Encode("<s>", SpecialText::kPlain), ElementsAre(3, 2));
}

// However a text is cut into parts, its ids are the same, and a part's tokens are those that hold
// any of its text: bytes of a byte-level vocabulary can be counted.
TEST(Tokenizer, PartsAreOneText) {
  const std::vector<std::string> strings = GoldenStrings(ReadGolden("tokenizers/strings.json"));
  RandomStream random(3);
  for (const char* kind : {"gpt2", "llama3", "mistral"}) {
    const auto tokenizer = GoldenTokenizer(kind);
    for (size_t i = 0; i < strings.size(); i += 7) {
      const std::string& text = strings[i];
      std::vector<size_t> cuts = {0, text.size()};
      for (size_t at = 0; at < text.size();) {
        if (random.Chance(0.2)) cuts.push_back(at);
        NextCodePoint(text, at);
      }
      std::sort(cuts.begin(), cuts.end());
      std::vector<TextPart> parts;
      for (size_t k = 1; k < cuts.size(); ++k) {
        parts.push_back({std::string_view(text).substr(cuts[k - 1], cuts[k] - cuts[k - 1])});
      }
      const EncodedParts encoded = tokenizer->EncodeParts(parts);
      EXPECT_EQ(encoded.ids, tokenizer->Encode(text)) << kind << json(text);
      if (tokenizer->Decode(encoded.ids) != text || *kind == 'm') continue;  // counts bytes
      std::vector<size_t> ends;
      for (const int32_t id : encoded.ids) {
        ends.push_back(tokenizer->TokenBytes(id).size() + (ends.empty() ? 0 : ends.back()));
      }
      for (size_t k = 0; k < parts.size(); ++k) {
        if (parts[k].text.empty()) continue;
        const auto first = std::ranges::upper_bound(ends, cuts[k]) - ends.begin();
        const auto last = std::ranges::lower_bound(ends, cuts[k + 1]) - ends.begin();
        EXPECT_EQ(encoded.parts[k].begin, static_cast<size_t>(first))
            << json(text) << " part " << k;
        EXPECT_EQ(encoded.parts[k].end, static_cast<size_t>(last) + 1)
            << json(text) << " part " << k;
      }
    }
  }
}

TEST(Tokenizer, ASpecialTokenIsOnlyWhereAllOfItIsTheTemplates) {
  const auto tokenizer = GoldenTokenizer("qwen2");
  const int32_t end = *tokenizer->Id("<|im_end|>");
  const auto count = [&](std::vector<TextPart> parts) {
    const std::vector<int32_t> ids = tokenizer->EncodeParts(parts).ids;
    return std::ranges::count(ids, end);
  };
  EXPECT_EQ(count({{"a<|im_end|>"}, {"<|im_end|>", SpecialText::kPlain}}), 1);
  EXPECT_EQ(count({{"a<|im_"}, {"end|>", SpecialText::kPlain}}), 0);
  EXPECT_EQ(count({{"<|im_end|", SpecialText::kPlain}, {"<|im_end|>"}}), 1);
  EXPECT_EQ(count({{"<|im_end", SpecialText::kPlain}, {"|><|im_end|>"}}), 1);
}

// What begins in a message and ends in the template is no token, and hides none of the template's.
TEST(Tokenizer, AMessageCannotTakeTheFirstLetterOfASpecialToken) {
  json files = GoldenTokenizerFiles("gpt2");
  files["tokenizer"]["added_tokens"] = {{{"id", 800}, {"content", "ab"}, {"special", true}},
                                        {{"id", 801}, {"content", "bc"}, {"special", true}}};
  const auto tokenizer = LoadTokenizer(files);
  EXPECT_THAT(tokenizer->Encode("abc"), ElementsAre(800, *tokenizer->Id("c")));
  const TextPart parts[] = {{"a", SpecialText::kPlain}, {"bc"}};
  EXPECT_THAT(tokenizer->EncodeParts(parts).ids, ElementsAre(*tokenizer->Id("a"), 801));
}

TEST(Tokenizer, TellsWhatTheFilesDeclare) {
  const auto tokenizer = GoldenTokenizer("llama2");
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_EQ(tokenizer->Id("▁the"), tokenizer->Encode("the").at(0));
  EXPECT_EQ(tokenizer->Id("no such token"), std::nullopt);
  EXPECT_EQ(tokenizer->TokenBytes(*tokenizer->Id("▁the")), " the");
  EXPECT_EQ(tokenizer->FirstTokenBytes(*tokenizer->Id("▁the")), "the");
  EXPECT_EQ(tokenizer->TokenBytes(*tokenizer->Id("<0x0A>")), "\n");
  EXPECT_EQ(tokenizer->chat_template(), "");
  const std::vector<int32_t> unused = {-1, tokenizer->size(), 1 << 30};
  EXPECT_EQ(tokenizer->Decode(unused), "");
  json files = GoldenTokenizerFiles("llama2");
  files["tokenizer_config"]["eos_token"] = nullptr;
  EXPECT_EQ(LoadTokenizer(files)->eos(), std::nullopt);
}

// As transformers does: add_bos_token counts, else what the post-processor puts before a text.
TEST(Tokenizer, TellsWhetherATextBeginsWithBos) {
  json files = GoldenTokenizerFiles("llama2");
  const auto adds = [&](const json& post_processor, const json& add_bos_token) {
    files["tokenizer"]["post_processor"] = post_processor;
    files["tokenizer_config"]["add_bos_token"] = add_bos_token;
    return LoadTokenizer(files)->adds_bos();
  };
  const json text = {{"Sequence", {{"id", "A"}}}}, token = {{"SpecialToken", {{"id", "<s>"}}}};
  const json before = {{"type", "TemplateProcessing"}, {"single", {token, text}}};
  const json behind = {{"type", "TemplateProcessing"}, {"single", {text, token}}};
  const json bytes = {{"type", "ByteLevel"}};
  EXPECT_FALSE(adds(nullptr, nullptr));
  EXPECT_FALSE(adds(bytes, nullptr));
  EXPECT_FALSE(adds(behind, nullptr));
  EXPECT_TRUE(adds(before, nullptr));
  EXPECT_TRUE(adds({{"type", "Sequence"}, {"processors", {bytes, before}}}, nullptr));
  EXPECT_FALSE(adds(before, false));
  EXPECT_TRUE(adds(nullptr, true));
  files["tokenizer_config"].erase("bos_token");
  EXPECT_FALSE(adds(before, nullptr)) << "there is no BOS";
}

// The message of the error that loading `files` ends in.
std::string LoadError(const json& files) {
  return FatalErrorOf(ExitCode::kFile, [&] { LoadTokenizer(files); });
}

TEST(Tokenizer, RefusesByNameWhatItDoesNotSupport) {
  const json good = GoldenTokenizerFiles("llama2");
  const auto error_with = [&](const std::string& pointer, const json& value) {
    json files = good;
    files["tokenizer"][json::json_pointer(pointer)] = value;
    return LoadError(files);
  };
  EXPECT_THAT(error_with("/model/type", "Unigram"), HasSubstr("model 'Unigram'"));
  EXPECT_THAT(error_with("/model/dropout", 0.1), HasSubstr("model.dropout"));
  EXPECT_THAT(error_with("/model/end_of_word_suffix", "</w>"), HasSubstr("end_of_word_suffix"));
  EXPECT_THAT(error_with("/model/merges/0", "abc"), HasSubstr("model.merges[0] is no merge"));
  EXPECT_THAT(error_with("/model/merges/0", {"▁", "ξξ"}), HasSubstr("needs '▁ξξ'"));
  EXPECT_THAT(error_with("/model/vocab/x", -1), HasSubstr("model.vocab['x']"));
  EXPECT_THAT(error_with("/model/unk_token", "none"), HasSubstr("model.unk_token"));
  EXPECT_THAT(error_with("/model/vocab", nullptr), HasSubstr("model.vocab"));
  EXPECT_THAT(error_with("/added_tokens/0/id", 1 << 24), HasSubstr("added_tokens[0].id"));
  EXPECT_THAT(error_with("/added_tokens/0/content", 5), HasSubstr("content is no string"));
  EXPECT_THAT(error_with("/normalizer", {{"type", "BertNormalizer"}}),
              HasSubstr("normalizer 'BertNormalizer'"));
  EXPECT_THAT(error_with("/pre_tokenizer", {{"type", "BertPreTokenizer"}}),
              HasSubstr("pre-tokenizer 'BertPreTokenizer'"));
  EXPECT_THAT(
      error_with("/pre_tokenizer",
                 {{"type", "Split"}, {"pattern", {{"Regex", "("}}}, {"behavior", "Isolated"}}),
      HasSubstr("pattern.Regex: the pattern '(' cannot be compiled"));
  EXPECT_THAT(error_with("/decoder", {{"type", "WordPiece"}}), HasSubstr("decoder 'WordPiece'"));
  EXPECT_THAT(error_with("/decoder", nullptr), HasSubstr("decoder"));
  EXPECT_EQ(LoadError(good), "");
}

TEST(Tokenizer, NamesTheFileThatIsNoJson) {
  const ScratchFolder folder;
  const auto load = [&] { Tokenizer::Load(folder.path()); };
  EXPECT_THROW(load(), FatalError);
  folder.Write("tokenizer.json", R"({"model": )");
  EXPECT_THAT(FatalErrorOf(ExitCode::kFile, load), HasSubstr("tokenizer.json is no JSON"));
}

}  // namespace
}  // namespace agentr
