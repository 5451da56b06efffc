// agent_train: fine-tunes a language model on the rows of path_collect.
#include "apps/wiring.h"
#include "loop/training_plays.h"

int main(int argc, char** argv) {
  agentr::AgentTrainOptions options;
  agentr::TrainingPlayOptions plays;
  return agentr::RunWithOptions(
      argc, argv,
      {"agent_train",
       "Fine-tunes a language model on agent rows. The common beginning of rows is computed\n"
       "once, and only the tokens that a row marks count in the loss. Without --data it trains\n"
       "on the latest output of path_collect. After a kill the same command continues the run\n"
       "and gives the same bytes.",
       "  agent_train --model_dir models/my-model\n"
       "  agent_train --config configs/train/agent_r.toml --model_dir models/my-model\n"
       "  agent_train --model_dir models/my-model \\\n"
       "              --data path_result/webshop_centric.messages.jsonl:0.2 \\\n"
       "              --data general.jsonl:0.8\n"
       "  agent_train --model_dir models/my-model --lora_rank 16 --inspect 3\n"
       "  agent_train --model_dir models/my-model --play_every 100 --play=--task=webshop"},
      [&](const agentr::OptionSet& set) {
        agentr::FindNamedModel(options.start.dir);
        agentr::ModelFolderOptions local;
        local.chat_template = options.data.chat_template;
        local.decoder.threads = options.threads;
        agentr::ProgramWorkbench workbench(local);
        return AgentTrainWithPlays(options, plays, set, workbench);
      },
      options, plays);
}
