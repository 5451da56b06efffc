#include "servers/http/about_page.h"

#include <fmt/format.h>

#include "common/text.h"
#include "common/version.h"

namespace agentr {
namespace {

constexpr const char* kHead =
    R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 44rem; margin: 3rem auto; padding: 0 1rem; }
li, pre { font-family: ui-monospace, monospace; }
pre { overflow-x: auto; }
</style>
)";

}  // namespace

bool AsksForHtml(const std::string& accept) {
  return accept.find("text/html") != std::string::npos;
}

std::string AboutPage(const AboutText& about, const std::vector<std::string>& routes) {
  std::string page = fmt::format(
      "{}<title>agentr {}</title>\n</head>\n<body>\n<h1>agentr {}</h1>\n<p>{}</p>\n"
      "<pre>{}</pre>\n<h2>Routes</h2>\n<ul>\n",
      kHead, EscapeHtml(about.title), EscapeHtml(about.title), EscapeHtml(about.summary),
      EscapeHtml(about.use));
  for (const std::string& route : routes) {
    const std::string text = EscapeHtml(route);
    page += route.starts_with("GET ")
                ? fmt::format("<li>GET <a href=\"{0}\">{0}</a></li>\n", text.substr(4))
                : fmt::format("<li>{}</li>\n", text);
  }
  return page + fmt::format("</ul>\n<p>Version {}</p>\n</body>\n</html>\n", kVersion);
}

}  // namespace agentr
