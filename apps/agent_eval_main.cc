// agent_eval: plays the tasks of a test split and says how well it went.
#include "apps/wiring.h"
#include "eval/agent_eval.h"

int main(int argc, char** argv) {
  return agentr::RunProgram(
      argc, argv,
      {"agent_eval",
       "Evaluates a model as an agent: plays each task of a split, many at once, and prints\n"
       "rewards, successes and what went wrong. With nothing set it plays the 200 test tasks of\n"
       "an embedded WebShop with a scripted planner. Kill it at any moment: the same command\n"
       "goes on where it stopped.",
       "  agent_eval --max_steps 30\n"
       "  agent_eval --task textcraft --attempts 4 --model_dir models/my-model\n"
       "  agent_eval --llm_base http://127.0.0.1:8000/v1 --model_name my-model\n"
       "  agent_eval --compare test_result/webshop/before_local test_result/webshop/after_local\n"
       "  agent_eval --revision_from test_result/webshop/my-model_local --model_dir models/other"},
      agentr::AgentEval);
}
