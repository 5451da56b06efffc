// agent_train: fine-tunes a language model on the rows of path_collect.
#include "apps/program.h"
#include "training/agent_train.h"

int main(int argc, char** argv) {
  agentr::AgentTrainOptions options;
  return agentr::RunWithOptions(
      argc, argv,
      {"agent_train",
       "Fine-tunes a language model on agent rows. What rows of a task have in common is computed\n"
       "once; loss is taken only where a row says so. Without --data it trains on what "
       "path_collect\n"
       "wrote last. A run that was killed goes on with the same command, to the same bytes.",
       "  agent_train --model_dir models/my-model\n"
       "  agent_train --config configs/train/agent_r.toml --model_dir models/my-model\n"
       "  agent_train --model_dir models/my-model --data path_result/webshop_revise.jsonl:0.2 \\\n"
       "              --data general.jsonl:0.8\n"
       "  agent_train --model_dir models/my-model --lora_rank 16 --inspect 3"},
      [&](const agentr::OptionSet& set) { return AgentTrain(options, set); }, options);
}
