#include "lm/tokenizer/added_tokens.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "common/utf8.h"

namespace agentr {
namespace {

AddedToken ReadToken(const TokenizerJson& field) {
  AddedToken token;
  token.id = field["id"].TokenId();
  token.content = field["content"].Text();
  token.special = field["special"].Bool(false);
  token.normalized = field["normalized"].Bool(!token.special);
  token.lstrip = field["lstrip"].Bool(false);
  token.rstrip = field["rstrip"].Bool(false);
  token.single_word = field["single_word"].Bool(false);
  return token;
}

// True for the characters of \w: letters, marks, digits, connectors, joiners.
bool IsWordCharacter(int32_t c) {
  return u_isUAlphabetic(c) || (U_GET_GC_MASK(c) & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) ||
         c == 0x200C || c == 0x200D;
}

int32_t LastCodePoint(std::string_view text) {
  size_t at = text.size();
  while (at > 0 && (text[--at] & 0xC0) == 0x80) {
  }
  return NextCodePoint(text, at);
}

int32_t FirstCodePoint(std::string_view text) {
  size_t at = 0;
  return NextCodePoint(text, at);
}

bool IsSpace(int32_t c) { return u_isUWhiteSpace(c); }

// The beginning of the white space before `end`, but not before `begin`.
size_t SpaceBefore(std::string_view text, size_t begin, size_t end) {
  while (end > begin && IsSpace(LastCodePoint(text.substr(begin, end - begin)))) {
    do --end;
    while ((text[end] & 0xC0) == 0x80);
  }
  return end;
}

size_t SpaceAfter(std::string_view text, size_t at) {
  for (size_t next = at; next < text.size(); at = next) {
    if (!IsSpace(NextCodePoint(text, next))) break;
  }
  return at;
}

bool StandsAlone(std::string_view text, ByteRange range) {
  if (range.begin > 0 && IsWordCharacter(LastCodePoint(text.substr(0, range.begin)))) return false;
  return range.end == text.size() || !IsWordCharacter(FirstCodePoint(text.substr(range.end)));
}

enum class Cover { kNone, kPart, kWhole };

// How much of `range` lies in the `plain` ranges.
Cover PlainCover(ByteRange range, std::span<const ByteRange> plain) {
  const auto touched = std::ranges::partition_point(
      plain, [&](const ByteRange& other) { return other.end <= range.begin; });
  if (touched == plain.end() || touched->begin >= range.end) return Cover::kNone;
  return touched->begin <= range.begin && range.end <= touched->end ? Cover::kWhole : Cover::kPart;
}

}  // namespace

AddedTokens::AddedTokens(const TokenizerJson& field, const Normalizer& normalizer) {
  for (const TokenizerJson& item : field.Items()) tokens_.push_back(ReadToken(item));
  for (AddedToken& token : tokens_) {
    token.spelling = token.normalized ? normalizer.Apply(token.content) : token.content;
    (token.normalized ? normalized_ : raw_).Insert(token);
  }
}

std::unordered_set<int32_t> AddedTokens::special_ids() const {
  std::unordered_set<int32_t> ids;
  for (const AddedToken& token : tokens_) {
    if (token.special) ids.insert(token.id);
  }
  return ids;
}

void AddedTokens::Trie::Insert(const AddedToken& token) {
  if (token.spelling.empty()) return;
  size_t node = 0;
  for (const char byte : token.spelling) {
    const auto [child, is_new] = nodes[node].children.try_emplace(byte, nodes.size());
    node = child->second;
    if (is_new) nodes.emplace_back();
  }
  nodes[node].token = &token;
  has_special |= token.special;
}

std::pair<const AddedToken*, size_t> AddedTokens::Trie::Longest(std::string_view text,
                                                                size_t at) const {
  std::pair<const AddedToken*, size_t> longest{nullptr, at};
  for (size_t node = 0; at < text.size();) {
    const auto child = nodes[node].children.find(text[at]);
    if (child == nodes[node].children.end()) break;
    node = child->second;
    ++at;
    if (nodes[node].token != nullptr) longest = {nodes[node].token, at};
  }
  return longest;
}

std::vector<AddedTokens::Match> AddedTokens::Find(std::string_view text, Pass pass,
                                                  std::span<const ByteRange> plain) const {
  const Trie& trie = TrieOf(pass);
  std::vector<Match> matches;
  if (trie.nodes.size() == 1) return matches;
  size_t taken = 0;  // end of the last match
  for (size_t at = 0; at < text.size();) {
    const auto [token, end] = trie.Longest(text, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    const ByteRange own{at, end};
    const Cover cover = token->special ? PlainCover(own, plain) : Cover::kNone;
    at = cover == Cover::kPart ? at + 1 : end;  // a match that begins in a template may follow
    if (cover != Cover::kNone || own.begin < taken) continue;
    if (token->single_word && !StandsAlone(text, own)) continue;
    const ByteRange all{token->lstrip ? SpaceBefore(text, taken, own.begin) : own.begin,
                        token->rstrip ? SpaceAfter(text, own.end) : own.end};
    matches.push_back({token->id, own, all});
    taken = all.end;
  }
  return matches;
}

}  // namespace agentr
