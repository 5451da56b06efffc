// mcts_collect: searches a tree for each task and writes it.
#include "apps/wiring.h"
#include "mcts/mcts_collect.h"

int main(int argc, char** argv) {
  return agentr::RunProgram(
      argc, argv,
      {"mcts_collect",
       "Collects trajectories by Monte Carlo tree search in an environment: one tree per task,\n"
       "many trees at once. Without options it starts an embedded server and searches with a\n"
       "scripted planner. It can be killed at any time: the same command continues where it\n"
       "stopped.",
       "  mcts_collect --task webshop --min 0 --max 200\n"
       "  mcts_collect --env_server_base http://127.0.0.1:32361 \\\n"
       "               --llm_base http://127.0.0.1:8000/v1 --model_name my-model\n"
       "  mcts_collect --task textcraft --model_dir models/my-model --device cuda\n"
       "  mcts_collect --config mcts_result/webshop/planner/resolved.toml"},
      agentr::MctsCollect);
}
