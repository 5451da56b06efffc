#include "training/data/training_data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "tests/common/scratch_folder.h"
#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// Rows of an agent that has lost its way once: `rows` of each of `tasks` tasks.
std::string AgentRows(int tasks, int rows) {
  std::string text;
  for (int task_id = 0; task_id < tasks; ++task_id) {
    for (int row = 0; row < rows; ++row) {
      text += fmt::format(
          R"({{"messages":[{{"role":"user","content":"task {0}"}},{{"role":"assistant","content":"bad {1}","weight":0}},)"
          R"({{"role":"user","content":"no"}},{{"role":"assistant","content":"oh {1}","weight":1}},)"
          R"({{"role":"user","content":"ok."}},{{"role":"assistant","content":"good {0}","weight":1}}],)"
          R"("provenance":{{"task":{0},"nodes":{{"good":1,"bad":2}}}}}})"
          "\n",
          task_id, row);
    }
  }
  return text;
}

class TrainingDataTest : public ::testing::Test {
 protected:
  DataOptions Options(const std::string& rows) {
    const std::string path = folder_.Write("rows.jsonl", rows).string();
    return {.data = {path}, .held_out = 0, .batch_rows = 8};
  }
  std::string Text(const TrainingRow& row) const { return text_.tokenizer->Decode(row.ids); }
  std::string Refusal(const DataOptions& options, int64_t steps = 1) const {
    return FatalErrorOf([&] {
      TrainingData data(options, text_);
      for (int64_t i = 0; i < steps; ++i) data.ReadStep(i);
    });
  }

  const ScratchFolder folder_;
  const RowTokenizer text_ = GoldenRowTokenizer("qwen2");
};

TEST_F(TrainingDataTest, AgentRRowsOfTheOldKindAreRefusedByTheirProvenance) {
  const std::string row = R"({"task_num":3,"revise_log":[{"role":"user","content":"u"},)"
                          R"({"role":"assistant","content":"a","loss":true}],"low_log":[]})"
                          "\n";
  const DataOptions options = Options(row);
  EXPECT_EQ(Refusal(options), "") << "rows of others have no provenance beside them";
  folder_.Write("rows.provenance.jsonl", "{\"tree\":\"t.json\",\"task\":3,\"nodes\":{}}\n");
  EXPECT_THAT(Refusal(options), HasSubstr("rows.provenance.jsonl says: a row of version 1"));
  folder_.Write("rows.provenance.jsonl", "{\"version\":2,\"tree\":\"t.json\",\"task\":3}\n");
  EXPECT_EQ(Refusal(options), "");
}

TEST_F(TrainingDataTest, NamesTheKeysOfMessagesThatItDoesNotRead) {
  EXPECT_EQ(TrainingData(Options(AgentRows(2, 2)), text_).Unread(), "");
  const std::string scored = R"({"messages":[{"role":"user","content":"u"},)"
                             R"({"role":"assistant","content":"a","score":0.5}]})"
                             "\n";
  DataOptions options = Options(scored + scored + "a line that is no JSON\n");
  const std::string name = options.data[0];
  EXPECT_EQ(TrainingData(options, text_).Unread(),
            name + ": 2 messages have \"score\", which is not read");
  std::string many;
  for (int64_t i = 0; i < TrainingData::kLookedAt + 1; ++i) many += scored;
  options.data.push_back(folder_.Write("many.jsonl", many).string());
  EXPECT_THAT(TrainingData(options, text_).Unread(),
              EndsWith("\n" + options.data[1] +
                       " (its first 1000 rows): 1000 messages have "
                       "\"score\", which is not read"));
}

TEST_F(TrainingDataTest, AnEpochHasEveryRowOnce) {
  TrainingData data(Options(AgentRows(10, 3)), text_);
  EXPECT_EQ(data.rows(), 30);
  EXPECT_EQ(data.steps_per_epoch(), 4);
  std::multiset<std::string> seen;
  RowCounts counts;
  for (int64_t i = 0; i < 4; ++i) {
    const StepRows step = data.ReadStep(i);
    for (const TrainingRow& row : step.rows) seen.insert(Text(row));
    counts += step.counts;
    EXPECT_TRUE(std::ranges::is_sorted(step.rows, {}, &TrainingRow::ids));
  }
  EXPECT_EQ(seen.size(), 30U);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 30U);
  EXPECT_EQ(counts.rows, 30);
  EXPECT_GT(counts.trained, 30 * 2);
}

TEST_F(TrainingDataTest, GoesOnAtEveryStepAsIfItHadNeverStopped) {
  DataOptions options = Options(AgentRows(7, 3));
  options.data = {options.data[0] + ":0.2",
                  folder_.Write("chat.jsonl", R"({"messages":[{"role":"user","content":"a"},)"
                                              R"({"role":"assistant","content":"b"}]})")
                          .string() +
                      ":0.8"};
  TrainingData whole(options, text_);
  std::vector<StepRows> steps;
  for (int64_t i = 0; i < 12; ++i) steps.push_back(whole.ReadStep(i));
  for (int64_t from = 0; from < 12; ++from) {
    TrainingData resumed(options, text_);
    EXPECT_EQ(resumed.data_hash(), whole.data_hash());
    for (int64_t i = from; i < 12; ++i) {
      ASSERT_EQ(resumed.ReadStep(i).rows, steps[static_cast<size_t>(i)].rows) << from << " " << i;
    }
  }
}

TEST_F(TrainingDataTest, TheHashTellsWhatDecidesTheOrder) {
  const DataOptions options = Options(AgentRows(4, 2));
  const auto hash = [&](const std::function<void(DataOptions&)>& change) {
    DataOptions changed = options;
    change(changed);
    return TrainingData(changed, text_).data_hash();
  };
  std::set<std::string> hashes = {hash([](DataOptions&) {}),
                                  hash([](DataOptions& o) { o.seed = 1; }),
                                  hash([](DataOptions& o) { o.batch_rows = 9; }),
                                  hash([](DataOptions& o) { o.held_out = 0.01; }),
                                  hash([](DataOptions& o) { o.max_length = 100; }),
                                  hash([](DataOptions& o) { o.too_long = TooLong::kDrop; }),
                                  hash([](DataOptions& o) { o.data[0] += ":1"; }),
                                  hash([](DataOptions& o) { o.data.push_back(o.data[0]); }),
                                  hash([&](DataOptions& o) {
                                    o.data[0] =
                                        folder_.Write("other.jsonl", AgentRows(4, 3)).string();
                                  })};
  EXPECT_EQ(hashes.size(), 9U);
  // What only decides how it is computed does not.
  EXPECT_EQ(hash([](DataOptions& o) { o.share_prefixes = false; }), hash([](DataOptions&) {}));
  EXPECT_EQ(hash([](DataOptions& o) { o.batch_tokens = 99999; }), hash([](DataOptions&) {}));
}

TEST_F(TrainingDataTest, ATaskIsHeldOutWholeInEveryFile) {
  DataOptions options = Options(AgentRows(200, 2));
  options.data.push_back(folder_.Write("more.jsonl", AgentRows(200, 1)).string());
  options.held_out = 0.25;
  options.batch_rows = 1000;
  TrainingData data(options, text_);
  EXPECT_EQ(data.rows() + data.held_out_rows(), 600);
  EXPECT_EQ(data.held_out_rows() % 3, 0);
  EXPECT_NEAR(static_cast<double>(data.held_out_rows()), 150, 60);
  const auto tasks = [&](const StepRows& rows) {
    std::set<std::string> found;
    for (const TrainingRow& row : rows.rows) {
      const std::string text = Text(row);
      const size_t at = text.find("user\ntask ");
      found.insert(text.substr(at, text.find('<', at) - at));
    }
    return found;
  };
  const std::set<std::string> trained = tasks(data.ReadStep(0));
  const StepRows held_out = data.ReadHeldOut(100000);
  EXPECT_EQ(std::ssize(held_out.rows), data.held_out_rows());
  for (const std::string& task : tasks(held_out)) EXPECT_FALSE(trained.contains(task)) << task;
  EXPECT_EQ(trained.size() + tasks(held_out).size(), 200U);
  EXPECT_EQ(data.ReadHeldOut(10).rows.size(), 10U);
  EXPECT_EQ(data.ReadHeldOut(10).rows, data.ReadHeldOut(10).rows);
  options.seed = 1;
  EXPECT_NE(tasks(TrainingData(options, text_).ReadHeldOut(100000)), tasks(held_out));
}

TEST_F(TrainingDataTest, RowsThatAreTooLongAreMissingAndCounted) {
  DataOptions options = Options(AgentRows(3, 2));
  options.max_length = 20;
  options.too_long = TooLong::kDrop;
  TrainingData data(options, text_);
  const StepRows step = data.ReadStep(0);
  EXPECT_TRUE(step.rows.empty());
  EXPECT_EQ(step.counts, (RowCounts{.rows = 6, .dropped = 6}));
}

TEST_F(TrainingDataTest, ErrorsNameFileAndLine) {
  const std::string good = AgentRows(1, 1);
  EXPECT_THAT(Refusal(Options("\n" + good + "{\"messages\":[\n")),
              HasSubstr("rows.jsonl:3: not a JSON value at column"));
  EXPECT_THAT(Refusal(Options(good + R"({"messages":[{"role":"user","content":"x"}]})")),
              HasSubstr("rows.jsonl:2: nothing to learn"));
  EXPECT_THAT(Refusal(Options(good + R"({"messages":[{"role":"x","content":"x"},)"
                                     R"({"role":"assistant","content":"y"}]})")),
              HasSubstr("rows.jsonl:2: the chat template chatml cannot express"));
  EXPECT_THAT(Refusal(Options(good + R"({"ids":[1,2],"loss":[0,1],"tokenizer":"of others"})")),
              HasSubstr("rows.jsonl:2: a token row of another tokenizer"));
  DataOptions error = Options(good);
  error.max_length = 10;
  error.too_long = TooLong::kError;
  EXPECT_THAT(Refusal(error), HasSubstr("rows.jsonl:1: "));
  // The first row is looked at when the file is opened.
  EXPECT_THAT(Refusal(Options("[1]\n" + good), 0), HasSubstr("rows.jsonl:1: a list"));
}

TEST_F(TrainingDataTest, BadOptionsAreRefused) {
  DataOptions options = Options(AgentRows(3, 1));
  options.data.push_back(options.data[0] + ":0.5");
  EXPECT_THAT(Refusal(options), HasSubstr("some files of --data have a weight and some have none"));
  options = Options(AgentRows(1, 1));
  options.held_out = 1;
  EXPECT_THAT(Refusal(options), HasSubstr("lower --held_out"));
}

TEST_F(TrainingDataTest, SaysWhatItFound) {
  DataOptions options = Options(AgentRows(3, 1));
  options.data = {options.data[0] + ":1",
                  folder_.Write("s.jsonl", R"({"conversations":[{"from":"human","value":"u"},)"
                                           R"({"from":"gpt","value":"a"}]})")
                          .string() +
                      ":3"};
  const std::string text = TrainingData(options, text_).Describe();
  EXPECT_THAT(text,
              HasSubstr("rows.jsonl: 3 rows, format messages, 0 held out, 25.0 % of what is"));
  EXPECT_THAT(text, HasSubstr("s.jsonl: 1 rows, format sharegpt, 0 held out, 75.0 % of what is"));
}

TEST_F(TrainingDataTest, InspectShowsRowsAsTheyAreTrained) {
  TrainingData data(Options(AgentRows(3, 1)), text_);
  const std::string shown = data.Inspect(2, false);
  EXPECT_THAT(shown, HasSubstr("row 1, "));
  EXPECT_THAT(shown, HasSubstr("row 2, "));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("row 3, ")));
  EXPECT_THAT(shown, HasSubstr("assistant\\n\nbad 0<|im_end|>"));
  EXPECT_THAT(shown, HasSubstr("assistant\\n\n⟦oh 0<|im_end|>⟧"));
  EXPECT_THAT(data.Inspect(100, true), HasSubstr("\x1b[33moh 0<|im_end|>\x1b[0m"));
}

}  // namespace
}  // namespace agentr
