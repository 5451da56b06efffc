// make_demos: demonstrations for a model that knows nothing yet.
#include "common/error.h"
#include "common/logging.h"
#include "common/options.h"
#include "training/demos/make_demos.h"

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::MakeDemosOptions options;
    agentr::LogOptions log;
    agentr::OptionSet set("make_demos",
                          "Writes demonstrations with which agent_train teaches a model with\n"
                          "random weights to play tasks: episodes of training tasks only, in\n"
                          "recipe books with varied names and recipes.",
                          "  make_demos --output_dir demos_result --seed 1\n"
                          "  agent_train --model_dir models/start \\\n"
                          "              --data demos_result/textcraft.jsonl");
    Declare(set, options);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    InitLogging(log);
    return MakeDemos(options, set);
  });
}
