// The job of agent_train: supervised fine-tuning of a model folder on rows, from options to an
// exported model.
//
//   OUTPUT_DIR/NAME/checkpoints/step-…   what a killed run goes on from
//                   metrics.jsonl        a line per optimiser step, and per held-out loss
//                   events.out.tfevents… the same for TensorBoard
//                   resolved.toml, run.json
//                   model/               the result: a Hugging Face folder, or PEFT's adapter
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/error.h"
#include "training/data/data_options.h"
#include "training/distributed/distributed_options.h"
#include "training/model/lora.h"
#include "training/optim/adamw.h"
#include "training/optim/schedule.h"

namespace agentr {

class OptionSet;
class WeightSnapshot;

struct AgentTrainOptions {
  std::string model_dir;      // the folder to start from
  bool from_scratch = false;  // its shape and tokenizer alone; the weights are random
  std::string initial_attention = "random";  // random | induction: of such weights
  std::string output_dir = "train_result";
  std::string name;                   // empty: that of model_dir
  std::string dtype = "auto";         // auto | float32 | bfloat16: to compute in
  std::string export_dtype = "auto";  // auto: as the start model's weights
  bool checkpoint_activations = false;
  bool merge_adapters = false;  // export the whole model in place of the adapter
  int threads = 0;              // of each process; 0: all cores, shared among them
  int epochs = 3;
  int max_steps = 0;                  // 0: as many as the epochs have
  int save_every = 100;               // steps between checkpoints
  int keep = 2;                       // last checkpoints that stay, the best one apart
  int eval_every = 100;               // steps between held-out losses
  int eval_rows = 200;                // held-out rows, at most; 0: none
  std::string export_which = "last";  // last | best: by held-out loss
  DistributedOptions distributed;
  DataOptions data;
  LoraOptions lora;
  AdamWOptions adamw;
  ScheduleOptions schedule;
};

void Declare(OptionSet& set, AgentTrainOptions& options);

// Who is shown the weights of the moment, adapters merged, in the type that they are exported in.
// In a job of many processes rank 0 alone shows them, and the others wait.
struct WeightsListener {
  int every = 0;  // steps; 0: only at the end
  // What it returns, unless null, goes into the metrics of the step.
  std::function<nlohmann::ordered_json(int64_t step, std::shared_ptr<const WeightSnapshot> weights)>
      show;
};

// Trains, from the last checkpoint where there is one, and exports. Throws FatalError.
ExitCode AgentTrain(const AgentTrainOptions& options, const OptionSet& resolved,
                    const WeightsListener& listener = {});

// OUTPUT_DIR/NAME.
std::filesystem::path TrainFolder(const AgentTrainOptions& options);

}  // namespace agentr
