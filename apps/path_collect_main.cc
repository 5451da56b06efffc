// path_collect: makes self-correction data from search trees.
#include "apps/wiring.h"
#include "revision/judgement_rows.h"
#include "revision/path_collect.h"
#include "revision/preference_rows.h"
#include "revision/stored_trees.h"
#include "rows/audit.h"

namespace agentr {
namespace {

ExitCode Run(const PathCollectOptions& options, const OptionSet& resolved, Workbench& workbench) {
  if (!options.audit.empty()) return AuditFile(options.audit, options.input.task);
  const std::string& type = options.revise.data_type;
  const auto job = type == "preferences"  ? CollectPreferences
                   : type == "judgements" ? CollectJudgements
                                          : PathCollect;
  if (options.store.url.empty()) return job(options, resolved, workbench);
  return OnStoredTrees(job, options, resolved, workbench);
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunProgram(
      argc, argv,
      {"path_collect",
       "Makes training data from search trees: a failed path is cut at its first error and\n"
       "continued with a turn that admits the mistake and with a path that succeeds. Each row is\n"
       "replayed in the environment before it is written. Without options it uses the latest\n"
       "output of mcts_collect.",
       "  path_collect --revise 1\n"
       "  path_collect --task textcraft --data_type good\n"
       "  path_collect --verifier actor --model_dir models/my-model --format tokens\n"
       "  path_collect --verifier actor --llm_base http://127.0.0.1:8000/v1 --model_name my-model"},
      agentr::Run);
}
