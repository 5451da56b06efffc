#include "mcts/search.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/fingerprint.h"
#include "common/text.h"
#include "mcts/selection.h"
#include "rollout/snapping.h"

namespace agentr {
namespace {

// Further samples are children anyway, and what is lost leaves nothing to search.
constexpr std::array<NamedValue<SlipKind>, 2> kSearchedSlips = {
    {{"random", SlipKind::kRandom}, {"refused", SlipKind::kRefused}}};

}  // namespace

void Declare(OptionSet& set, SearchOptions& o) {
  set.Group("Search");
  set.Add("--iterations", o.iterations, "Iterations per tree", "ITERA").Min(1);
  set.Add(
         "--max_depth", o.max_depth,
         "Turns after which a path ends; 0 means 20, in SciWorld a number for the type of the task",
         "MAX_DEPTH")
      .Min(0);
  set.Add("--n_gen", o.n_gen, "Responses sampled per expansion", "N_GEN").Min(1);
  set.Add("--exploration", o.exploration,
          "Weight of exploration in the selection score (c of UCB1)")
      .Min(0)
      .Formerly("--c");
  DeclareSampling(set, o);
  set.AddSwitch("--snap_actions", o.snap_actions,
                "SciWorld: replace each action by the most similar valid one, as Agent-R does");
  set.Add("--slip", o.slips.probability,
          "Probability that a response gets a sibling that does something else: a mistake to "
          "revise that the model would not make. path_collect never trains it")
      .Range(0, 1);
  set.AddNamed("--slip_kind", o.slips.kind, kSearchedSlips,
               "What the sibling does: random (any action that the environment takes there) or "
               "refused (one that it refuses)");
}

std::string ToJson(const SearchOptions& o) {
  // The last option of the first trees. Later ones are left out at their defaults, so that older
  // trees have the same text.
  constexpr std::string_view kLastOfFirst = "seed";
  const nlohmann::ordered_json options = FingerprintOf(o);
  const nlohmann::ordered_json changed = ChangedOptions(o);
  nlohmann::ordered_json json;
  bool later = false;
  for (const auto& [name, value] : options.items()) {
    if (!later || changed.contains(name)) json[name == "exploration" ? "c" : name] = value;
    later = later || name == kLastOfFirst;
  }
  return json.dump();
}

Search::Search(const SearchOptions& options, TreeOrigin origin, Context context)
    : options_(options),
      origin_(std::move(origin)),
      context_(std::move(context)),
      random_(RandomStream(options.seed).Split(static_cast<uint64_t>(origin_.task_id))),
      selection_(random_.Split("selection")),
      max_depth_(options.max_depth > 0 ? options.max_depth
                                       : context_.family.SearchDepth(origin_.task_id)) {}

Result<Tree> Search::Run() {
  AGENTR_ASSIGN_OR_RETURN(std::string first, context_.executor.Start());
  tree_ = Tree(origin_, context_.family.Instruction(), std::move(first));
  state_of_ = {StateTree::kRoot};
  for (int i = 0; i < options_.iterations && !tree_.root().terminal; ++i) {
    AGENTR_RETURN_IF_ERROR(Iterate());
  }
  return std::move(tree_);
}

Result<void> Search::Iterate() {
  int node = 0;
  while (!tree_.node(node).terminal) {
    if (tree_.node(node).children.empty()) {
      AGENTR_RETURN_IF_ERROR(Expand(node));
    }
    node = Descend(node);
  }
  return {};
}

int Search::Descend(int node) {
  while (!tree_.node(node).terminal && !tree_.node(node).children.empty()) {
    node = SelectChild(tree_, node, options_.exploration, selection_);
  }
  return node;
}

Result<void> Search::Expand(int node) {
  AGENTR_ASSIGN_OR_RETURN(std::vector<Node> children, Sample(node));
  if (children.empty()) {
    tree_.EndCut(node);
    return {};
  }
  if (options_.snap_actions) {
    AGENTR_RETURN_IF_ERROR(Snap(node, children));
  }
  AGENTR_RETURN_IF_ERROR(AddSlips(node, children));
  AGENTR_RETURN_IF_ERROR(Execute(node, children));
  Record(node, std::move(children));
  return {};
}

Result<std::vector<Node>> Search::Sample(int node) {
  if (context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
  AGENTR_ASSIGN_OR_RETURN(TruncatedCompletion sampled, Complete(node));
  usage_ += sampled.batch.usage;
  std::vector<Node> children;
  int cut = 0;
  for (Completion& completion : sampled.batch.completions) {
    if (IsCutTurn(completion, context_.family)) {
      ++cut;
      if (context_.cut_turns != nullptr) context_.cut_turns->Add(completion);
      continue;
    }
    StoreThought(options_.thinking, completion);
    if (std::ranges::find(children, completion.text, &Node::response) != children.end()) continue;
    Node& child = children.emplace_back();
    child.action = context_.family.ParseAction(completion.text);
    child.Say(std::move(completion));
    child.dropped_turns = sampled.dropped_turns;
  }
  tree_.AddCutTurns(node, cut);
  if (children.empty() && cut == 0) {
    return Fail(ErrorKind::kProtocol, "the model returned no completion");
  }
  if (children.empty() && node == 0) {
    return Fail(ErrorKind::kRejected,
                "all responses to the first observation were cut before an action, by the limit of "
                "tokens (raise --max_new_tokens) or by a filter of the server");
  }
  return children;
}

Result<TruncatedCompletion> Search::Complete(int node) {
  SamplingParams sampling = ParamsOf(options_);
  sampling.task_id = origin_.task_id;
  sampling.seed = random_.Split("sample").Split(static_cast<uint64_t>(node)).Next();
  TruncatableConversation conversation;
  conversation.messages = [&](int dropped) { return History(node, dropped); };
  conversation.sampled = [&](int dropped) { return SampledIds(node, dropped); };
  conversation.first_turn = static_cast<int>(tree_.instruction().size()) + 1;
  conversation.least_dropped = tree_.node(node).dropped_turns;
  conversation.most_dropped = tree_.node(node).depth;
  return CompleteTruncated(context_.model, conversation, options_.n_gen, sampling,
                           {options_.max_context, options_.context_slack});
}

std::vector<Message> Search::History(int node, int dropped_turns) const {
  return ShownHistory(options_.thinking, tree_.Conversation(node, dropped_turns));
}

std::vector<std::span<const int32_t>> Search::SampledIds(int node, int dropped_turns) const {
  std::vector<std::span<const int32_t>> ids = tree_.SampledIds(node, dropped_turns);
  if (options_.thinking != Thinking::kStripHistory) return ids;
  return ShownIds(tree_.Conversation(node, dropped_turns), std::move(ids));
}

std::vector<std::string> Search::Taken(int node) const {
  std::vector<std::string> taken;
  for (const int step : tree_.Path(node)) {
    if (step != 0) taken.push_back(tree_.node(step).action);
  }
  return taken;
}

Result<void> Search::AddSlips(int node, std::vector<Node>& children) {
  const bool last_turn = tree_.node(node).depth >= max_depth_;
  if (options_.slips.probability == 0 || last_turn) return {};
  const std::vector<std::string> taken = Taken(node);
  const SlipPlace place{context_.family, context_.executor, state_of_[static_cast<size_t>(node)],
                        origin_.task_id, context_.family.RevisionAction()};
  const size_t sampled = children.size();
  for (size_t i = 0; i < sampled; ++i) {
    RandomStream random = random_.Split("slip").Split(static_cast<uint64_t>(node)).Split(i);
    if (children[i].action == place.revision_action || !random.Chance(options_.slips.probability)) {
      continue;
    }
    AGENTR_ASSIGN_OR_RETURN(std::optional<Substitute> other,
                            FindSubstitute(options_.slips.kind, place, children[i].response,
                                           children[i].action, taken, random));
    if (!other || std::ranges::find(children, other->response, &Node::response) != children.end()) {
      continue;
    }
    Node& slipped = children.emplace_back(children[i]);
    slipped.slip = Slip{.said = std::exchange(slipped.action, std::move(other->action)),
                        .response = std::exchange(slipped.response, std::move(other->response))};
    slipped.token_ids.clear();
    slipped.logprobs.clear();
  }
  return {};
}

Result<void> Search::Snap(int node, std::vector<Node>& children) {
  const std::vector<std::string> taken = Taken(node);
  std::vector<std::string> said;
  for (Node& child : children) said.push_back(std::move(child.action));
  AGENTR_ASSIGN_OR_RETURN(
      std::vector<std::string> snapped,
      SnapActions(context_.executor, state_of_[static_cast<size_t>(node)], taken, std::move(said)));
  for (size_t i = 0; i < children.size(); ++i) children[i].action = std::move(snapped[i]);
  return {};
}

Result<void> Search::Execute(int node, std::vector<Node>& children) {
  const int state = state_of_[static_cast<size_t>(node)];
  std::vector<std::string> actions;
  for (const Node& child : children) {
    if (std::ranges::find(actions, child.action) == actions.end()) actions.push_back(child.action);
  }
  const bool last_turn = tree_.node(node).depth >= max_depth_;
  return context_.executor.Execute(state, actions, last_turn);
}

void Search::Record(int node, std::vector<Node> children) {
  const int state = state_of_[static_cast<size_t>(node)];
  const bool last_turn = tree_.node(node).depth >= max_depth_;
  std::vector<int> ended;
  for (Node& child : children) {
    const StateTree::Transition& outcome = *context_.executor.states().Find(state, child.action);
    const bool revision =
        outcome.state == state && child.action == context_.family.RevisionAction();
    child.observation =
        revision ? std::string(TaskFamily::kRevisionReply) : OneLine(outcome.result.observation);
    child.reward = std::max(outcome.result.reward, 0.0);
    if (context_.first_responses != nullptr && !child.slip) {
      context_.first_responses->Add(child.response, child.action,
                                    context_.family.IsRefusal(context_.executor.Seen(state),
                                                              child.action, child.observation));
    }
    if (last_turn) child.end = End::kDepth;
    if (outcome.result.done) child.end = End::kDone;
    if (outcome.result.reward < 0) child.end = End::kDisaster;
    const int index = tree_.Add(node, std::move(child));
    state_of_.push_back(outcome.state);
    if (tree_.node(index).terminal) ended.push_back(index);
  }
  // BackUp needs all siblings in the tree: otherwise a parent could become terminal too early.
  for (const int leaf : ended) {
    tree_.BackUp(leaf);
    const bool success = tree_.node(leaf).reward >= context_.family.SuccessReward();
    if (success && nodes_to_success_ == 0) nodes_to_success_ = tree_.size();
  }
  if (context_.on_nodes) context_.on_nodes(static_cast<int>(children.size()));
}

}  // namespace agentr
