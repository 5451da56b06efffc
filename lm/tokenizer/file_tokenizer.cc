#include "lm/tokenizer/file_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/utf8.h"
#include "lm/tokenizer/gguf_tokenizer.h"

namespace agentr {
namespace {

// The parts of `ranges` within [begin, end), relative to `begin`.
std::vector<ByteRange> Clip(std::span<const ByteRange> ranges, size_t begin, size_t end) {
  std::vector<ByteRange> clipped;
  for (const ByteRange& range : ranges) {
    const ByteRange part{std::max(range.begin, begin), std::min(range.end, end)};
    if (part.begin < part.end) clipped.push_back({part.begin - begin, part.end - begin});
  }
  return clipped;
}

}  // namespace

std::unique_ptr<Tokenizer> Tokenizer::Load(const std::filesystem::path& folder) {
  if (IsGguf(folder)) {
    const GgufFile file(folder);
    const nlohmann::json json = GgufTokenizerJson(file);
    return std::make_unique<FileTokenizer>(TokenizerJson(json, folder.string()),
                                           GgufTokenizerConfig(file));
  }
  const std::filesystem::path path = folder / "tokenizer.json";
  const nlohmann::json json = ParseTokenizerFile(path);
  return std::make_unique<FileTokenizer>(TokenizerJson(json, path.string()),
                                         ReadTokenizerConfig(folder));
}

void RequireRows(const Tokenizer& tokenizer, int64_t rows, const std::filesystem::path& model) {
  int32_t size = tokenizer.size();
  while (size > rows && tokenizer.IsSpecial(size - 1)) --size;
  if (size <= rows) return;
  throw FatalError(ExitCode::kFile,
                   fmt::format("{}: the tokenizer has {} tokens, but the model rows for {} only "
                               "(vocab_size): it belongs to another model; download both again",
                               model.string(), size, rows));
}

std::string TokenizerHash(const std::filesystem::path& folder) {
  return Sha256(IsGguf(folder) ? GgufTokenizerJson(GgufFile(folder)).dump()
                               : ReadFile(folder / "tokenizer.json"));
}

FileTokenizer::FileTokenizer(const TokenizerJson& json, const TokenizerConfig& config)
    : normalizer_(json["normalizer"]),
      pre_tokenizer_(json["pre_tokenizer"]),
      added_(json["added_tokens"], normalizer_),
      special_(added_.special_ids()),
      bpe_(json["model"], pre_tokenizer_.byte_level(), special_),
      decoder_(json["decoder"]),
      config_(config) {
  ReadTokens(json["model"]["vocab"]);
  const auto id_of = [&](const char* name) {
    const auto token = config.special_tokens.find(name);
    return token == config.special_tokens.end() ? std::nullopt : Id(token->second);
  };
  bos_ = id_of("bos_token");
  eos_ = id_of("eos_token");
  adds_bos_ = bos_ && config.adds_bos.value_or(PutsTokenBefore(json["post_processor"]));
}

void FileTokenizer::ReadTokens(const TokenizerJson& vocabulary) {
  for (const auto& [token, id] : vocabulary.value().items())
    SetToken(id.get<int32_t>(), token, token);
  for (const AddedToken& token : added_.tokens()) {
    SetToken(token.id, token.content, token.spelling);
  }
}

void FileTokenizer::SetToken(int32_t id, const std::string& token, std::string_view spelling) {
  if (static_cast<size_t>(id) >= tokens_.size()) tokens_.resize(id + 1);
  tokens_[id] = decoder_.Decode(spelling);
  ids_[token] = id;
}

std::vector<int32_t> FileTokenizer::Encode(std::string_view text, SpecialText special) const {
  std::string repaired;
  if (!IsValidUtf8(text)) text = repaired = ToValidUtf8(text);
  const ByteRange all{0, text.size()};
  std::vector<int32_t> ids;
  Encode(text, Plain(&all, special == SpecialText::kPlain ? 1 : 0), ids);
  return ids;
}

EncodedParts FileTokenizer::EncodeParts(std::span<const TextPart> parts) const {
  std::string text;
  std::vector<ByteRange> bytes, plain;  // of all parts, and of the plain ones
  for (const TextPart& part : parts) {
    bytes.push_back({text.size(), text.size()});
    text += ToValidUtf8(part.text);
    bytes.back().end = text.size();
    if (part.special == SpecialText::kPlain) plain.push_back(bytes.back());
  }
  EncodedParts encoded;
  const std::vector<Run> runs = Encode(text, plain, encoded.ids);
  for (const ByteRange& part : bytes) {
    const size_t begin = TokensAround(part.begin, text, runs, plain, encoded.ids).begin;
    const size_t end = TokensAround(part.end, text, runs, plain, encoded.ids).end;
    encoded.parts.push_back({begin, part.begin == part.end ? begin : std::max(begin, end)});
  }
  return encoded;
}

// Appends the ids of `text`; returns its runs.
std::vector<FileTokenizer::Run> FileTokenizer::Encode(std::string_view text, Plain plain,
                                                      std::vector<int32_t>& ids) const {
  std::vector<Run> runs;
  size_t done = 0;
  const auto stretch_to = [&](size_t end) {
    if (done >= end) return;
    const size_t first = ids.size();
    EncodeStretch(text.substr(done, end - done), done == 0, Clip(plain, done, end), ids);
    runs.push_back({{done, end}, {first, ids.size()}, false});
  };
  for (const AddedTokens::Match& match : added_.Find(text, AddedTokens::Pass::kRaw, plain)) {
    stretch_to(match.taken.begin);
    runs.push_back({match.own, {ids.size(), ids.size() + 1}, true});
    ids.push_back(match.id);
    done = match.taken.end;
  }
  stretch_to(text.size());
  return runs;
}

void FileTokenizer::EncodeStretch(std::string_view text, bool begins_text, Plain plain,
                                  std::vector<int32_t>& ids) const {
  if (normalizer_.empty()) return EncodeNormalized(text, begins_text, plain, ids);
  const std::string normalized = normalizer_.Apply(std::string(text));
  if (!added_.HasSpecial(AddedTokens::Pass::kNormalized)) {
    return EncodeNormalized(normalized, begins_text, {}, ids);
  }
  EncodeNormalized(normalized, begins_text, NormalizedRanges(text, plain), ids);
}

// The positions of the `plain` ranges of `text` after normalization.
std::vector<ByteRange> FileTokenizer::NormalizedRanges(std::string_view text, Plain plain) const {
  const auto moved = [&](size_t place) {
    return place == 0 ? 0 : normalizer_.Apply(std::string(text.substr(0, place))).size();
  };
  std::vector<ByteRange> ranges;
  for (const ByteRange& range : plain) ranges.push_back({moved(range.begin), moved(range.end)});
  return ranges;
}

void FileTokenizer::EncodeNormalized(std::string_view text, bool begins_text, Plain plain,
                                     std::vector<int32_t>& ids) const {
  const auto add_pieces = [&](size_t begin, size_t end) {
    if (begin >= end) return;
    pre_tokenizer_.Split({text.substr(begin, end - begin), begins_text && begin == 0},
                         [&](const Piece& piece) { bpe_.Encode(piece.text, ids); });
  };
  size_t done = 0;
  for (const AddedTokens::Match& match : added_.Find(text, AddedTokens::Pass::kNormalized, plain)) {
    add_pieces(done, match.taken.begin);
    ids.push_back(match.id);
    done = match.taken.end;
  }
  add_pieces(done, text.size());
}

// `begin`: the number of tokens that end at `place` or before it; `end`: the number that begin
// before it. They differ if a token crosses `place`.
EncodedParts::Range FileTokenizer::TokensAround(size_t place, std::string_view text,
                                                const std::vector<Run>& runs, Plain plain,
                                                const std::vector<int32_t>& ids) const {
  const auto run = std::ranges::partition_point(
      runs, [&](const Run& other) { return other.bytes.end <= place; });
  if (run == runs.end()) return {ids.size(), ids.size()};
  if (place <= run->bytes.begin) return {run->tokens.begin, run->tokens.begin};
  if (run->added) return run->tokens;
  // The text before the place, encoded separately, gives the number of bytes that belong to it in
  // the run.
  std::vector<int32_t> before;
  const size_t begin = run->bytes.begin;
  EncodeStretch(text.substr(begin, place - begin), begin == 0, Clip(plain, begin, place), before);
  size_t left = 0;
  for (const int32_t id : before) left += tokens_[id].bytes.size();
  EncodedParts::Range around{run->tokens.begin, run->tokens.begin};
  for (size_t i = run->tokens.begin; i < run->tokens.end && left > 0; ++i) {
    const size_t size = tokens_[ids[i]].bytes.size();
    around.end = i + 1;
    if (size > left) break;
    around.begin = i + 1;
    left -= size;
  }
  return around;
}

std::string FileTokenizer::Decode(std::span<const int32_t> ids, bool skip_special) const {
  std::string bytes;
  bool begun = false;
  for (const int32_t id : ids) {
    if (skip_special && IsSpecial(id)) continue;
    bytes += begun ? TokenBytes(id) : FirstTokenBytes(id);
    begun = begun || !TokenBytes(id).empty();
  }
  return ToValidUtf8(bytes);
}

std::string FileTokenizer::TokenBytes(int32_t id) const {
  return id >= 0 && id < size() ? tokens_[id].bytes : "";
}

std::string FileTokenizer::FirstTokenBytes(int32_t id) const {
  return id >= 0 && id < size() ? tokens_[id].first_bytes : "";
}

std::optional<int32_t> FileTokenizer::Id(std::string_view token) const {
  const auto found = ids_.find(token);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace agentr
