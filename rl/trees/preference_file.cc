#include "rl/trees/preference_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "clients/message_json.h"
#include "common/error.h"
#include "common/json_depth.h"
#include "rows/row_file.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

std::vector<Message> MessagesIn(const Json& line, const char* name) {
  if (!line.contains(name) || !line.at(name).is_array()) {
    throw std::invalid_argument(fmt::format("\"{}\" is not a list of messages", name));
  }
  return MessagesFromJson(line.at(name));
}

Message ResponseIn(const Json& line, const char* name) {
  std::vector<Message> messages = MessagesIn(line, name);
  if (messages.size() != 1 || messages[0].role != "assistant") {
    throw std::invalid_argument(fmt::format("\"{}\" is not one message of the assistant", name));
  }
  return messages[0];
}

WrittenPreference ParsePreference(const std::string& text) {
  const Json line = ParseJson<Json>(text);
  if (!line.is_object()) throw std::invalid_argument("it is no JSON object");
  WrittenPreference pair = {MessagesIn(line, "prompt"), ResponseIn(line, "chosen"),
                            ResponseIn(line, "rejected")};
  if (pair.prompt.empty() || pair.prompt.back().role == "assistant") {
    throw std::invalid_argument("\"prompt\" does not end with a message that can be answered");
  }
  return pair;
}

}  // namespace

std::vector<WrittenPreference> ReadPreferences(const std::filesystem::path& path) {
  const RowFile file(path);
  std::vector<WrittenPreference> pairs;
  for (int64_t row = 0; row < file.rows(); ++row) {
    const auto refuse = [&](const std::exception& error) {
      throw FatalError(
          ExitCode::kFile,
          fmt::format("{}: {}; a preference is {{\"prompt\": [messages], \"chosen\": [message], "
                      "\"rejected\": [message]}}, as path_collect --data_type preferences writes "
                      "them",
                      file.Place(row), error.what()));
    };
    try {
      pairs.push_back(ParsePreference(file.Line(row)));
    } catch (const std::invalid_argument& error) {
      refuse(error);
    } catch (const Json::exception& error) {
      refuse(error);
    }
  }
  return pairs;
}

}  // namespace agentr
