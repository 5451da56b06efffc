// A running generation whose text another thread sends piece by piece.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lm/engine/generation.h"

namespace agentr {

// The constructor starts the generation; the destructor cancels it if it is unfinished. Used by one
// thread.
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

  // Waits until there is text or the generation has ended; returns the error if it failed before
  // any text.
  Result<void> Begin();

  // Waits for the next piece; nullopt when the generation has ended.
  std::optional<Piece> Next();

  // Valid after the last piece.
  const Result<Generation>& result() const { return *result_; }

 private:
  GenerationRequest WithPieces(GenerationRequest request);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Piece> pieces_;                  // guarded by mutex_, like the next
  std::optional<Result<Generation>> result_;  // set once, at the end
  Pending<Generation> pending_;
  std::thread waiter_;  // waits for the future and then notifies the condition variable
};

}  // namespace agentr
