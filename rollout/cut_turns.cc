#include "rollout/cut_turns.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "clients/filtered.h"
#include "common/text.h"
#include "common/utf8.h"
#include "tasks/action_text.h"

namespace agentr {

bool IsCutTurn(const Completion& completion, const TaskFamily& family) {
  return (ReachedLimit(completion) || IsFiltered(completion)) &&
         (family.ParseAction(completion.text).empty() || IsOnlyThought(completion.text));
}

void CutTurns::Add(const Completion& completion) {
  constexpr size_t kShown = 200;  // bytes of the example's end
  const std::lock_guard lock(mutex_);
  if (++count_ > 1) return;
  const std::string valid = ToValidUtf8(completion.text);
  size_t begin = valid.size() > kShown ? valid.size() - kShown : 0;
  while (begin < valid.size() && (valid[begin] & 0xC0) == 0x80) ++begin;
  const bool filtered = IsFiltered(completion);
  warning_ = fmt::format(
      "a response {} before its action, and is not executed. It ends with \"{}{}\". {}. Further "
      "ones are counted",
      filtered ? fmt::format("was ended by the server's filter ({})", completion.finish_reason)
               : "reached the limit of tokens",
      begin > 0 ? "…" : "", EscapeControls(valid.substr(begin)),
      filtered ? "A filter can often be set at the server or by --llm_field"
               : "A larger --max_new_tokens lets the model finish");
  spdlog::warn("{}", warning_);
}

int64_t CutTurns::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::string CutTurns::warning() const {
  const std::lock_guard lock(mutex_);
  return warning_;
}

}  // namespace agentr
