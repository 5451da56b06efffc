#include "mcts/tree_walk.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "common/text.h"
#include "mcts/tree_print.h"

namespace agentr {
namespace {

constexpr int kPage = 10;  // lines

// The text in lines of at most `columns` characters.
void Wrap(const std::string& text, int columns, std::vector<std::string>& lines) {
  const std::string safe = EscapeControls(text, "\n");
  size_t begin = 0;
  while (begin <= safe.size()) {
    const size_t end = std::min(safe.find('\n', begin), safe.size());
    std::string line = safe.substr(begin, end - begin);
    do {
      lines.push_back(FitColumns(line, columns, ""));
      line.erase(0, lines.back().size());
    } while (!line.empty());
    begin = end + 1;
  }
}

int BestLeaf(const Tree& tree) {
  int best = 0;
  for (int i = 0; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    if (node.end == End::kNone) continue;
    const Node& other = tree.node(best);
    if (other.end == End::kNone || node.reward > other.reward ||
        (node.reward == other.reward && node.depth < other.depth)) {
      best = i;
    }
  }
  return best;
}

// Keys come at once, without an echo, while this exists; the screen is an alternate one.
class RawTerminal {
 public:
  RawTerminal() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios raw = before_;
    ::cfmakeraw(&raw);
    raw.c_oflag |= OPOST;  // "\n" still starts a new line at its beginning
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fmt::print("\x1b[?1049h\x1b[?25l");
  }
  ~RawTerminal() {
    fmt::print("\x1b[?25h\x1b[?1049l");
    std::fflush(stdout);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  termios before_{};
};

std::pair<int, int> SizeOfTerminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return {24, 80};
  return {std::max<int>(size.ws_row, 5), std::max<int>(size.ws_col, 20)};
}

}  // namespace

WalkKey ParseKey(std::string_view bytes, size_t& size) {
  static constexpr std::array<std::pair<std::string_view, WalkKey>, 24> kKeys = {{
      {"\x1b[A", WalkKey::kUp},    {"\x1b[B", WalkKey::kDown},    {"\x1b[C", WalkKey::kRight},
      {"\x1b[D", WalkKey::kLeft},  {"\x1bOA", WalkKey::kUp},      {"\x1bOB", WalkKey::kDown},
      {"\x1bOC", WalkKey::kRight}, {"\x1bOD", WalkKey::kLeft},    {"\x1b[H", WalkKey::kHome},
      {"\x1b[F", WalkKey::kEnd},   {"\x1b[5~", WalkKey::kPageUp}, {"\x1b[6~", WalkKey::kPageDown},
      {"\x1b[1~", WalkKey::kHome}, {"\x1b[4~", WalkKey::kEnd},    {"k", WalkKey::kUp},
      {"j", WalkKey::kDown},       {"h", WalkKey::kLeft},         {"l", WalkKey::kRight},
      {"\r", WalkKey::kToggle},    {" ", WalkKey::kToggle},       {"b", WalkKey::kBest},
      {"q", WalkKey::kQuit},       {"\x03", WalkKey::kQuit},      {"\x04", WalkKey::kQuit},
  }};
  for (const auto& [text, key] : kKeys) {
    if (!bytes.starts_with(text)) continue;
    size = text.size();
    return key;
  }
  size = 1;
  return WalkKey::kNone;
}

TreeWalk::TreeWalk(const Tree& tree) : tree_(tree), open_(static_cast<size_t>(tree.size())) {
  open_[0] = true;
  Select(BestLeaf(tree));
  Select(0);
}

void TreeWalk::Show() {
  shown_.clear();
  Collect(0);
}

void TreeWalk::Collect(int node) {
  shown_.push_back(node);
  if (!open_[static_cast<size_t>(node)]) return;
  for (const int child : tree_.node(node).children) Collect(child);
}

void TreeWalk::Select(int node) {
  for (int above = tree_.node(node).parent; above >= 0; above = tree_.node(above).parent) {
    open_[static_cast<size_t>(above)] = true;
  }
  Show();
  at_ = static_cast<size_t>(std::ranges::find(shown_, node) - shown_.begin());
}

void TreeWalk::Toggle() {
  const int node = selected();
  if (tree_.node(node).children.empty()) return;
  open_[static_cast<size_t>(node)] = !open_[static_cast<size_t>(node)];
  Show();
}

void TreeWalk::Press(WalkKey key) {
  const int node = selected();
  const Node& here = tree_.node(node);
  const bool open = open_[static_cast<size_t>(node)] && !here.children.empty();
  const auto move = [&](int lines) {
    const int last = static_cast<int>(shown_.size()) - 1;
    at_ = static_cast<size_t>(std::clamp(static_cast<int>(at_) + lines, 0, last));
  };
  switch (key) {
    case WalkKey::kUp:
      return move(-1);
    case WalkKey::kDown:
      return move(1);
    case WalkKey::kPageUp:
      return move(-kPage);
    case WalkKey::kPageDown:
      return move(kPage);
    case WalkKey::kHome:
      return move(-tree_.size());
    case WalkKey::kEnd:
      return move(tree_.size());
    case WalkKey::kRight:
      return open ? move(1) : Toggle();
    case WalkKey::kLeft:
      return open ? Toggle() : Select(std::max(here.parent, 0));
    case WalkKey::kToggle:
      return Toggle();
    case WalkKey::kBest:
      return Select(BestLeaf(tree_));
    case WalkKey::kQuit:
      done_ = true;
      return;
    case WalkKey::kNone:
      return;
  }
}

std::string TreeWalk::Line(int index, int columns) const {
  const Node& node = tree_.node(index);
  const bool inner = !node.children.empty();
  const std::string arrow = !inner ? "  " : open_[static_cast<size_t>(index)] ? "▾ " : "▸ ";
  const std::string text =
      fmt::format("{}{}{} {:.2f} {}{} -> {}", std::string(2 * static_cast<size_t>(node.depth), ' '),
                  arrow, node.visits, node.mean(), EndingText(node),
                  node.parent < 0 ? "START" : OneLine(node.action), OneLine(node.observation));
  const std::string line = FitColumns(EscapeControls(text), columns, "");
  if (index == selected()) return "\x1b[7m" + line + "\x1b[0m";
  if (node.end == End::kNone) return line;
  return fmt::format("\x1b[{}m{}\x1b[0m", node.reward > 0 ? 32 : 31, line);
}

std::vector<std::string> TreeWalk::Details(int columns) const {
  const Node& node = tree_.node(selected());
  std::vector<std::string> lines;
  if (node.parent >= 0) Wrap(node.response, columns, lines);
  lines.emplace_back("->");
  Wrap(node.observation, columns, lines);
  return lines;
}

std::string TreeWalk::Screen(int rows, int columns) const {
  const auto height = static_cast<size_t>(rows);
  const size_t outline = std::max<size_t>(height * 3 / 5, 3);
  const TreeOrigin& origin = tree_.origin();
  std::vector<std::string> lines = {FitColumns(
      EscapeControls(fmt::format("{} task {}, {} nodes.  Arrows: move, fold; b: best leaf; q: quit",
                                 origin.family.empty() ? "(agent-r)" : origin.family,
                                 origin.task_id, tree_.size())),
      columns, "")};
  // The selected line stays in the middle where there are lines enough on both sides.
  const size_t visible = outline - 1;
  const size_t most = shown_.size() > visible ? shown_.size() - visible : 0;
  const size_t first = std::min(at_ > visible / 2 ? at_ - visible / 2 : 0, most);
  for (size_t i = first; i < std::min(first + visible, shown_.size()); ++i) {
    lines.push_back(Line(shown_[i], columns));
  }
  lines.resize(outline);
  std::string rule;
  for (int i = 0; i < columns; ++i) rule += "─";
  lines.push_back(rule);
  for (std::string& line : Details(columns)) lines.push_back(std::move(line));
  lines.resize(height);
  std::string screen;
  for (size_t i = 0; i < lines.size(); ++i) screen += (i > 0 ? "\n" : "") + lines[i];
  return screen;
}

void WalkTree(const Tree& tree) {
  TreeWalk walk(tree);
  const RawTerminal terminal;
  while (!walk.done()) {
    const auto [rows, columns] = SizeOfTerminal();
    fmt::print("\x1b[H\x1b[2J{}", walk.Screen(rows, columns));
    std::fflush(stdout);
    std::array<char, 64> typed{};
    const ssize_t count = ::read(STDIN_FILENO, typed.data(), typed.size());
    if (count <= 0) return;
    std::string_view keys(typed.data(), static_cast<size_t>(count));
    while (!keys.empty()) {
      size_t size = 0;
      walk.Press(ParseKey(keys, size));
      keys.remove_prefix(size);
    }
  }
}

}  // namespace agentr
