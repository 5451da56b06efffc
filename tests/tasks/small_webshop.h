// WebShop with a handful of products, inside the test process: pages, actions and what a session
// remembers by the rules of the real server; search and reward in short.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"

namespace agentr {

class SmallWebShop {
 public:
  // Goal `goal` of Goals() (modulo their number).
  explicit SmallWebShop(size_t goal);

  struct Goal {
    std::string instruction;
    std::string id;                              // of the product to buy
    std::map<std::string, std::string> options;  // to be chosen
    double price_limit;
  };
  static const std::vector<Goal>& Goals();

  // The page now: the first observation, and what /step answers.
  std::string Page() const;
  StepResult Step(std::string_view action);

  // What was bought; "" so far.
  const std::string& bought() const { return bought_; }
  const std::map<std::string, std::string>& chosen() const { return chosen_; }

 private:
  enum class Place { kStart, kResults, kItem, kSubpage, kDone };

  void Search(std::string_view words);
  void Click(const std::string& value);
  void ClickOnItem(const std::string& value);
  void Forget();
  double Reward() const;
  void AddResults(std::vector<std::string>& pieces) const;
  void AddItem(std::vector<std::string>& pieces) const;
  std::vector<size_t> OnPage() const;

  const Goal& goal_;
  Place place_ = Place::kStart;
  std::vector<size_t> found_;
  size_t page_ = 1;
  size_t item_ = 0;
  std::string subpage_;
  std::map<std::string, std::string> chosen_;
  std::string bought_;
};

}  // namespace agentr
