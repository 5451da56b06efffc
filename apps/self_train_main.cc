// self_train: the whole loop. Search, revise, train, evaluate, and again.
#include "apps/wiring.h"
#include "training/loop/self_train.h"

int main(int argc, char** argv) {
  return agentr::RunProgram(
      argc, argv,
      {"self_train",
       "Lets a model improve itself: it searches tasks, its mistakes are revised, it is trained "
       "on\n"
       "the rows and evaluated on tasks that it never searched; then the better model searches\n"
       "again. Kill it at any moment: the same command goes on where it stopped.",
       "  self_train --config configs/loop/textcraft.toml --model_dir models/my-model\n"
       "  self_train --task webshop --model_dir models/my-model --iterations 1 \\\n"
       "             --collect=--max=100 --train=--lr=1e-4 --evaluate=--max=50\n"
       "  self_train --model_dir models/my-model --method good-only --name good_only"},
      agentr::SelfTrain);
}
