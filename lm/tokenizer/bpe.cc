#include "lm/tokenizer/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <tuple>

#include "common/utf8.h"
#include "lm/tokenizer/byte_level.h"

namespace agentr {
namespace {

uint64_t PairKey(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

// Two symbols that may be joined. It is outdated if one of them has been joined since.
struct Candidate {
  int32_t rank;
  int32_t left;  // indices of the symbols
  int32_t right;
  int32_t id;  // of the joined token

  bool operator>(const Candidate& other) const {
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

}  // namespace

std::pair<std::string, std::string> MergeParts(const TokenizerJson& merge) {
  const nlohmann::json& value = merge.value();
  if (value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_string()) {
    return {value[0].get<std::string>(), value[1].get<std::string>()};
  }
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  const size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
    merge.Refuse("is no merge: neither \"a b\" nor [\"a\", \"b\"]");
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

Bpe::Bpe(const TokenizerJson& model, bool byte_level, const std::unordered_set<int32_t>& special)
    : byte_level_(byte_level),
      byte_fallback_(model["byte_fallback"].Bool(false)),
      fuse_unk_(model["fuse_unk"].Bool(false)),
      ignore_merges_(model["ignore_merges"].Bool(false)) {
  if (const std::string type = model["type"].Text("BPE"); type != "BPE") {
    model.RefuseKind("model", type);
  }
  if (const TokenizerJson dropout = model["dropout"];
      !dropout.value().is_null() && dropout.value() != 0) {
    dropout.Refuse("is not zero, which is not supported");
  }
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model[name].Text("").empty()) model[name].Refuse("is set, which is not supported");
  }
  ReadVocabulary(model);
  ReadMerges(model["merges"], special);
  ReadFallbackBytes();
  std::erase_if(vocabulary_, [&](const auto& token) { return special.contains(token.second); });
  ReadSymbols();
}

void Bpe::ReadVocabulary(const TokenizerJson& model) {
  const TokenizerJson field = model["vocab"];
  if (!field.value().is_object()) field.Refuse("is missing, or no JSON object");
  for (const auto& [token, id] : field.value().items()) {
    vocabulary_[token] = TokenizerJson(id, field.place() + "['" + token + "']").TokenId();
  }
  if (const std::string unk = model["unk_token"].Text(""); !unk.empty()) {
    unk_ = Find(unk);
    if (*unk_ < 0) model["unk_token"].Refuse("is not in the vocabulary");
  }
}

void Bpe::ReadMerges(const TokenizerJson& merges, const std::unordered_set<int32_t>& special) {
  if (!merges.value().is_array()) merges.Refuse("is missing, or no array");
  int32_t rank = 0;
  for (const TokenizerJson& merge : merges.Items()) {
    const auto [left, right] = MergeParts(merge);
    const auto id = [&](const std::string& token) {
      const int32_t found = Find(token);
      if (found < 0) merge.Refuse("needs '" + token + "', which is not in the vocabulary");
      return found;
    };
    const int32_t joined = id(left + right);
    if (!special.contains(joined)) merges_[PairKey(id(left), id(right))] = {rank, joined};
    ++rank;
  }
}

void Bpe::ReadFallbackBytes() {
  for (int byte = 0; byte < 256; ++byte) {
    fallback_bytes_[byte] = Find(fmt::format("<0x{:02X}>", byte));
  }
}

// With a byte-level vocabulary, a token that does not spell bytes cannot occur in pieces and is
// dropped.
void Bpe::ReadSymbols() {
  if (byte_level_) {
    TextMap<int32_t> by_bytes;
    for (const auto& [token, id] : vocabulary_) {
      if (const auto bytes = ByteLevelBytes(token)) by_bytes.emplace(*bytes, id);
    }
    vocabulary_ = std::move(by_bytes);
  }
  for (int byte = 0; byte < 256; ++byte) {
    byte_symbols_[byte] = Find(std::string(1, static_cast<char>(byte)));
  }
}

int32_t Bpe::Find(std::string_view token) const {
  const auto found = vocabulary_.find(token);
  return found == vocabulary_.end() ? -1 : found->second;
}

int32_t Bpe::SymbolId(std::string_view symbol) const {
  return symbol.size() == 1 ? byte_symbols_[static_cast<uint8_t>(symbol[0])] : Find(symbol);
}

// The ids of the piece's characters, before any merge.
std::vector<int32_t> Bpe::Split(std::string_view piece) const {
  std::vector<int32_t> ids;
  ids.reserve(piece.size());
  bool unknown = false;  // an unknown token waits to be added
  const auto add_unknown = [&] {
    if (unknown) ids.push_back(*unk_);
    unknown = false;
  };
  for (size_t at = 0; at < piece.size();) {
    const size_t begin = at;
    if (byte_level_) {
      ++at;
    } else {
      NextCodePoint(piece, at);
    }
    const std::string_view symbol = piece.substr(begin, at - begin);
    const auto fallback = [&](char byte) { return fallback_bytes_[static_cast<uint8_t>(byte)]; };
    if (const int32_t id = SymbolId(symbol); id >= 0) {
      add_unknown();
      ids.push_back(id);
    } else if (byte_fallback_ &&
               std::ranges::none_of(symbol, [&](char byte) { return fallback(byte) < 0; })) {
      std::ranges::transform(symbol, std::back_inserter(ids), fallback);
    } else if (unk_) {
      if (!fuse_unk_) add_unknown();
      unknown = true;
    }
  }
  add_unknown();
  return ids;
}

const Bpe::Merge* Bpe::FindMerge(int32_t left, int32_t right) const {
  const auto found = merges_.find(PairKey(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

// A list of symbols linked by index; a symbol that was joined to the one before it has id -1.
struct Bpe::Symbols {
  std::vector<int32_t>& ids;
  std::vector<int32_t> previous;
  std::vector<int32_t> next;  // index of the next symbol; the number of symbols means none

  explicit Symbols(std::vector<int32_t>& all) : ids(all), previous(all.size()), next(all.size()) {
    for (size_t i = 0; i < ids.size(); ++i) {
      previous[i] = static_cast<int32_t>(i) - 1;
      next[i] = static_cast<int32_t>(i) + 1;
    }
  }

  void Join(const Candidate& candidate) {
    ids[candidate.left] = candidate.id;
    ids[candidate.right] = -1;
    next[candidate.left] = next[candidate.right];
    if (HasNext(candidate.left)) previous[next[candidate.left]] = candidate.left;
  }

  bool HasNext(int32_t place) const { return next[place] < static_cast<int32_t>(ids.size()); }
};

size_t Bpe::MergeAll(std::vector<int32_t>& ids) const {
  Symbols symbols(ids);
  std::vector<Candidate> storage;
  storage.reserve(ids.size());
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> heap({},
                                                                              std::move(storage));
  const auto consider = [&](int32_t left) {
    if (left < 0 || !symbols.HasNext(left)) return;
    const int32_t right = symbols.next[left];
    if (const Merge* merge = FindMerge(ids[left], ids[right])) {
      heap.push({merge->rank, left, right, merge->id});
    }
  };
  for (size_t i = 0; i < ids.size(); ++i) consider(static_cast<int32_t>(i));
  size_t looked_at = 0;
  for (; !heap.empty(); ++looked_at) {
    const Candidate best = heap.top();
    heap.pop();
    if (ids[best.left] < 0 || ids[best.right] < 0 || symbols.next[best.left] != best.right)
      continue;
    // The neighbours may have been joined with others since: check that the merge still applies.
    const Merge* merge = FindMerge(ids[best.left], ids[best.right]);
    if (merge == nullptr || merge->rank != best.rank) continue;
    symbols.Join(best);
    consider(symbols.previous[best.left]);
    consider(best.left);
  }
  std::erase(ids, -1);
  return looked_at;
}

size_t Bpe::Encode(std::string_view piece, std::vector<int32_t>& ids) const {
  if (cache_.Find(piece, ids)) return 0;
  size_t looked_at = 0;
  std::vector<int32_t> merged;
  if (const int32_t whole = ignore_merges_ ? Find(piece) : -1; whole >= 0) {
    merged = {whole};
  } else {
    merged = Split(piece);
    looked_at = MergeAll(merged);
  }
  cache_.Insert(piece, merged.data(), merged.size());
  ids.insert(ids.end(), merged.begin(), merged.end());
  return looked_at;
}

}  // namespace agentr
