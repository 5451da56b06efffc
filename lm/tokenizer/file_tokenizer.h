// The tokenizer of a Hugging Face folder.
//
// The steps of encoding: added tokens are found in the text; the text between them is normalized,
// searched for normalized added tokens, and divided into pieces; BPE encodes each piece.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "lm/tokenizer/added_tokens.h"
#include "lm/tokenizer/bpe.h"
#include "lm/tokenizer/normalizer.h"
#include "lm/tokenizer/pre_tokenizer.h"
#include "lm/tokenizer/text_map.h"
#include "lm/tokenizer/token_decoder.h"
#include "lm/tokenizer/tokenizer.h"
#include "lm/tokenizer/tokenizer_config.h"
#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {

class FileTokenizer : public Tokenizer {
 public:
  // `json` is tokenizer.json; it is not used after the constructor.
  FileTokenizer(const TokenizerJson& json, const TokenizerConfig& config);

  std::vector<int32_t> Encode(std::string_view text, SpecialText special) const override;
  EncodedParts EncodeParts(std::span<const TextPart> parts) const override;
  std::string Decode(std::span<const int32_t> ids, bool skip_special) const override;
  std::string TokenBytes(int32_t id) const override;
  std::string FirstTokenBytes(int32_t id) const override;
  std::optional<int32_t> Id(std::string_view token) const override;
  bool IsSpecial(int32_t id) const override { return special_.contains(id); }
  int32_t size() const override { return static_cast<int32_t>(tokens_.size()); }
  std::optional<int32_t> bos() const override { return bos_; }
  std::optional<int32_t> eos() const override { return eos_; }
  bool adds_bos() const override { return adds_bos_; }
  const std::string& chat_template() const override { return config_.chat_template; }
  std::string_view chat_template_file() const override { return config_.chat_template_file; }
  std::map<std::string, std::string> special_tokens() const override {
    return config_.special_tokens;
  }

 private:
  // A part of a text between added tokens, or an added token, with its tokens.
  struct Run {
    ByteRange bytes;
    EncodedParts::Range tokens;
    bool added;
  };
  using Plain = std::span<const ByteRange>;

  void ReadTokens(const TokenizerJson& vocabulary);
  void SetToken(int32_t id, const std::string& token, std::string_view spelling);
  std::vector<Run> Encode(std::string_view text, Plain plain, std::vector<int32_t>& ids) const;
  void EncodeStretch(std::string_view text, bool begins_text, Plain plain,
                     std::vector<int32_t>& ids) const;
  void EncodeNormalized(std::string_view text, bool begins_text, Plain plain,
                        std::vector<int32_t>& ids) const;
  std::vector<ByteRange> NormalizedRanges(std::string_view text, Plain plain) const;
  EncodedParts::Range TokensAround(size_t place, std::string_view text,
                                   const std::vector<Run>& runs, Plain plain,
                                   const std::vector<int32_t>& ids) const;

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  AddedTokens added_;
  std::unordered_set<int32_t> special_;
  Bpe bpe_;
  TokenDecoder decoder_;
  TextMap<int32_t> ids_;
  std::vector<DecodedToken> tokens_;  // by id; empty for an id that is not used
  std::optional<int32_t> bos_;
  std::optional<int32_t> eos_;
  bool adds_bos_ = false;
  const TokenizerConfig config_;
};

}  // namespace agentr
