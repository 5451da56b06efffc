#include "revision/find/mistakes.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "common/error.h"
#include "tasks/revision_hints.h"

namespace agentr {
namespace {

bool IsAbove(const StateMap& states, int above, int below) {
  return states.Common(above, below) == above;
}

// The good leaves, best first, one per state.
std::vector<LeafPath> DistinctGood(const Tree& tree, const StateMap& states,
                                   const ValueThresholds& choice) {
  std::vector<LeafPath> good;
  std::set<int> seen;
  for (const LeafPath& path : LeafPaths(tree)) {
    if (IsGood(path, choice) && seen.insert(states.Of(path.leaf)).second) good.push_back(path);
  }
  return good;
}

// True if the turn of `node` can be the mistake, because the episode continues after it.
bool IsRepairable(const Tree& tree, const StateMap& states, int node) {
  if (states.Refused(node)) return tree.node(node).end != End::kDone;
  return states.Changed(node) && !states.At(node).ended && !tree.node(node).children.empty();
}

// Decides whether accepted steps are mistakes, from the rest of the tree.
class DeadEnds {
 public:
  DeadEnds(const Tree& tree, const StateMap& states, const TaskFamily& family);

  // The best value that was reached from the state behind the step to `node`, or from an equal one
  // of the tree, without taking the step back; 0 if there is none.
  double BestBehind(int node) const;

  // True if the step of `mistake` is one compared with its good paths, of which there is at least
  // one, all better than BestBehind; sets its evidence.
  bool Shows(Mistake& mistake, const MistakeOptions& options) const;

 private:
  const Tree& tree_;
  const StateMap& states_;
  std::vector<std::vector<LeafPath>> leaves_;  // by state, those that ended there
  std::vector<std::vector<int>> children_;     // by state
  const std::vector<int> kind_;                // KindsOf
};

DeadEnds::DeadEnds(const Tree& tree, const StateMap& states, const TaskFamily& family)
    : tree_(tree),
      states_(states),
      leaves_(static_cast<size_t>(states.size())),
      children_(leaves_.size()),
      kind_(KindsOf(tree, states, family)) {
  for (const LeafPath& leaf : LeafPaths(tree)) {
    leaves_[static_cast<size_t>(states.Of(leaf.leaf))].push_back(leaf);
  }
  for (int i = 0; i < states.size(); ++i) {
    const int parent = states.state(i).parent;
    if (parent >= 0) children_[static_cast<size_t>(parent)].push_back(i);
  }
}

// Goes down from the state behind the step and from all equal ones, but not over a state that is
// equal to one on the way to the step.
double DeadEnds::BestBehind(int node) const {
  const int step = states_.Of(node);
  const int kind = kind_[static_cast<size_t>(step)];
  std::set<int> before;  // the kinds of the states on the way to the step
  for (int at = states_.state(step).parent; at >= 0; at = states_.state(at).parent) {
    before.insert(kind_[static_cast<size_t>(at)]);
    // A step that leads back to a state takes back what came after it: what counts is the way
    // there.
    if (kind_[static_cast<size_t>(at)] == kind) before.clear();
  }
  std::vector<int> open;
  for (int state = 0; state < states_.size(); ++state) {
    if (kind_[static_cast<size_t>(state)] == kind) open.push_back(state);
  }
  double best = 0;
  while (!open.empty()) {
    const auto at = static_cast<size_t>(open.back());
    open.pop_back();
    if (before.contains(kind_[at])) continue;
    for (const LeafPath& leaf : leaves_[at]) {
      // A leaf that has just entered an equal state shows no continuation.
      if (kind_[at] != kind || !states_.Changed(leaf.leaf)) best = std::max(best, leaf.value);
    }
    open.insert(open.end(), children_[at].begin(), children_[at].end());
  }
  return best;
}

// A step is a mistake if enough episodes went on behind it, none of them came within beta of the
// good paths unless it had taken the step back, and from the state before the step enough of the
// other ways did. An episode that was cut off by the depth limit or by cut turns counts only if it
// had longer than the shortest good path needs. Example with beta 0.2, min_evidence 2: five
// episodes pass a state, three of them over step s with rewards 0, 0.1 and 1, the last after it had
// come back to the state; two elsewhere with 1 and 0.9: s is a mistake with evidence 3. If one of
// the others over s had 0.8, or an equal state elsewhere in the tree (StateKey) had led to 0.9, it
// would be none.
bool DeadEnds::Shows(Mistake& mistake, const MistakeOptions& options) const {
  const int step = states_.Of(mistake.node);
  const int parting = states_.Of(tree_.node(mistake.node).parent);
  double wanted = 0;
  int shortest = std::numeric_limits<int>::max();  // of the good paths from here, in states
  for (const LeafPath& good : mistake.goods) {
    wanted = std::max(wanted, good.value - options.choice.beta);
    shortest = std::min(shortest, states_.At(good.leaf).depth - states_.state(parting).depth);
  }
  int elsewhere = 0;
  int as_good = 0;
  for (int state = 0; state < states_.size(); ++state) {
    if (state == parting || !IsAbove(states_, parting, state)) continue;
    for (const LeafPath& leaf : leaves_[static_cast<size_t>(state)]) {
      const Node& end = tree_.node(leaf.leaf);
      if (!IsAbove(states_, step, state)) {
        ++elsewhere;
        as_good += AtLeast(leaf.value, wanted) ? 1 : 0;
      } else if (state != step || !states_.Changed(leaf.leaf)) {
        const int turns = end.depth - tree_.node(mistake.node).depth;
        const bool cut_off = end.end == End::kDepth || end.end == End::kCut;
        mistake.evidence += !cut_off || turns > shortest ? 1 : 0;
      }
    }
  }
  return mistake.evidence >= options.min_evidence && as_good >= options.min_success * elsewhere;
}

// The good paths that can repair the step of `node`: beside an accepted step those that are better
// than `best` by more than beta. With Pairing::kSiblings they leave the bad path there.
std::vector<LeafPath> GoodsFor(const StateMap& states, int node, int parting, double best,
                               const std::vector<LeafPath>& good, const MistakeOptions& options) {
  std::vector<LeafPath> goods;
  const bool refused = states.Refused(node);
  for (const LeafPath& path : good) {
    const int end = states.Of(path.leaf);
    if (options.pairing == Pairing::kSiblings && !IsAbove(states, parting, end)) continue;
    // A leaf in the state itself ended there by the depth limit and shows no continuation.
    if (parting == end) continue;
    // What was refused may pass time all the same, and the good path may do it too. A good path
    // over an accepted step has taken it back.
    if (states.Changed(node) && IsAbove(states, states.Of(node), end)) continue;
    if (refused || IsBadBeside({node, best}, path, options.choice)) goods.push_back(path);
  }
  return goods;
}

// The next bad step after `node`: one that led neither to success nor to an end; -1 if there is
// none.
int NextBad(const Tree& tree, const StateMap& states, int node, double good_value,
            const ValueThresholds& choice, RandomStream& random) {
  std::vector<int> bad;
  for (const int child : tree.node(node).children) {
    const bool over = tree.node(child).end != End::kNone;
    const bool lost = !AtLeast(states.At(child).best, good_value - choice.beta);
    if (!over && (states.Refused(child) || lost)) bad.push_back(child);
  }
  return bad.empty() ? -1 : random.Pick(bad);
}

// The step behind which the agent notices `mistake`. A refusal is noticed behind a refused step:
// its words ("That did not work.") would be false behind one that was carried out.
int LateNotice(const Tree& tree, const StateMap& states, const Mistake& mistake, double good_value,
               const MistakeOptions& options, RandomStream& random) {
  if (options.notice == Notice::kFirst || options.notice_steps == 0) return mistake.node;
  if (options.notice == Notice::kMixed && random.Chance(0.5)) return mistake.node;
  const uint64_t further = 1 + random.Below(static_cast<uint64_t>(options.notice_steps));
  int notice = mistake.node;
  int node = mistake.node;
  for (uint64_t i = 0; i < further; ++i) {
    node = NextBad(tree, states, node, good_value, options.choice, random);
    if (node < 0) break;
    if (!mistake.refused || states.Refused(node)) notice = node;
  }
  return notice;
}

}  // namespace

bool IsOfForm(std::string_view mistake) {
  constexpr std::array<std::string_view, 5> kForms = {"malformed", "not_on_page", "not_offered",
                                                      "not_understood", "ambiguous"};
  return std::ranges::find(kForms, mistake) != kForms.end();
}

std::string MistakeNameOf(const Tree& tree, const TaskFamily& family, int node) {
  const Node& step = tree.node(node);
  return std::string(
      MistakeNameOf(family, HistoryOf(tree, family, step.parent), step.action, step.observation));
}

// One mistake for each state, state after it and (if refused) action, in the order of the nodes.
// Each has at least one good path that does not lead over it. Example: two nodes that both say "get
// 2 chain" in one state and are refused are one mistake; two refused actions in one state are two.
std::vector<Mistake> FindMistakes(const Tree& tree, const StateMap& states,
                                  const TaskFamily& family, const MistakeOptions& options) {
  const std::vector<LeafPath> good = DistinctGood(tree, states, options.choice);
  const DeadEnds dead_ends(tree, states, family);
  std::vector<Mistake> mistakes;
  std::set<std::tuple<int, int, std::string>> seen;  // state of the parting, state after it, action
  for (int node = 1; node < tree.size(); ++node) {
    if (!IsRepairable(tree, states, node)) continue;
    const bool refused = states.Refused(node);
    const int parting = states.Of(tree.node(node).parent);
    const std::string action = refused ? tree.node(node).action : "";
    if (seen.contains({parting, states.Of(node), action})) continue;
    if (!refused && states.At(node).leaves < options.min_evidence) continue;
    Mistake mistake{node, "", refused, 0, std::max(states.At(node).best, 0.0), {}};
    if (!refused) mistake.best = dead_ends.BestBehind(node);
    mistake.goods = GoodsFor(states, node, parting, mistake.best, good, options);
    if (mistake.goods.empty()) continue;
    if (!refused && !dead_ends.Shows(mistake, options)) continue;
    seen.emplace(parting, states.Of(node), action);
    mistake.name = MistakeNameOf(tree, family, node);
    mistakes.push_back(std::move(mistake));
  }
  return mistakes;
}

Draft DraftOf(const Tree& tree, const StateMap& states, const Mistake& mistake,
              const LeafPath& good, const MistakeOptions& options, RandomStream random) {
  const int last = LateNotice(tree, states, mistake, good.value, options, random);
  const int parting =
      states.Common(states.Of(tree.node(mistake.node).parent), states.Of(good.leaf));
  Draft draft;
  // The last node of the bad path in the state where the paths part.
  int ancestor = tree.node(mistake.node).parent;
  while (states.Of(ancestor) != parting) ancestor = tree.node(ancestor).parent;
  draft.pair = {good, {last, mistake.best}, ancestor};
  draft.error.bad_steps = tree.node(last).depth - tree.node(ancestor).depth;
  draft.error.found = true;
  std::string reasons(kRefusedVerdict);
  if (!mistake.refused) {
    reasons = fmt::format(
        "Of {} ends that were found from here, the best that did not take it back first has the "
        "reward {:.4g}; {:.4g} was wanted.",
        mistake.evidence, mistake.best, good.value - options.choice.beta);
  }
  draft.error.steps.push_back({mistake.node, {Judgement::kBad, std::move(reasons)}});
  return draft;
}

MistakeChooser::MistakeChooser(const StateMap& states, const std::vector<Mistake>& mistakes,
                               RandomStream random)
    : states_(states), mistakes_(mistakes), order_(mistakes.size()), uses_(mistakes.size()) {
  std::iota(order_.begin(), order_.end(), size_t{0});
  random.Shuffle(order_);
  for (size_t i = 0; i < mistakes.size(); ++i) {
    uses_[i].left.resize(mistakes[i].goods.size());
    std::iota(uses_[i].left.begin(), uses_[i].left.end(), size_t{0});
    random.Shuffle(uses_[i].left);
  }
}

std::optional<MistakeChooser::Choice> MistakeChooser::Next(bool forms) {
  constexpr int kDeadEndRows = 3;
  const auto is_out = [&](size_t i) {
    return uses_[i].left.empty() || (!forms && IsOfForm(mistakes_[i].name));
  };
  const auto rank = [&](size_t i) {
    const Mistake& mistake = mistakes_[i];
    const auto at = rows_at_.find(states_.At(mistake.node).depth);
    const auto of = rows_of_.find(mistake.name);
    const int round = uses_[i].rows / (mistake.refused ? 1 : kDeadEndRows);
    return std::tuple(is_out(i), round, mistake.refused, uses_[i].rows,
                      of == rows_of_.end() ? 0 : of->second, at == rows_at_.end() ? 0 : at->second);
  };
  const auto next = std::ranges::min_element(order_, {}, rank);
  if (next == order_.end() || is_out(*next)) return std::nullopt;
  std::vector<size_t>& left = uses_[*next].left;
  const auto good = std::ranges::min_element(left, {}, [&](size_t g) {
    const auto uses = rows_with_.find(mistakes_[*next].goods[g].leaf);
    return uses == rows_with_.end() ? 0 : uses->second;
  });
  const Choice choice{*next, *good};
  left.erase(good);
  return choice;
}

void MistakeChooser::Fail(const Choice& choice) {
  constexpr int kMostFailures = 2;
  Uses& uses = uses_[choice.mistake];
  if (++uses.failures >= kMostFailures && uses.rows == 0) uses.left.clear();
}

void MistakeChooser::GiveUp(const Choice& choice) { uses_[choice.mistake].left.clear(); }

void MistakeChooser::Keep(const Choice& choice) {
  const Mistake& mistake = mistakes_[choice.mistake];
  ++uses_[choice.mistake].rows;
  ++rows_of_[mistake.name];
  ++rows_at_[states_.At(mistake.node).depth];
  ++rows_with_[mistake.goods[choice.good].leaf];
}

}  // namespace agentr
