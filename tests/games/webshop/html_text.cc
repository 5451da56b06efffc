#include "html_text.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/python_text.h"

namespace agentr::testing {
namespace {

std::string Unescaped(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&#34;", '"'}, {"&#39;", '\''}};
  std::string out;
  while (!text.empty()) {
    size_t used = 1;
    char c = text.front();
    for (const auto& [entity, meant] : kEntities) {
      if (text.starts_with(entity)) std::tie(used, c) = std::pair(entity.size(), meant);
    }
    out += c;
    text.remove_prefix(used);
  }
  return out;
}

// A tag with the text up to the next one.
struct Node {
  std::string_view tag;  // "button class=\"btn\""
  std::string_view text;
};

std::vector<Node> Nodes(std::string_view html) {
  std::vector<Node> nodes;
  html.remove_prefix(html.find("<body>"));
  while (true) {
    const size_t close = html.find('>');
    if (close == std::string_view::npos) return nodes;
    const size_t next = std::min(html.find('<', close), html.size());
    nodes.push_back({html.substr(1, close - 1), html.substr(close + 1, next - close - 1)});
    html.remove_prefix(next);
  }
}

void AddOnce(std::string text, std::vector<std::string>& list) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

}  // namespace

std::string TextOfHtml(std::string_view html) {
  std::string out;
  bool first = true;
  for (const Node& node : Nodes(html)) {
    const std::string text = Unescaped(node.text);
    if (text.empty() || text == "\n") continue;
    if (!std::exchange(first, false)) out += " [SEP] ";
    out += PythonStrip(text);
  }
  return out;
}

std::vector<std::string> ClickablesOfHtml(std::string_view html) {
  const std::vector<Node> nodes = Nodes(html);
  std::vector<std::string> clickables;
  for (const std::string_view wanted : {"class=\"btn", "class=\"product-link", "type=\"radio\""}) {
    for (const Node& node : nodes) {
      if (node.tag.find(wanted) == std::string_view::npos) continue;
      const size_t value = node.tag.find("value=\"");
      const bool radio = wanted.starts_with("type");
      const std::string_view text =
          radio ? node.tag.substr(value + 7, node.tag.find('"', value + 7) - value - 7) : node.text;
      AddOnce(PythonLower(Unescaped(text)), clickables);
    }
  }
  return clickables;
}

}  // namespace agentr::testing
