// Any bytes as loop.json are either refused with an error that names the file, or a record from
// which the table of a run can be made.
#include <cstdint>
#include <string>
#include <vector>

#include "common/error.h"
#include "loop/loop_record.h"
#include "loop/loop_table.h"
#include "tests/fuzz/fuzz_input.h"

using agentr::Check;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const agentr::ScratchFolder& folder = agentr::FuzzFolder();
  folder.Write("loop.json", std::string(agentr::AsText(data, size)));
  std::filesystem::create_directories(folder / "textcraft/m_local");  // of episodes, none
  const std::vector<agentr::LoopStage> plan = {
      {"iteration_0/evaluate",
       "agent_eval",
       0,
       {"--task=textcraft", "--model_name=m"},
       folder.path()},
      {"iteration_1/revise_good", "path_collect", 1, {"--task=textcraft"}, "none"},
      {"iteration_1/train", "agent_train", 1, {}, "none"}};
  try {
    const agentr::LoopRecord record(folder.path());
    agentr::LoopTable(plan, record);
    for (const agentr::LoopStage& stage : plan) record.Has(stage);
  } catch (const agentr::FatalError& error) {
    Check(std::string_view(error.what()).find("loop.json") != std::string_view::npos);
    Check(error.code() == agentr::ExitCode::kFile || error.code() == agentr::ExitCode::kUsage);
  }
  return 0;
}
