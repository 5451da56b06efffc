// Converts text to token ids and back, according to tokenizer.json of a Hugging Face folder.
//
// Byte-level BPE (GPT-2, Llama-3 and Qwen patterns) and BPE with byte fallback and metaspace
// (Llama-2 and Mistral): Sennrich et al. 2016; the file format is that of the tokenizers library.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// How Encode treats the spelling of a special token ("<|im_end|>") in a text.
enum class SpecialText {
  kToken,  // as that token: for trusted text, such as templates
  kPlain,  // as ordinary text: for text from users, environments and models
};

// A part of a text.
struct TextPart {
  std::string_view text;
  SpecialText special = SpecialText::kToken;
};

// The tokens of a text made of parts.
struct EncodedParts {
  struct Range {
    size_t begin = 0;  // the tokens in `ids` that contain text of the part; a token with text
    size_t end = 0;    // of two parts is in both ranges
  };
  std::vector<int32_t> ids;
  std::vector<Range> parts;  // one per part; empty for an empty part
};

// Immutable and thread-safe (its cache of pieces has its own locks).
class Tokenizer {
 public:
  // Reads tokenizer.json and, if present, tokenizer_config.json and chat_template.jinja of
  // `folder`, or the tokenizer of a GGUF file. Throws FatalError(kFile) naming the file and field
  // that is missing, malformed or not supported. Truncation, padding and post-processing are
  // ignored: the chat template writes BOS.
  static std::unique_ptr<Tokenizer> Load(const std::filesystem::path& folder);
  virtual ~Tokenizer() = default;

  // The ids of `text`, without BOS or EOS. Invalid UTF-8 becomes U+FFFD, one per maximal ill-formed
  // subsequence, as with Python's errors="replace".
  virtual std::vector<int32_t> Encode(std::string_view text,
                                      SpecialText special = SpecialText::kToken) const = 0;

  // The same for the concatenation of `parts`: tokens may cross their borders, but no special token
  // contains text of a kPlain part. The default encodes each part separately.
  virtual EncodedParts EncodeParts(std::span<const TextPart> parts) const;

  // The text of `ids`. Bytes that are not UTF-8 become U+FFFD, one per maximal ill-formed
  // subsequence. Ids outside the vocabulary are ignored.
  virtual std::string Decode(std::span<const int32_t> ids, bool skip_special = false) const = 0;

  // The bytes that one token adds in the middle of a text; for a special token, its spelling.
  virtual std::string TokenBytes(int32_t id) const = 0;
  // The same at the beginning of a text, where some decoders drop a space.
  virtual std::string FirstTokenBytes(int32_t id) const { return TokenBytes(id); }

  virtual std::optional<int32_t> Id(std::string_view token) const = 0;  // by its spelling
  virtual bool IsSpecial(int32_t id) const = 0;
  virtual int32_t size() const = 0;  // highest id + 1, including added tokens

  // As declared in tokenizer_config.json.
  virtual std::optional<int32_t> bos() const = 0;
  virtual std::optional<int32_t> eos() const = 0;
  // Whether the model expects BOS before a text that is no conversation, as transformers and
  // llama.cpp put it there: by add_bos_token, else by tokenizer.json's post-processor.
  virtual bool adds_bos() const { return bos().has_value(); }
  virtual const std::string& chat_template() const = 0;  // Jinja text; empty if there is none
  virtual std::string_view chat_template_file() const { return "its tokenizer"; }
  // Spellings by the names that templates use: bos_token, eos_token, unk_token, …
  virtual std::map<std::string, std::string> special_tokens() const;
};

// Throws FatalError(kFile) if the tokenizer is of another model than `model`, which has `rows` rows
// of embeddings: if it makes a token without a row. Special tokens are made by nobody's text, and
// some models (Gemma 3 for text) have one without a row.
void RequireRows(const Tokenizer& tokenizer, int64_t rows, const std::filesystem::path& model);

// Distinguishes tokenizers: the SHA-256 of tokenizer.json, or of what a GGUF file has instead.
// Throws FatalError(kFile).
std::string TokenizerHash(const std::filesystem::path& folder);

// Decodes tokens one by one. The result of Add is final and never ends within a UTF-8 character;
// all results together, including Finish, equal Decode of all ids, or, with `continues_text`, what
// they add behind another text.
class IncrementalDecoder {
 public:
  explicit IncrementalDecoder(const Tokenizer& tokenizer, bool skip_special = true,
                              bool continues_text = false)
      : tokenizer_(&tokenizer), skip_special_(skip_special), begun_(continues_text) {}

  std::string Add(int32_t id);
  std::string Finish();  // returns the rest: an incomplete character becomes U+FFFD

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  bool begun_;           // the text
  std::string pending_;  // bytes of an incomplete character
};

}  // namespace agentr
