// An oracle that asks a language model, over the network or in the process.
//
// It sends "The object is {name}. {question} Answer with yes or no." or "Your home town is {City,
// Country}. {question}" in ArCHer's wording, and takes the most probable answer of at most 16 or 64
// tokens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "games/questions/city_table.h"
#include "games/questions/twenty_questions.h"

namespace agentr {

class ModelOracle : public QuestionOracle {
 public:
  ModelOracle(std::unique_ptr<LanguageModel> model, const WordTable& words);
  ModelOracle(std::unique_ptr<LanguageModel> model, const CityTable& cities);

  std::string name() const override { return model_->name() + " " + model_->identity(); }

  // The error is the model's.
  Result<std::string> Answer(size_t word, std::string_view question) const override;

 private:
  const std::unique_ptr<LanguageModel> model_;
  std::vector<std::string> facts_;  // what the model is told, by word
  std::string request_;             // after the question
  int max_tokens_;
};

}  // namespace agentr
