// The "pre_tokenizer" of tokenizer.json divides a text into the pieces that BPE encodes: ByteLevel,
// Split, Digits, Metaspace, and Sequence of them.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {

struct Piece {
  std::string_view text;     // valid UTF-8
  bool begins_text = false;  // no text is before it
};

// Immutable and thread-safe.
class PreTokenizer {
 public:
  using OnPiece = std::function<void(const Piece& piece)>;
  class Step;

  // `field`: the pre_tokenizer's object, or null for none. Throws FatalError(kFile) for another
  // kind, and for a step after ByteLevel.
  explicit PreTokenizer(const TokenizerJson& field);
  ~PreTokenizer();

  // Calls `on_piece` with each piece of `whole`, in order; none is empty.
  void Split(const Piece& whole, const OnPiece& on_piece) const { Run(0, whole, on_piece); }

  // True if the vocabulary writes bytes as characters (byte_level.h). Pieces are still bytes.
  bool byte_level() const { return byte_level_; }

 private:
  void Add(const TokenizerJson& field);
  void Run(size_t step, const Piece& piece, const OnPiece& on_piece) const;

  std::vector<std::unique_ptr<Step>> steps_;
  bool byte_level_ = false;
};

}  // namespace agentr
