// self_train: the whole loop of search, revision, training and evaluation.
#include "apps/wiring.h"
#include "loop/self_train.h"

int main(int argc, char** argv) {
  return agentr::RunProgram(
      argc, argv,
      {"self_train",
       "Lets a model improve itself: it searches tasks, its mistakes are revised, it is trained\n"
       "on the resulting rows and evaluated on tasks that it never searched. Then the better\n"
       "model searches again. It can be killed at any time: the same command continues where it\n"
       "stopped.",
       "  self_train --config configs/loop/textcraft.toml --model_dir models/my-model\n"
       "  self_train --task webshop --model_dir models/my-model --iterations 1 \\\n"
       "             --collect=--max=100 --train=--lr=1e-4 --evaluate=--max=50\n"
       "  self_train --model_dir models/my-model --method good-only --name good_only"},
      agentr::SelfTrain);
}
