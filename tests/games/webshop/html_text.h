// Reads html as WebShop's own client does (BeautifulSoup): for tests that pages and html agree.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr::testing {

// The visible text nodes but those that are one line break, stripped, joined by " [SEP] ".
std::string TextOfHtml(std::string_view html);

// Texts of buttons (class btn), of product links, values of radio inputs: lower case, each once.
std::vector<std::string> ClickablesOfHtml(std::string_view html);

}  // namespace agentr::testing
