// The text of a page as ArCHer's client makes it of the HTML.
#pragma once

#include <string>
#include <string_view>

#include "games/webshop/page.h"

namespace agentr {

// The visible strings of the page in order, without blank ones:
//   a button      on a new line, "[Buy Now] "
//   a product     on a new line, "[B07XYZ1234] "; only the first three, and their titles and prices
//   an option     "[red]", or "[[red]]" if "'red'" occurs in `address`, the page's, which contains
//                 the chosen options as Python prints a dict
//   other text    on a new line, with a blank behind it; the label and the text of the instruction
//                 only on the start page
// A page with a score becomes the one line "Your score (min 0.0, max 1.0): 0.5".
std::string ArcherText(const ShopPage& page, std::string_view address);

}  // namespace agentr
