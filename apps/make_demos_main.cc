// make_demos: demonstrations for a model that knows nothing yet.
#include "apps/program.h"
#include "demos/make_demos.h"

int main(int argc, char** argv) {
  agentr::MakeDemosOptions options;
  return agentr::RunWithOptions(
      argc, argv,
      {"make_demos",
       "Writes demonstrations with which agent_train teaches a model with random weights:\n"
       "TextCraft episodes in varied recipe books, WebShop episodes in generated shops, and\n"
       "small talk. No test task is among them.",
       "  make_demos --output_dir demos_result --seed 1\n"
       "  agent_train --model_dir models/start --data demos_result/textcraft.jsonl"},
      [&](const agentr::OptionSet& set) { return agentr::MakeDemos(options, set); }, options);
}
