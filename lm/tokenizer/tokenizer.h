// Text to token ids and back, as tokenizer.json of a Hugging Face folder says.
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

// What Encode makes of the spelling of a special token ("<|im_end|>") in a text.
enum class SpecialText {
  kToken,  // that token: for texts of our own making, such as templates
  kPlain,  // ordinary text: for what users, environments and models wrote
};

// A stretch of a text.
struct TextPart {
  std::string_view text;
  SpecialText special = SpecialText::kToken;
};

// The tokens of a text made of parts.
struct EncodedParts {
  struct Range {
    size_t begin = 0;  // of the tokens in `ids` that hold any of the part's text; a token at the
    size_t end = 0;    // border of two parts that holds text of both is in both ranges
  };
  std::vector<int32_t> ids;
  std::vector<Range> parts;  // one per part; empty for an empty part
};

// Immutable and thread-safe (its cache of pieces locks for itself).
class Tokenizer {
 public:
  // Reads tokenizer.json and, where present, tokenizer_config.json and chat_template.jinja of
  // `folder`. Throws FatalError(kFile) naming the file and field that is missing, malformed or not
  // supported. Truncation, padding and post-processing are ignored: BOS is the chat template's.
  static std::unique_ptr<Tokenizer> Load(const std::filesystem::path& folder);
  virtual ~Tokenizer() = default;

  // The ids of `text`, without BOS or EOS. Invalid UTF-8 is taken as U+FFFD, one per maximal
  // ill-formed subsequence, as Python's errors="replace" does.
  virtual std::vector<int32_t> Encode(std::string_view text,
                                      SpecialText special = SpecialText::kToken) const = 0;

  // The same for the text that `parts` make together: tokens may reach over their borders, but no
  // special token has any text of a kPlain part. The default encodes each part by itself.
  virtual EncodedParts EncodeParts(std::span<const TextPart> parts) const;

  // The text of `ids`. Bytes that are not UTF-8 become U+FFFD, one per maximal ill-formed
  // subsequence. Ids outside of the vocabulary are left out.
  virtual std::string Decode(std::span<const int32_t> ids, bool skip_special = false) const = 0;

  // The bytes that one token adds in the middle of a text; special tokens: their spelling.
  virtual std::string TokenBytes(int32_t id) const = 0;
  // The same at the beginning of a text, where some vocabularies drop a space.
  virtual std::string FirstTokenBytes(int32_t id) const { return TokenBytes(id); }

  virtual std::optional<int32_t> Id(std::string_view token) const = 0;  // by its spelling
  virtual bool IsSpecial(int32_t id) const = 0;
  virtual int32_t size() const = 0;  // highest id + 1, added tokens included

  // As tokenizer_config.json declares them.
  virtual std::optional<int32_t> bos() const = 0;
  virtual std::optional<int32_t> eos() const = 0;
  virtual const std::string& chat_template() const = 0;  // Jinja text; empty without one
  virtual std::string_view chat_template_file() const { return "its tokenizer"; }
  // Spellings by name, as templates know them: bos_token, eos_token, unk_token, …
  virtual std::map<std::string, std::string> special_tokens() const;
};

// Decodes tokens as they come. What Add has returned never changes and never ends within a UTF-8
// character; all of it together, with Finish, is Decode of all ids.
class IncrementalDecoder {
 public:
  explicit IncrementalDecoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}

  std::string Add(int32_t id);
  std::string Finish();  // what was held back: an incomplete character becomes U+FFFD

 private:
  const Tokenizer* tokenizer_;
  bool skip_special_;
  bool begun_ = false;
  std::string pending_;  // bytes of an incomplete character
};

}  // namespace agentr
