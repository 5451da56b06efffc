#include "rollout/thinking.h"

#include <string>
#include <string_view>
#include <utility>

#include "common/text.h"
#include "tasks/action_text.h"

namespace agentr {
namespace {

bool HasThought(const Message& message) {
  return message.role == "assistant" &&
         (!message.reasoning.empty() ||
          WithoutThought(message.content).size() < message.content.size());
}

std::string Rest(const std::string& text) {
  const std::string_view rest = WithoutThought(text);
  return std::string(rest.size() < text.size() ? Trim(rest) : rest);
}

}  // namespace

void StoreThought(Thinking thinking, Completion& completion) {
  if (thinking == Thinking::kContent || thinking == Thinking::kStrip) completion.reasoning.clear();
  if (thinking != Thinking::kStrip) return;
  std::string rest = Rest(completion.text);
  if (rest == completion.text) return;
  completion.text = std::move(rest);
  completion.token_ids.clear();
  completion.logprobs.clear();
}

std::vector<Message> ShownHistory(Thinking thinking, std::vector<Message> conversation) {
  if (thinking != Thinking::kStripHistory) return conversation;
  for (Message& message : conversation) {
    if (!HasThought(message)) continue;
    message.content = Rest(message.content);
    message.reasoning.clear();
  }
  return conversation;
}

std::vector<std::span<const int32_t>> ShownIds(std::span<const Message> conversation,
                                               std::vector<std::span<const int32_t>> ids) {
  for (size_t i = 0; i < conversation.size() && i < ids.size(); ++i) {
    if (HasThought(conversation[i])) ids[i] = {};
  }
  return ids;
}

}  // namespace agentr
