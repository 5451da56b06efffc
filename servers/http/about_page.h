// The page that a server shows to a person who opens its address in a browser.
#pragma once

#include <string>
#include <vector>

namespace agentr {

struct AboutText {
  std::string title;    // "env_server"
  std::string summary;  // what is served: "textcraft: 544 tasks, 613 recipes"
  std::string use;      // how programs use it
};

// True if the value of an Accept header asks for HTML, as browsers do; clients of the protocols
// send "*/*", "application/json" or nothing.
bool AsksForHtml(const std::string& accept);

// An HTML page that loads nothing. `routes`: "GET /health", …; those with GET become links.
std::string AboutPage(const AboutText& about, const std::vector<std::string>& routes);

}  // namespace agentr
