// A generation under way, whose text another thread sends as it comes.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lm/engine/generation.h"

namespace agentr {

// Begins with the construction; the destructor cancels what is not done. Used by one thread.
class TextStream {
 public:
  struct Piece {
    int index = 0;  // of the completion
    std::string text;
  };

  TextStream(Engine& engine, GenerationRequest request);
  ~TextStream();
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // Waits until there is text, or the generation has ended; the error if it failed before any text.
  Result<void> Begin();

  // Waits for the next piece; none when the generation has ended.
  std::optional<Piece> Next();

  // After the last piece.
  const Result<Generation>& result() const { return *result_; }

 private:
  GenerationRequest WithPieces(GenerationRequest request);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Piece> pieces_;                  // guarded by mutex_, as is the next
  std::optional<Result<Generation>> result_;  // set once, at the end
  Pending<Generation> pending_;
  std::thread waiter_;  // a future can only be waited for: this tells the condition variable
};

}  // namespace agentr
