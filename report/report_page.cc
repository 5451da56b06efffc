#include "report/report_page.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "common/hash.h"
#include "common/json_depth.h"
#include "common/text.h"
#include "report/packed_items.h"

namespace agentr {

namespace embedded {
extern const std::string_view kReportStyle, kReportDom, kReportData, kReportCharts, kReportTables,
    kReportTree, kReportSearch, kReportRows, kReportEvaluation, kReportTraining, kReportLoop,
    kReportMain;
}  // namespace embedded

namespace {

// In the order in which they use each other.
std::string Script() {
  std::string script = "'use strict';\n(() => {\n";
  for (const std::string_view source :
       {embedded::kReportDom, embedded::kReportData, embedded::kReportCharts,
        embedded::kReportTables, embedded::kReportTree, embedded::kReportSearch,
        embedded::kReportRows, embedded::kReportEvaluation, embedded::kReportTraining,
        embedded::kReportLoop, embedded::kReportMain}) {
    script += source;
  }
  return script + "})();\n";
}

// "sha256-…" of CSP: the hash of the element's text in base64.
std::string SourceHash(std::string_view text) {
  const std::string digits = Sha256(text);
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return "'sha256-" + Base64(bytes) + "'";
}

// JSON that cannot end or open an element, wherever a parser of HTML looks.
std::string Embeddable(const nlohmann::ordered_json& json) {
  std::string text = DumpJson(json);
  ReplaceAll(text, "<", "\\u003c");
  return text;
}

}  // namespace

std::string ReportPage(const nlohmann::ordered_json& index,
                       const std::vector<std::string>& blocks) {
  const std::string script = Script();
  const std::string style(embedded::kReportStyle);
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
      "style-src {}; {}base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<noscript>This report is drawn by its own script: allow scripts for this file.</noscript>\n",
      SourceHash(script), SourceHash(style), index.contains("follow") ? "connect-src 'self'; " : "",
      EscapeHtml(index.value("title", "agentr")), style);
  page += "<script type=\"application/json\" id=\"index\">" + Embeddable(index) + "</script>\n";
  for (size_t i = 0; i < blocks.size(); ++i) {
    page += fmt::format("<script type=\"text/plain\" id=\"block-{}\">{}</script>\n", i, blocks[i]);
  }
  return page + "<script>" + script + "</script>\n</body>\n</html>\n";
}

}  // namespace agentr
