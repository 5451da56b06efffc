// agent_eval: plays the tasks of a test split and reports the results.
#include "apps/wiring.h"
#include "eval/agent_eval.h"

int main(int argc, char** argv) {
  return agentr::RunProgram(
      argc, argv,
      {"agent_eval",
       "Evaluates a model as an agent: plays the tasks of a split, many at once, and prints\n"
       "rewards, successes and failures. Without options it plays the 200 test tasks of an\n"
       "embedded WebShop with a scripted planner. It can be killed at any time: the same\n"
       "command continues where it stopped.",
       "  agent_eval --max_steps 30\n"
       "  agent_eval --task textcraft --attempts 4 --model_dir models/my-model\n"
       "  agent_eval --llm_base http://127.0.0.1:8000/v1 --model_name my-model\n"
       "  agent_eval --compare test_result/webshop/before_local test_result/webshop/after_local\n"
       "  agent_eval --revision_from test_result/webshop/my-model_local --model_dir models/other"},
      agentr::AgentEval);
}
