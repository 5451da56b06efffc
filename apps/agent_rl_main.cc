// agent_rl: a language model learns from reward.
#include "apps/wiring.h"
#include "rl/agent_rl.h"

int main(int argc, char** argv) {
  agentr::AgentRlOptions options;
  return agentr::RunWithOptions(
      argc, argv,
      {"agent_rl",
       "A language model learns from reward: it plays environments in this process, or learns\n"
       "from recorded episodes. After a kill the same command continues the run and gives the\n"
       "same bytes.",
       "  agent_rl --algorithm filtered_bc --task echo --player random --model_dir bundled\n"
       "  agent_rl --config configs/rl/glam_small.toml --model_dir rl_result/bc-babyai/model\n"
       "  agent_rl --config configs/rl/grpo_online.toml --model_dir bundled\n"},
      [&](const agentr::OptionSet& set) {
        agentr::FindNamedModel(options.start.dir);
        agentr::ProgramWorkbench workbench;  // of its environments only
        return AgentRl(options, set, &workbench);
      },
      options);
}
