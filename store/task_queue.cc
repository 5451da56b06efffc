#include "store/task_queue.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "common/error.h"
#include "common/text.h"
#include "store/blob.h"

namespace agentr {
namespace {

constexpr size_t kMostInBatch = 4096;
constexpr size_t kWindow = 256;          // tasks whose states one statement looks at, at least
constexpr size_t kMostInserted = 50000;  // tasks that one statement adds

// What is known of a task of another worker is asked for again after this time.
constexpr std::chrono::milliseconds kLookAgain(500);
// A batch that is used up faster than this was too small, one that takes longer too large.
constexpr std::chrono::milliseconds kQuick(100);
constexpr std::chrono::milliseconds kSlow(1000);

// Claims up to $4 of the tasks $2 that nobody alive has, in their order. A task that is this
// worker's ($3) already was claimed by a statement whose answer got lost. Returns for each task its
// place in $2 and whether it was claimed, is done, is free, or is taken. "key = ANY ($2)", although
// it follows from the joins, makes the server use the index instead of reading the whole table.
constexpr const char* kClaim = R"(
WITH asked AS (SELECT key, place FROM unnest($2::bigint[]) WITH ORDINALITY AS a (key, place)),
live AS MATERIALIZED (SELECT id FROM agentr.live_worker WHERE run = $1),
free AS (
  SELECT task.key FROM agentr.task JOIN asked USING (key)
  WHERE task.run = $1 AND task.key = ANY ($2) AND task.finished_at IS NULL AND (task.worker IS NULL OR task.worker = $3
    OR task.worker NOT IN (SELECT id FROM live))
  ORDER BY asked.place LIMIT $4 FOR UPDATE OF task SKIP LOCKED),
claimed AS (
  UPDATE agentr.task SET worker = $3, claimed_at = now(), error = NULL
  FROM free WHERE task.run = $1 AND task.key = ANY ($2) AND task.key = free.key
  RETURNING task.key)
SELECT asked.place, CASE
  WHEN claimed.key IS NOT NULL THEN 'claimed'
  WHEN task.finished_at IS NOT NULL THEN 'done'
  WHEN task.worker IS NULL OR task.worker NOT IN (SELECT id FROM live) THEN 'free'
  ELSE 'taken' END
FROM agentr.task JOIN asked USING (key) LEFT JOIN claimed USING (key)
WHERE task.run = $1 AND task.key = ANY ($2))";

// Returns a row if the result is the task's now, also if an earlier try, whose answer got lost, has
// stored it.
constexpr const char* kCommit = R"(
WITH stored AS (
  UPDATE agentr.task SET finished_at = now(), error = NULL, body = $4, bytes = $5, sha256 = $6
  WHERE run = $1 AND key = $2 AND worker = $3 AND finished_at IS NULL RETURNING key)
SELECT 1 FROM stored UNION ALL
SELECT 1 FROM agentr.task
WHERE run = $1 AND key = $2 AND worker = $3 AND finished_at IS NOT NULL)";

}  // namespace

TaskQueue::TaskQueue(const StoreOptions& store, const RunKey& key, const std::string& options)
    : store_(store), key_(key), database_(store), run_(FindOrMakeRun(database_, key, options)) {}

void TaskQueue::Join(const std::vector<int64_t>& keys) {
  std::vector<int64_t> sorted = keys;
  std::ranges::sort(sorted);  // workers that add tasks at the same time must not wait in a circle
  for (size_t begin = 0; begin < sorted.size(); begin += kMostInserted) {
    const size_t end = std::min(sorted.size(), begin + kMostInserted);
    const std::vector<int64_t> part(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                                    sorted.begin() + static_cast<std::ptrdiff_t>(end));
    database_.Query(
        "INSERT INTO agentr.task (run, key) SELECT $1, unnest($2::bigint[]) ON CONFLICT DO NOTHING",
        {run_.id, part});
  }
  lease_ = std::make_unique<WorkerLease>(store_, database_, run_.id);
  const std::lock_guard lock(mutex_);
  for (const int64_t key : keys) {
    if (places_.emplace(key, tasks_.size()).second) tasks_.push_back({key});
  }
}

bool TaskQueue::IsOpen(State state) {
  return state == State::kUnknown || state == State::kTaken || state == State::kReleased;
}

Claim TaskQueue::TryClaim(int64_t key) {
  const std::lock_guard lock(mutex_);
  const size_t place = places_.at(key);
  Task& task = tasks_[place];
  const bool fresh = Clock::now() - task.looked_at < kLookAgain;
  if (IsOpen(task.state) && !(task.state == State::kTaken && fresh)) Fetch(place);
  switch (task.state) {
    case State::kReady:
      task.state = State::kMine;
      return Claim::kMine;
    case State::kDone:
      return Claim::kDone;
    case State::kMine:
      return Claim::kTaken;
    case State::kReleased:
    case State::kUnknown:  // another worker was claiming it at this moment
    case State::kTaken:
      break;
  }
  return Claim::kLater;
}

void TaskQueue::Fetch(size_t place) {
  ChooseBatch();
  const size_t window = std::max(kWindow, batch_);
  std::vector<size_t> places;
  std::vector<int64_t> keys;
  size_t ready = 0;
  for (size_t i = 0; i < tasks_.size() && keys.size() < window; ++i) {
    const size_t at = (place + i) % tasks_.size();
    const State state = tasks_[at].state;
    if (state == State::kReady) ++ready;
    if (!IsOpen(state) || (state == State::kReleased && at != place)) continue;
    places.push_back(at);
    keys.push_back(tasks_[at].key);
  }
  const size_t wanted = batch_ > ready ? batch_ - ready : 1;
  const SqlRows rows = database_.Query(kClaim, {run_.id, keys, lease_->worker(), wanted});
  if (static_cast<size_t>(rows.size()) != keys.size()) {
    throw FatalError(ExitCode::kFile, fmt::format("tasks of {} were removed during the run; run "
                                                  "the same command again to do them",
                                                  this->place()));
  }
  fetched_at_ = Clock::now();
  for (int row = 0; row < rows.size(); ++row) {
    Task& task = tasks_[places[static_cast<size_t>(rows.Int(row, 0)) - 1]];
    const std::string_view state = rows.Text(row, 1);
    task.state = state == "claimed" ? State::kReady
                 : state == "done"  ? State::kDone
                 : state == "taken" ? State::kTaken
                                    : State::kUnknown;
    task.looked_at = fetched_at_;
  }
}

void TaskQueue::ChooseBatch() {
  const auto used_for = Clock::now() - fetched_at_;
  if (used_for < kQuick) batch_ = std::min(batch_ * 2, kMostInBatch);
  if (used_for > kSlow) batch_ = std::max<size_t>(batch_ / 2, 1);
}

void TaskQueue::Set(int64_t key, State state) {
  const std::lock_guard lock(mutex_);
  Task& task = tasks_[places_.at(key)];
  task.state = state;
  task.looked_at = Clock::now();
}

bool TaskQueue::Commit(int64_t key, std::string_view result) {
  Blob blob = Pack(result);
  const SqlRows rows =
      database_.Query(kCommit, {run_.id, key, lease_->worker(),
                                SqlValue::Bytes(std::move(blob.body)), blob.bytes, blob.sha256});
  const bool stored = rows.size() > 0;
  Set(key, stored ? State::kDone : State::kTaken);
  if (!stored) {
    spdlog::warn(
        "task {}: another worker has taken it over, because this one gave no sign of life for {} s "
        "(--store_lease); its result is discarded",
        key, store_.lease_s);
  }
  return stored;
}

void TaskQueue::Release(int64_t key, std::string_view error) {
  database_.Query(
      "UPDATE agentr.task SET worker = NULL, error = NULLIF($4, '')"
      " WHERE run = $1 AND key = $2 AND worker = $3 AND finished_at IS NULL",
      {run_.id, key, lease_->worker(), EscapeControls(error)});
  Set(key, State::kReleased);
}

int64_t TaskQueue::CountDone(const std::vector<int64_t>& keys) const {
  const SqlRows rows = database_.Query(
      "SELECT count(*) FROM agentr.task"
      " WHERE run = $1 AND finished_at IS NOT NULL AND key = ANY ($2::bigint[])",
      {run_.id, keys});
  return rows.Int(0, 0);
}

std::vector<int64_t> TaskQueue::Done() const {
  std::vector<int64_t> keys;
  for (const ResultHash& result : HashesOf(database_, run_.id)) keys.push_back(result.key);
  return keys;
}

std::string TaskQueue::Load(int64_t key) {
  try {
    return LoadResult(database_, run_.id, key, fmt::format("task {} of {}", key, place()));
  } catch (const DamagedData&) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);  // not there if only other workers do this task
    if (found != places_.end()) tasks_[found->second].state = State::kUnknown;
    throw;
  }
}

std::string TaskQueue::place() const {
  return fmt::format("run {} of {}", key_.name, database_.place());
}

}  // namespace agentr
