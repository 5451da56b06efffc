// Takes the data out of a report page again, as its script does.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace agentr {

std::string FromBase64(const std::string& text);

// The text of the element <script … id="ID">.
std::string ElementText(const std::string& page, const std::string& id);

nlohmann::json IndexOf(const std::string& page);

// The item at a place that the index names.
nlohmann::json ItemOf(const std::string& page, int block, int at);

}  // namespace agentr
