// The published train and test ids of each task family (configs/splits, where their source stands),
// so that nobody searches or trains on what is tested on.
#pragma once

#include <string_view>
#include <vector>

namespace agentr {

// Of which tasks: --split.
enum class SplitPart { kTrain, kTest, kAll };

// "train", "test" or "all". Throws FatalError(kUsage) for anything else.
SplitPart ParseSplitPart(std::string_view name);

class Split {
 public:
  Split() = default;
  Split(std::vector<int> test, std::vector<int> train);  // in any order

  // Sorted; empty where none is published.
  const std::vector<int>& test() const { return test_; }
  const std::vector<int>& train() const { return train_; }

  bool IsTest(int id) const;

  // True if the task belongs to the part. Every id that is not a test id may be trained on,
  // published as a train id or not.
  bool Has(SplitPart part, int id) const;

 private:
  std::vector<int> test_;
  std::vector<int> train_;
};

// Throws FatalError(kUsage) for the test part of a family of which no test ids are published. All
// of its ids are train ids.
void CheckPublished(SplitPart part, std::string_view family);

// The split of a family by its name; an empty one where none is published.
const Split& SplitOf(std::string_view family);

}  // namespace agentr
