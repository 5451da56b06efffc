#include "lm/tokenizer/bpe.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "common/random.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"

namespace agentr {
namespace {

using nlohmann::json;

// The definition: again and again the pair of lowest rank, the leftmost of them.
std::vector<int32_t> BruteForce(std::vector<std::string> symbols, const json& model) {
  std::map<std::pair<std::string, std::string>, size_t> ranks;
  for (const json& merge : model["merges"]) {
    const std::string text = merge.get<std::string>();
    const size_t space = text.find(' ');
    ranks.emplace(std::pair(text.substr(0, space), text.substr(space + 1)), ranks.size());
  }
  while (true) {
    size_t best = symbols.size(), best_rank = SIZE_MAX;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = ranks.find({symbols[i], symbols[i + 1]});
      if (found == ranks.end() || found->second >= best_rank) continue;
      best = i;
      best_rank = found->second;
    }
    if (best == symbols.size()) break;
    symbols[best] += symbols[best + 1];
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
  std::vector<int32_t> ids;
  for (const std::string& symbol : symbols) ids.push_back(model["vocab"][symbol].get<int32_t>());
  return ids;
}

// A model over the letters a to d with random merges.
json RandomModel(RandomStream random) {
  std::vector<std::string> tokens = {"a", "b", "c", "d"};
  json model = {{"vocab", json::object()}, {"merges", json::array()}};
  for (int i = 0; i < 60; ++i) {
    const std::string left = random.Pick(tokens);
    const std::string right = random.Pick(tokens);
    if (std::ranges::find(tokens, left + right) != tokens.end()) continue;
    tokens.push_back(left + right);
    model["merges"].push_back(left + " " + right);
  }
  random.Shuffle(model["merges"].get_ref<json::array_t&>());
  for (size_t i = 0; i < tokens.size(); ++i) model["vocab"][tokens[i]] = i;
  return model;
}

TEST(Bpe, IsTheDefinitionOnRandomModels) {
  RandomStream random(1);
  for (int round = 0; round < 100; ++round) {
    const json model = RandomModel(random.Split(round));
    const Bpe bpe(TokenizerJson(model, "model"), false, {});
    for (int i = 0; i < 30; ++i) {
      std::vector<std::string> letters(random.Below(30));
      std::string piece;
      for (std::string& letter : letters) {
        letter = std::string(1, static_cast<char>('a' + random.Below(4)));
        piece += letter;
      }
      std::vector<int32_t> ids;
      bpe.Encode(piece, ids);
      EXPECT_EQ(ids, BruteForce(letters, model)) << piece << model;
      std::vector<int32_t> again;
      EXPECT_EQ(bpe.Encode(piece, again), 0u);  // from the cache
      EXPECT_EQ(again, ids);
    }
  }
}

// Each merge adds at most two candidates to those of the n - 1 neighbours.
TEST(Bpe, LooksAtFewCandidatesInALongPiece) {
  const json model = {
      {"vocab", {{"a", 0}, {"aa", 1}, {"aaaa", 2}, {"aaaaaaaa", 3}}},
      {"merges", {"a a", "aa aa", "aaaa aaaa"}},
  };
  const Bpe bpe(TokenizerJson(model, "model"), false, {});
  const size_t length = 1 << 20;
  std::vector<int32_t> ids;
  EXPECT_LE(bpe.Encode(std::string(length, 'a'), ids), 3 * length);
  EXPECT_EQ(ids, std::vector<int32_t>(length / 8, 3));
}

TEST(Bpe, UnknownCharactersAreFallenBackOnOrFusedOrLeftOut) {
  json model = {{"vocab", {{"a", 0}, {"?", 1}, {"<0xC3>", 2}, {"<0xA9>", 3}}},
                {"merges", json::array()}};
  const auto encode = [&](const std::string& text) {
    std::vector<int32_t> ids;
    Bpe(TokenizerJson(model, "model"), false, {}).Encode(text, ids);
    return ids;
  };
  EXPECT_EQ(encode("aéüa"), (std::vector<int32_t>{0, 0}));
  model["unk_token"] = "?";
  EXPECT_EQ(encode("aéüa"), (std::vector<int32_t>{0, 1, 1, 0}));
  model["fuse_unk"] = true;
  EXPECT_EQ(encode("aéüa"), (std::vector<int32_t>{0, 1, 0}));
  model["byte_fallback"] = true;
  EXPECT_EQ(encode("aéüa"), (std::vector<int32_t>{0, 2, 3, 1, 0}));
}

TEST(PieceCache, IsBounded) {
  PieceCache cache;
  const int32_t id = 7;
  for (size_t i = 0; i < 3 * PieceCache::capacity(); ++i) cache.Insert(std::to_string(i), &id, 1);
  EXPECT_LE(cache.size(), PieceCache::capacity());
  EXPECT_GT(cache.size(), 0u);
  cache.Insert(std::string(PieceCache::kMaxPiece + 1, 'a'), &id, 1);
  std::vector<int32_t> ids;
  EXPECT_FALSE(cache.Find(std::string(PieceCache::kMaxPiece + 1, 'a'), ids));
}

}  // namespace
}  // namespace agentr
