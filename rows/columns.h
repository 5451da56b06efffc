// The columns of the formats of rows, with their types, for programs that read files as tables.
#pragma once

#include <string>
#include <vector>

#include "rows/row.h"

namespace agentr {

struct Column {
  enum class Type { kString, kBool, kInt32, kInt64, kFloat };
  std::string name;
  Type type = Type::kString;  // of the values: a string is a text, or any other JSON as text
  bool list = false;          // a list of values or, with fields, of objects
  std::vector<Column> fields = {};
};

// In the order in which they are written. Any value may be null or absent.
std::vector<Column> ColumnsOf(DataFormat format);

}  // namespace agentr
