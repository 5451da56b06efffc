// What a run of agent_train opens before its first step, as the options say.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "lm/weights/model_config.h"
#include "training/agent_train.h"
#include "training/data/training_data.h"
#include "training/distributed/job.h"
#include "training/model/network.h"

namespace agentr {

// The file of rows that path_collect wrote last. Throws FatalError if there is none.
std::string NewestRows();

at::ScalarType ComputeType(const AgentTrainOptions& o, const ModelConfig& config);
WeightType ExportType(const AgentTrainOptions& o, const ModelConfig& config);
std::string TypeName(at::ScalarType type);

NetworkOptions NetworkOptionsOf(const AgentTrainOptions& o, const ModelConfig& config,
                                const ProcessGroup* group);

// Rank 0 opens the data first, because it writes the indices of large files, which the others then
// read. `group`: null for a job of one process.
TrainingData OpenData(const AgentTrainOptions& o, const RowTokenizer& text, ProcessGroup* group);

// The cost of a pair of attention relative to that of a token in the linear layers, both counted in
// multiply-adds.
double PairCost(const ModelConfig& config);

// Throws FatalError(kFile) after a run that took no step, because every row was too long.
void CheckSomeRowsFit(int64_t steps, int64_t max_length);
// Logs which keys of messages are not read (TrainingData::Unread).
void WarnOfUnread(const TrainingData& data);

// Logs how many of the rows that were read were left out.
void WarnOfLongRows(const RowCounts& counts, int64_t max_length);

// Logs how many rows and trained tokens stand in turns that the chat template rewrites, and what is
// done with them.
void TellRewrittenTurns(const RowCounts& counts, bool each_turn);

// The smallest number of steps in which at least `tokens` tokens are trained.
int64_t StepsForTokens(TrainingData& data, int64_t tokens);

}  // namespace agentr
