// Reads (by streaming, since they have several GB) and writes WebShop's own files.
//
//   items_shuffle*.json    products: an array of records
//   items_ins_v2*.json     attributes and synthetic instructions: an object of asin -> record
//   items_human_ins.json   instructions that people wrote: an object of asin -> array
//
// Incomplete records: a missing price is 100 dollars; a null option is left out; a product without
// attributes has only "DUMMY_ATTR"; of records with the same asin the first one is used; an asin
// "nan" or of more than 10 characters is skipped. Other missing texts are empty.
#pragma once

#include <cstddef>
#include <filesystem>

#include "games/webshop/catalogue.h"

namespace agentr {

struct ShopFiles {
  std::filesystem::path products;
  std::filesystem::path attributes;   // may be empty: then there are no instructions and no goals
                                      // of that kind
  std::filesystem::path human_goals;  // may be empty
  size_t num_products = 0;            // number of first records to read; 0: all
};

// Throws FatalError(kFile) naming the file and the record.
Catalogue ReadShopFiles(const ShopFiles& files);

// Writes the three files into `folder`, with the names above without the asterisk. Reading them
// gives the same products. Throws FatalError(kFile).
void WriteShopFiles(const Catalogue& catalogue, const std::filesystem::path& folder);

}  // namespace agentr
