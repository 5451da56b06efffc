#include "training/data/training_data.h"

#include <fmt/core.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/error.h"
#include "common/fingerprint.h"
#include "common/handoff.h"
#include "common/hash.h"
#include "common/random.h"
#include "rows/provenance.h"
#include "rows/row_reader.h"
#include "training/data/batch_builder.h"
#include "training/data/parsed_row.h"
#include "training/data/show_row.h"

namespace agentr {
namespace {

// What `read` makes of a row. Adds the place to an error.
template <typename Read>
auto ReadAt(const RowFile& file, int64_t row, const Read& read) {
  try {
    return read(ParseRow(file.Line(row)));
  } catch (const FatalError& error) {
    throw FatalError(error.code(), fmt::format("{}: {}", file.Place(row), error.what()));
  }
}

// Decides by the task, so that a task is on the same side in every file.
bool IsHeldOut(uint32_t group, const DataOptions& options) {
  return RandomStream(options.seed).Split("held out").Split(uint64_t{group}).Uniform() <
         options.held_out;
}

// The rows in the order of the files, grouped by task.
RowPool PoolOf(const std::vector<RowId>& rows, const std::vector<std::unique_ptr<RowFile>>& files) {
  std::map<uint32_t, size_t> order;  // number of each group, in the order of first appearance
  std::vector<std::vector<RowId>> groups;
  for (const RowId& row : rows) {
    const auto [at, added] = order.try_emplace(files[row.file]->group(row.row), groups.size());
    if (added) groups.emplace_back();
    groups[at->second].push_back(row);
  }
  RowPool pool;
  for (const std::vector<RowId>& group : groups) {
    pool.group_begins.push_back(pool.rows.size());
    pool.rows.insert(pool.rows.end(), group.begin(), group.end());
  }
  return pool;
}

bool Weighted(const std::vector<DataPath>& paths) {
  const auto weighted =
      std::ranges::count_if(paths, [](const DataPath& p) { return p.weight > 0; });
  if (weighted > 0 && weighted < std::ssize(paths)) {
    throw FatalError(ExitCode::kUsage,
                     "some files of --data have a weight and some have none; give all of them one, "
                     "or none (then every row is drawn once per epoch)");
  }
  return weighted > 0;
}

}  // namespace

TrainingData::TrainingData(const DataOptions& options, const RowTokenizer& text)
    : options_(options),
      tokenizer_(&text),
      encoder_(text, options.max_length, options.too_long, options.each_turn) {
  Check(options_);
  for (const std::string& value : options_.data) paths_.push_back(DataPath::Parse(value));
  const bool weighted = Weighted(paths_);
  std::vector<std::vector<RowId>> pools(weighted ? paths_.size() : 1);
  for (uint32_t file = 0; file < paths_.size(); ++file) {
    files_.push_back(std::make_unique<RowFile>(paths_[file].path));
    formats_.push_back(ReadAt(*files_[file], 0, [](const ParsedRow& row) { return row.format; }));
    if (formats_.back() == DataFormat::kAgentR) RefuseOldRowsBeside(paths_[file].path);
    for (uint32_t row = 0; row < files_[file]->rows(); ++row) {
      const bool held_out = IsHeldOut(files_[file]->group(row), options_);
      (held_out ? held_out_ : pools[weighted ? file : 0]).push_back({file, row});
    }
  }
  std::vector<RowPool> made;
  for (size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].empty()) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("no rows of {} are left to train on: its tasks are all held "
                                   "out; lower --held_out (0: none), or choose another --seed",
                                   weighted ? paths_[i].path : "--data"));
    }
    made.push_back(PoolOf(pools[i], files_));
    if (weighted) made.back().weight = paths_[i].weight;
  }
  RandomStream(options_.seed).Split("held-out order").Shuffle(held_out_);
  order_ = std::make_unique<RowOrder>(std::move(made), options_.batch_rows, options_.seed);
  data_hash_ = Hash();
}

std::string TrainingData::Hash() const {
  const nlohmann::ordered_json options = FingerprintOf(options_);
  nlohmann::ordered_json later = ChangedOptions(options_);
  later.erase("data");           // its files and weights follow
  later.erase("chat_template");  // as does its name
  nlohmann::ordered_json first;  // in the order of the first checkpoints
  for (const char* name : {"seed", "batch_rows", "held_out", "max_length", "too_long"}) {
    first[name] = options.at(name);
    later.erase(name);
  }
  std::string all =
      fmt::format("{} {} {}\n", ValuesText(first), tokenizer_->hash, tokenizer_->chat->name());
  if (!later.empty()) all += later.dump() + "\n";
  for (size_t i = 0; i < files_.size(); ++i) {
    all += fmt::format("{} {}\n", paths_[i].weight, files_[i]->hash());
  }
  return Sha256(all);
}

std::string TrainingData::Describe() const {
  double weights = 0;
  std::vector<int64_t> held_out(files_.size());
  for (const DataPath& path : paths_) weights += path.weight;
  for (const RowId& row : held_out_) ++held_out[row.file];
  std::string text;
  for (size_t i = 0; i < files_.size(); ++i) {
    text += fmt::format("{}: {} rows, format {}, {} held out", paths_[i].path, files_[i]->rows(),
                        NamesOf(formats_[i]).name, held_out[i]);
    if (weights > 0)
      text += fmt::format(", {:.1f} % of what is drawn", 100 * paths_[i].weight / weights);
    text += "\n";
  }
  return text;
}

std::string TrainingData::Unread() const {
  std::string text;
  for (const std::unique_ptr<RowFile>& file : files_) {
    const int64_t rows = std::min(file->rows(), kLookedAt);
    std::vector<UnreadKeys> found(static_cast<size_t>(rows));
    Handoff handoff;
    handoff.Give();
    tbb::parallel_for(int64_t{0}, rows, [&](int64_t row) {
      const HandoffScope scope(handoff);
      try {
        found[static_cast<size_t>(row)] = agentr::ReadRow(file->Line(row)).unread;
      } catch (const FatalError&) {
        // A row that cannot be read is refused when its step is read.
      }
    });
    handoff.Take();
    UnreadKeys unread;
    for (const UnreadKeys& keys : found) {
      for (const auto& [key, messages] : keys) unread[key] += messages;
    }
    std::string name = file->path().string();
    if (rows < file->rows()) name += fmt::format(" (its first {} rows)", rows);
    if (!unread.empty()) text += (text.empty() ? "" : "\n") + UnreadWarning(name, unread);
  }
  return text;
}

std::vector<TrainingRow> TrainingData::ReadRow(RowId id, RowCounts& counts) const {
  return ReadAt(*files_[id.file], id.row,
                [&](const ParsedRow& row) { return encoder_.EncodeTurns(row, counts); });
}

StepRows TrainingData::Read(const std::vector<RowId>& ids) const {
  std::vector<std::vector<TrainingRow>> rows(ids.size());
  std::vector<RowCounts> counts(ids.size());
  Handoff handoff;
  handoff.Give();
  tbb::parallel_for(size_t{0}, ids.size(), [&](size_t i) {
    const HandoffScope scope(handoff);
    rows[i] = ReadRow(ids[i], counts[i]);
  });
  handoff.Take();
  std::vector<const TrainingRow*> sorted;
  for (const std::vector<TrainingRow>& sequences : rows) {
    for (const TrainingRow& row : sequences) sorted.push_back(&row);
  }
  SortForSharing(sorted);
  StepRows step;
  for (const TrainingRow* row : sorted) step.rows.push_back(*row);
  for (const RowCounts& count : counts) step.counts += count;
  return step;
}

StepRows TrainingData::ReadStep(int64_t step) { return Read(order_->Step(step)); }

StepRows TrainingData::ReadHeldOut(int64_t most) const {
  std::vector<RowId> ids = held_out_;
  if (static_cast<int64_t>(ids.size()) > most) ids.resize(static_cast<size_t>(most));
  return Read(ids);
}

std::string TrainingData::Inspect(int count, bool color) {
  std::string text;
  int shown = 0;
  for (int64_t step = 0; shown < count && step < steps_per_epoch(); ++step) {
    for (const RowId& id : order_->Step(step)) {
      if (shown == count) break;
      RowCounts counts;
      const std::string place = files_[id.file]->Place(id.row);
      const std::vector<TrainingRow> sequences = ReadRow(id, counts);
      text += fmt::format("row {}, {}: ", ++shown, place);
      if (sequences.empty()) {
        text += fmt::format("left out, longer than {} tokens\n", options_.max_length);
        continue;
      }
      text += fmt::format("{} tokens, {} of them trained", counts.tokens, counts.trained);
      if (counts.cut > 0) text += fmt::format(", without {} turns", counts.dropped_turns);
      if (counts.rewritten_tokens > 0) {
        text += fmt::format(", {} in turns that the template rewrites", counts.rewritten_tokens);
      }
      text += "\n";
      for (const TrainingRow& row : sequences) {
        text += ShowRow(row, *tokenizer_->tokenizer, color);
      }
    }
  }
  return text;
}

}  // namespace agentr
