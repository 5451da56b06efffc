// Plans a run of self_train: the stages of every iteration in order, each a program's job with its
// arguments. The plan is a pure function, so a killed run makes the same plan again.
//
//   OUTPUT_DIR/NAME/iteration_0/evaluate/…              the start model
//                   iteration_1/{collect,revise_centric,revise_good,train,evaluate}/…
//                   iteration_1/sample/…                with --attempts
//                   iteration_1/slip/…                  with --eval_slip
//                   iteration_1/train/model/model       the model that iteration 1 made, or, with
//                   iteration_1/prefer/model/model      --prefer_steps, this one, made from it
//                   iteration_1/collect_webshop/…       with several tasks, one stage for each
//                   loop.json                           what is finished: loop_record.h
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/secret.h"

namespace agentr {

class OptionSet;

struct SelfTrainOptions {
  std::vector<std::string> tasks = {"textcraft"};
  std::vector<std::string> task_files;  // DeclareTaskFiles
  std::string model_dir;                // the start model
  std::string output_dir = "loop_result";
  std::string name = "loop";
  int iterations = 3;
  std::string method = "agent-r";  // see Declare
  // Smallest reward of a good path, one entry per iteration; the last entry also holds for later
  // iterations. Source: Yuan et al. 2025, section 3.3.
  std::vector<std::string> alpha = {"0.5", "0.7", "1.0"};
  std::string beta = "0.2";         // a bad path is worse than its good partner by more than this
  std::string train_from = "last";  // start | last: the model with which each training begins
  std::string rows = "last";        // last | all: the iterations whose rows each training uses
  std::vector<std::string> demonstrations;  // row files, PATH or PATH:WEIGHT
  // Weight of the revised rows in the mixture, over all iterations that a training uses; the good
  // rows have 1. 0: every row is drawn as often as every other, unless demonstrations have weights.
  double revised_weight = 0;
  // Trained tokens for the rows of one iteration: a training on the rows of three has three times
  // as many, because with the same number it sees each row a third as often. 0: agent_train's own
  // rule.
  uint64_t train_tokens = 0;
  // Optimiser steps of a second training behind each, on the preferences of the rows of one
  // iteration (revision/make/correction.h); with the rows of several as many times more. 0: none.
  int prefer_steps = 0;
  int attempts = 0;      // episodes of each task in a second, sampled evaluation; 0: none
  double eval_slip = 0;  // probability of a slip in a further evaluation; 0: none
  uint64_t seed = 0;
  // As the program's model options have them (lm/model_folder.h), for the trainings: the stages
  // that play open their models by those options themselves.
  std::string chat_template = "auto";
  std::string chat_kwargs;
  std::string base_model;  // of `model_dir`, if that is an adapter
  // Further arguments of the programs, such as "--iterations=8"; "webshop:--iterations=8" is only
  // for that task.
  std::vector<Secret> collect, revise, train, prefer, evaluate;
};

void Declare(OptionSet& set, SelfTrainOptions& options);

// Throws FatalError: kUsage for inconsistent values, kFile for demonstrations that are not there.
void Check(const SelfTrainOptions& options);

// The kind of data from which training rows are made.
inline constexpr const char* kRevisedRows = "centric";
inline constexpr const char* kGoodRows = "good";

// The programs of the loop.
inline constexpr const char* kCollects = "mcts_collect";
inline constexpr const char* kRevises = "path_collect";
inline constexpr const char* kTrains = "agent_train";
inline constexpr const char* kPrefers = "agent_rl";
inline constexpr const char* kEvaluates = "agent_eval";

struct LoopStage {
  std::string name;               // "iteration_1/collect"; unique
  std::string program;            // kCollects | kRevises | kTrains | kPrefers | kEvaluates
  int iteration = 0;              // 0: the start model
  std::vector<Secret> arguments;  // such as --store=postgresql://USER:PASSWORD@HOST/DATABASE
  std::filesystem::path folder;   // folder of its results
};

// OUTPUT_DIR/NAME.
std::filesystem::path LoopFolder(const SelfTrainOptions& options);

// The folder of the model after `iteration`; 0: the start model.
std::filesystem::path ModelAfter(const SelfTrainOptions& options, int iteration);

std::vector<LoopStage> PlanLoop(const SelfTrainOptions& options);

// Adds `further` arguments to those of the stage. An argument with the same flag replaces the
// stage's own, except that --data and --pairs are added.
void AddArguments(LoopStage& stage, const std::vector<Secret>& further);

}  // namespace agentr
