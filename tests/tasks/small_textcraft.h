// TextCraft with a handful of recipes, inside the test process: the rules of the real server for
// everything that the tests do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "clients/environment.h"

namespace agentr {

class SmallTextCraft {
 public:
  explicit SmallTextCraft(std::string goal) : goal_(std::move(goal)) {}

  // What can be the goal.
  static std::vector<std::string> Goals();

  std::string FirstObservation() const;
  StepResult Step(const std::string& action);

 private:
  std::string Craft(const std::string& action, double& reward);
  std::string Get(const std::string& action);
  std::string Inventory() const;

  std::string goal_;
  std::map<std::string, int> held_;
};

}  // namespace agentr
