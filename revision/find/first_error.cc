#include "revision/find/first_error.h"

#include <algorithm>
#include <future>
#include <utility>

#include "revision/find/pairing.h"

namespace agentr {
namespace {

std::vector<Result<StepJudgement>> JudgeAll(const PathPair& pair, const std::vector<int>& nodes,
                                            Verifier& verifier) {
  std::vector<std::future<Result<StepJudgement>>> waiting;
  for (size_t i = 1; i < nodes.size(); ++i) {
    waiting.push_back(std::async(std::launch::async,
                                 [&, node = nodes[i]] { return verifier.Judge(pair, node); }));
  }
  std::vector<Result<StepJudgement>> judged;
  judged.push_back(verifier.Judge(pair, nodes.front()));
  for (auto& future : waiting) judged.push_back(future.get());
  return judged;
}

}  // namespace

Result<FirstError> FindFirstError(const Tree& tree, const PathPair& pair, Verifier* verifier,
                                  int ahead) {
  std::vector<int> steps = tree.Path(pair.bad.leaf);
  steps.erase(steps.begin(), steps.begin() + tree.node(pair.ancestor).depth + 1);
  const End why = tree.node(pair.bad.leaf).end;
  if (!steps.empty() && (why == End::kDone || why == End::kDisaster)) steps.pop_back();
  FirstError error;
  error.bad_steps = static_cast<int>(steps.size());
  if (verifier == nullptr) return error;
  for (auto begin = steps.begin(); begin != steps.end();) {
    const auto end = begin + std::min<std::ptrdiff_t>(ahead, steps.end() - begin);
    auto judged = JudgeAll(pair, {begin, end}, *verifier);
    for (Result<StepJudgement>& one : judged) {
      if (!one) return tl::make_unexpected(std::move(one.error()));
      error.steps.push_back({*begin++, std::move(*one)});
      if (error.steps.back().judged.judgement != Judgement::kBad) continue;
      error.found = true;
      error.bad_steps = static_cast<int>(error.steps.size());
      return error;
    }
  }
  return error;
}

}  // namespace agentr
