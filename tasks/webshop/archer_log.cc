#include "tasks/webshop/archer_log.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "common/text.h"
#include "games/webshop/archer_texts.h"

namespace agentr {
namespace {

constexpr std::string_view kBetween = " [SEP] ";

// The marks of archer_texts.h in a log that became one line.
constexpr std::string_view kObservationMark = " Observation: ";
constexpr std::string_view kActionMark = " Action: ";
constexpr std::string_view kInstructionMark = " Instruction: ";

bool IsButton(std::string_view part) { return part.starts_with('[') && part.ends_with(']'); }

std::string_view WithoutBrackets(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of('['), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(']') + 1);
}

// The parts between two blanks or more: each string of a page, except an option, begins on a new
// line and ends with a blank.
std::vector<std::string_view> PartsOf(std::string_view page) {
  std::vector<std::string_view> parts;
  while (!(page = Trim(page, " ")).empty()) {
    parts.push_back(page.substr(0, page.find("  ")));
    page.remove_prefix(parts.back().size());
  }
  return parts;
}

using Parts = std::span<const std::string_view>;

// The text of neighbouring parts of one page, with the blanks between them.
std::string_view Join(Parts parts) {
  if (parts.empty()) return {};
  const char* const begin = parts.front().data();
  return {begin, static_cast<size_t>(parts.back().data() + parts.back().size() - begin)};
}

// "color [red][[blue]] size [s] Title": the names with their values, and the title.
void AppendOptions(std::string_view text, std::vector<std::string_view>& pieces) {
  for (size_t open = text.find(" ["); open != std::string_view::npos; open = text.find(" [")) {
    pieces.push_back(text.substr(0, open));
    const size_t end = std::min(text.find("] ", open), text.size());
    std::string_view values = text.substr(open + 1, end - open);
    text.remove_prefix(std::min(end + 2, text.size()));
    while (!values.empty()) {
      const size_t border = values.find("][");
      pieces.push_back(WithoutBrackets(values.substr(0, border)));
      values.remove_prefix(border == std::string_view::npos ? values.size() : border + 1);
    }
  }
  pieces.push_back(text);
}

std::string_view Plain(std::string_view part) {
  return IsButton(part) ? WithoutBrackets(part) : part;
}

// What stands between the buttons above and the price at `price` are options and the title.
void AppendItem(Parts parts, size_t price, std::vector<std::string_view>& pieces) {
  const auto begin = static_cast<size_t>(std::ranges::find_if_not(parts, IsButton) - parts.begin());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i == begin && begin < price) AppendOptions(Join(parts.subspan(i, price - i)), pieces);
    if (i < begin || i >= price) pieces.push_back(Plain(parts[i]));
  }
}

// A product is its id, its title, and its price, which is the last part before the next product.
void AppendProducts(Parts parts, std::vector<std::string_view>& pieces) {
  while (parts.size() >= 3) {
    const auto next = std::find_if(parts.begin() + 1, parts.end(), IsButton);
    const auto size = static_cast<size_t>(next - parts.begin());
    pieces.push_back(Plain(parts[0]));
    if (size >= 3) pieces.push_back(Join(parts.subspan(1, size - 2)));
    pieces.push_back(parts[size - 1]);
    parts = parts.subspan(size);
  }
}

void AppendPage(Parts parts, std::vector<std::string_view>& pieces) {
  constexpr size_t kAboveProducts = 3;  // "Back to Search", "Page 1 (…)", "Next >"
  if (parts.size() >= kAboveProducts && parts[1].starts_with("Page ")) {
    for (const auto part : parts.first(kAboveProducts)) pieces.push_back(Plain(part));
    return AppendProducts(parts.subspan(kAboveProducts), pieces);
  }
  size_t price = parts.size();
  if (!parts.empty() && parts.back() == "[Buy Now]") {
    while (price > 0 && !parts[price - 1].starts_with("Price: ")) --price;
  }
  if (price > 0 && price < parts.size()) return AppendItem(parts, price - 1, pieces);
  for (const auto part : parts) pieces.push_back(Plain(part));
}

// Reads one log, whose text is one line.
class LogReader {
 public:
  ArcherSession Read(std::string_view log) && {
    if (!log.starts_with(kObservationMark)) return {};
    const std::string_view last = LastObservation(log);
    std::string_view action;
    while (true) {
      log.remove_prefix(kObservationMark.size());
      const size_t end = log.find(kActionMark);
      if (end == std::string_view::npos) break;
      Add(action, log.substr(0, end));
      log.remove_prefix(end + kActionMark.size());
      const size_t next = log.find(kObservationMark);
      if (next == std::string_view::npos) return {};
      action = log.substr(0, next);
      ++session_.actions;
      log.remove_prefix(next);
    }
    Add(action, last);
    return std::move(session_);
  }

 private:
  void Add(std::string_view action, std::string_view observation) {
    if (observation == archer::kThought) return;
    const bool clicked = observation.starts_with(archer::kClickedBefore);
    const bool invalid = observation == archer::kInvalid;
    std::string page = clicked || invalid ? page_ : Page(observation);
    if (invalid || (!clicked && page == page_)) {
      ++session_.wasted_turns;
      session_.failed_action = action;
      return;
    }
    session_.wasted_turns = 0;
    page_ = std::move(page);
    if (!session_.turns.empty()) {
      session_.turns.push_back({"assistant", fmt::format("Action: {}", action)});
    }
    session_.turns.push_back({"user", page_});
  }

  std::string Page(std::string_view text) {
    if (text.starts_with(archer::kScore)) {
      return fmt::format("Thank you for shopping with us!{0}{1}{0}{2}", kBetween, archer::kScore,
                         Trim(text.substr(archer::kScore.size()), " "));
    }
    const std::vector<std::string_view> parts = PartsOf(text);
    std::vector<std::string_view> pieces;
    if (parts.size() > 3 && parts[0] == "WebShop") {
      instruction_ = Join(Parts(parts).subspan(2, parts.size() - 3));
      pieces = {parts[0], parts[1], instruction_, "Search"};
    } else {
      pieces = {"Instruction:", instruction_};
      AppendPage(parts, pieces);
    }
    return fmt::format("{}", fmt::join(pieces, kBetween));
  }

  ArcherSession session_;
  std::string page_;  // the present one
  std::string_view instruction_;
};

}  // namespace

ArcherSession ReadArcherLog(std::string_view log) {
  const std::string line = OneLine(std::string(log));
  return LogReader().Read(line);
}

ArcherSession NewestArcherLog(std::span<const Message> conversation) {
  for (const Message& message : std::views::reverse(conversation)) {
    if (message.role != "user") continue;
    ArcherSession session = ReadArcherLog(message.content);
    if (!session.turns.empty()) return session;
  }
  return {};
}

std::string_view LastObservation(std::string_view log) {
  const std::string line = OneLine(std::string(log));
  const size_t mark = line.rfind(kObservationMark);
  if (mark == std::string::npos) return log;
  const size_t begin = mark + kObservationMark.size();
  const size_t end = line.rfind(kInstructionMark);
  const bool has_end = end != std::string::npos && end >= begin;
  return log.substr(begin, has_end ? end - begin : std::string_view::npos);
}

}  // namespace agentr
