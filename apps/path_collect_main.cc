// path_collect: makes self-correction data out of search trees.
#include "apps/wiring.h"
#include "revision/path_collect.h"

int main(int argc, char** argv) {
  return agentr::RunProgram(
      argc, argv,
      {"path_collect",
       "Makes training data out of search trees: failed paths, cut at their first error, go on "
       "with a\n"
       "turn that owns the mistake and with a path that succeeds. Each row is run in the "
       "environment\n"
       "before it is written. With nothing set it works on what mcts_collect wrote last.",
       "  path_collect --revise 1\n"
       "  path_collect --task textcraft --data_type good\n"
       "  path_collect --verifier actor --model_dir models/my-model --format tokens\n"
       "  path_collect --verifier actor --llm_base http://127.0.0.1:8000/v1 --model_name my-model"},
      agentr::PathCollect);
}
