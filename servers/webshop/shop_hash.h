#pragma once

#include <string>
#include <string_view>

#include "servers/webshop/catalogue.h"

namespace agentr {

// SHA-256 over every field of every product, in order, and `options`: a chain of blocks.
std::string ShopHash(const Catalogue& catalogue, std::string_view options);

}  // namespace agentr
