// A running generation whose text another thread sends piece by piece.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "lm/engine/generation.h"

namespace agentr {

class Engine;

// The constructor starts the generation; the destructor cancels it if it is unfinished. Used by one
// thread.
class TextStream {
 public:
  struct Piece {
    int index = 0;  // of the completion
    std::string text;
    GeneratedSequence tokens;  // tokens since the last piece: ids, logprobs and alternatives
  };

  TextStream(Engine& engine, GenerationRequest request);
  ~TextStream();
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // Waits until there is text or the generation has ended; returns the error if it failed before
  // any text.
  Result<void> Begin();

  // Waits for the next piece; nullopt when the generation has ended.
  std::optional<Piece> Next();

  // Valid after the last piece.
  const Result<Generation>& result() const { return *result_; }
  // The tokens after the last piece of each completion, such as the one that ended it.
  std::span<const GeneratedSequence> rest() const { return fresh_; }

 private:
  GenerationRequest WithPieces(GenerationRequest request);
  void AddToken(int index, TokenLogprob token, std::span<const TokenLogprob> alternatives);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Piece> pieces_;                  // guarded by mutex_, like the next two
  std::vector<GeneratedSequence> fresh_;      // per completion: tokens that are in no piece yet
  std::optional<Result<Generation>> result_;  // set once, at the end
  Pending<Generation> pending_;
  std::thread waiter_;  // waits for the future and then notifies the condition variable
};

}  // namespace agentr
