// A search tree on a terminal, in which one walks with the arrow keys. TreeWalk is what is shown,
// as pure text; WalkTree runs it on the terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mcts/tree.h"

namespace agentr {

enum class WalkKey {
  kNone,  // anything without a meaning here
  kUp,
  kDown,
  kLeft,   // fold, or go to the parent
  kRight,  // unfold, or go to the first child
  kHome,
  kEnd,
  kPageUp,
  kPageDown,
  kToggle,
  kBest,  // the ended leaf with the best reward; of equals the one with the shortest path
  kQuit,
};

// The key at the start of `bytes` as a terminal sends them, and its number of bytes in `size`.
WalkKey ParseKey(std::string_view bytes, size_t& size);

class TreeWalk {
 public:
  // The best path is unfolded. The tree outlives this object.
  explicit TreeWalk(const Tree& tree);

  void Press(WalkKey key);
  bool done() const { return done_; }
  int selected() const { return shown_[at_]; }

  // Exactly `rows` lines of at most `columns` columns, separated by "\n": the outline around the
  // selected node, and below it the whole text of the node. Escape sequences only mark the selected
  // line and ended leaves; all texts are made safe (EscapeControls).
  std::string Screen(int rows, int columns) const;

 private:
  void Show();  // refreshes shown_
  void Collect(int node);
  void Select(int node);  // unfolds what hides it
  void Toggle();
  std::string Line(int node, int columns) const;
  std::vector<std::string> Details(int columns) const;

  const Tree& tree_;
  std::vector<bool> open_;  // by node
  std::vector<int> shown_;  // nodes of the lines, from the top
  size_t at_ = 0;           // the selected line
  bool done_ = false;
};

// Walks on the terminal of stdin and stdout until q is pressed or the input ends; afterwards the
// terminal is as it was before.
void WalkTree(const Tree& tree);

}  // namespace agentr
