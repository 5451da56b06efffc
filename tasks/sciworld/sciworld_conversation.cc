#include "tasks/sciworld/sciworld_conversation.h"

#include <algorithm>
#include <utility>

#include "tasks/sciworld/sciworld_family.h"

namespace agentr {
namespace {

bool DescribesTask(const Message& message) {
  const std::string key = SciWorldKey(message.content.substr(0, 40));
  return message.role == "user" &&
         (key.starts_with("task description:") || key.starts_with("your task is to"));
}

void Look(SciWorldView& view, std::string_view text) {
  std::optional<SciWorldRoom> room = ReadSciWorldRoom(text);
  if (!room) return;
  view.room = room->name;
  view.rooms[room->name] = std::move(*room);
}

// After "You move the apple to the inventory." it is held; after a move to anywhere else it is not.
void NoteHeld(SciWorldView& view, std::string_view reply) {
  constexpr std::string_view kMoved = "You move the ";
  const size_t to = reply.find(" to the ");
  if (!reply.starts_with(kMoved) || to == std::string_view::npos) return;
  const std::string thing(reply.substr(kMoved.size(), to - kMoved.size()));
  std::erase(view.held, thing);
  if (reply.substr(to).starts_with(" to the inventory")) view.held.push_back(thing);
}

void Apply(SciWorldView& view, std::string action, std::string_view reply) {
  view.ambiguous = IsAmbiguous(reply) || (view.ambiguous && LeavesQuestionOpen(action));
  view.wasted_turns = NotUnderstood(reply) ? view.wasted_turns + 1 : 0;
  if (NotUnderstood(reply)) view.failed_action = action;
  if (action == "look around") Look(view, reply);
  if (const std::string room = ReadSciWorldMove(reply); !room.empty()) view.room = room;
  NoteHeld(view, reply);
  if (auto held = ReadSciWorldInventory(reply)) view.held = std::move(*held);
  view.actions.push_back(std::move(action));
}

}  // namespace

const SciWorldRoom& SciWorldView::Here() const {
  static const SciWorldRoom unseen;
  const auto seen = rooms.find(room);
  return seen == rooms.end() ? unseen : seen->second;
}

std::optional<SciWorldView> ReadSciWorld(std::span<const Message> conversation) {
  auto turn = std::ranges::find_if(conversation, DescribesTask);
  if (turn == conversation.end()) return std::nullopt;
  SciWorldView view;
  view.task = turn->content;
  Look(view, turn->content);
  view.start = view.room;
  std::string action;
  for (++turn; turn != conversation.end(); ++turn) {
    if (turn->role == "assistant") {
      action = SciWorldKey(SciWorldFamily().ParseAction(turn->content));
    } else {
      Apply(view, std::exchange(action, {}), turn->content);
    }
  }
  return view;
}

}  // namespace agentr
