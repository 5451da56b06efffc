#include "rows/parquet.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "common/file.h"
#include "common/json_depth.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "Parquet's numbers are little-endian");

constexpr int64_t kGroupBytes = int64_t{64} << 20;  // of values; a row group may be a row larger

// Numbers of parquet.thrift.
constexpr std::array<int32_t, 5> kPhysical = {6, 0, 1, 2, 4};  // Type, for each Column::Type
constexpr int32_t kOptional = 1, kRepeated = 2;                // FieldRepetitionType
constexpr int32_t kUtf8 = 0, kList = 3;                        // ConvertedType
constexpr int16_t kStringType = 1, kListType = 3;              // fields of LogicalType
constexpr int32_t kPlain = 0, kRle = 3;                        // Encoding

int32_t PhysicalOf(Column::Type type) { return kPhysical[static_cast<size_t>(type)]; }

void AppendVarint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7U) out += static_cast<char>(0x80U | (value & 0x7FU));
  out += static_cast<char>(value);
}

template <typename Number>
void AppendNumber(std::string& out, Number value) {
  std::array<char, sizeof(Number)> bytes{};
  std::memcpy(bytes.data(), &value, sizeof(Number));
  out.append(bytes.data(), bytes.size());
}

// Thrift's compact protocol. Fields are written in the order of their numbers.
class Thrift {
 public:
  void I32(int16_t field, int64_t value) { Number(field, 5, value); }
  void I64(int16_t field, int64_t value) { Number(field, 6, value); }
  void Text(int16_t field, std::string_view text) {
    Field(field, 8);
    Bytes(text);
  }
  void BeginStruct(int16_t field) {
    Field(field, 12);
    BeginItem();
  }
  void BeginItem() { last_.push_back(0); }
  void End() {
    out_ += '\0';
    last_.pop_back();
  }
  enum Item : uint8_t { kI32 = 5, kText = 8, kStruct = 12 };
  void List(int16_t field, Item item, size_t size) {
    Field(field, 9);
    out_ += static_cast<char>((size < 15 ? size << 4U : 0xF0U) | item);
    if (size >= 15) AppendVarint(out_, size);
  }
  void ItemI32(int32_t value) { AppendVarint(out_, ZigZag(value)); }
  void Bytes(std::string_view text) {
    AppendVarint(out_, text.size());
    out_ += text;
  }
  // The items of a list that another one wrote.
  void Raw(const Thrift& items) { out_ += items.out_; }
  // What was written, as one struct.
  std::string Finish() {
    End();
    return std::move(out_);
  }

 private:
  static uint64_t ZigZag(int64_t value) {
    return (static_cast<uint64_t>(value) << 1U) ^ static_cast<uint64_t>(value >> 63);
  }
  void Field(int16_t field, uint8_t type) {
    out_ += static_cast<char>(static_cast<unsigned>(field - last_.back()) << 4U | type);
    last_.back() = field;
  }
  void Number(int16_t field, uint8_t type, int64_t value) {
    Field(field, type);
    AppendVarint(out_, ZigZag(value));
  }

  std::string out_;
  std::vector<int16_t> last_ = {0};
};

// Levels as runs of Parquet's hybrid encoding, with their length before them.
class Levels {
 public:
  void Add(int level) {
    if (level != level_ && run_ > 0) Flush();
    level_ = level;
    ++run_;
  }
  std::string Take() {
    if (run_ > 0) Flush();
    std::string text;
    AppendNumber(text, static_cast<uint32_t>(out_.size()));
    text += out_;
    out_.clear();
    return text;
  }

 private:
  void Flush() {
    AppendVarint(out_, std::exchange(run_, 0) << 1U);
    out_ += static_cast<char>(level_);
  }

  std::string out_;
  uint64_t run_ = 0;
  int level_ = 0;
};

// The values of a leaf of the schema. A value's definition level is how many of the optional and
// repeated parts of its path are there; its repetition level is 1 if it goes on a list.
struct Leaf {
  std::vector<std::string> path;  // with the levels "list" and "element"
  Column::Type type = Column::Type::kString;
  bool repeated = false;
  Levels repetitions = {}, definitions = {};
  std::string values = {};
  uint8_t bits = 0, used = 0;  // of a byte of booleans
  int64_t count = 0;           // of values, with those that are null

  void Add(int repetition, int definition) {
    if (repeated) repetitions.Add(repetition);
    definitions.Add(definition);
    ++count;
  }

  // False if it is not of the type.
  bool Put(const Json& value) {
    if (type == Column::Type::kString && !value.is_null()) {
      const std::string text = value.is_string() ? value.get<std::string>() : DumpJson(value);
      AppendNumber(values, static_cast<uint32_t>(text.size()));
      values += text;
    } else if (type == Column::Type::kBool && value.is_boolean()) {
      bits |= static_cast<uint8_t>((value.get<bool>() ? 1U : 0U) << used);
      if (++used == 8) FlushBits();
    } else if (type == Column::Type::kInt32 && value.is_number_integer()) {
      AppendNumber(values, value.get<int32_t>());
    } else if (type == Column::Type::kInt64 && value.is_number_integer()) {
      AppendNumber(values, value.get<int64_t>());
    } else if (type == Column::Type::kFloat && value.is_number()) {
      AppendNumber(values, value.get<float>());
    } else {
      return false;
    }
    return true;
  }

  void FlushBits() {
    if (used > 0) values += static_cast<char>(bits);
    bits = used = 0;
  }
};

void AddLeaves(const Column& column, std::vector<std::string> path, std::vector<Leaf>& leaves) {
  path.push_back(column.name);
  if (column.list) path.insert(path.end(), {"list", "element"});
  for (const Column& field : column.fields) AddLeaves(field, path, leaves);
  const bool repeated = path.size() > 1;
  if (column.fields.empty()) leaves.push_back({std::move(path), column.type, repeated});
}

// Adds `value` to the leaves of `column`, which begin at `leaf`; behind the last of them is the
// result. `definition`: the parts of the path above it that are there.
size_t AddValue(const Column& column, const Json* value, int repetition, int definition,
                std::vector<Leaf>& leaves, size_t leaf) {
  const auto inner = [&](const Json* item, int again, int defined) {
    if (column.fields.empty()) {
      const bool put = item != nullptr && leaves[leaf].Put(*item);
      leaves[leaf].Add(again, put ? defined + 1 : defined);
      return leaf + 1;
    }
    const bool there = item != nullptr && item->is_object();
    size_t next = leaf;
    for (const Column& field : column.fields) {
      const auto found = there ? item->find(field.name) : Json::const_iterator();
      const Json* member = there && found != item->end() ? &*found : nullptr;
      next = AddValue(field, member, again, there ? defined + 1 : defined, leaves, next);
    }
    return next;
  };
  if (!column.list) return inner(value, repetition, definition);
  if (value == nullptr || !value->is_array()) return inner(nullptr, repetition, definition);
  if (value->empty()) return inner(nullptr, repetition, definition + 1);
  size_t next = leaf;
  for (size_t i = 0; i < value->size(); ++i) {
    next = inner(&(*value)[i], i == 0 ? repetition : 1, definition + 2);
  }
  return next;
}

void AddSchema(const Column& column, const std::string& name, bool as_element, Thrift& out,
               size_t& elements) {
  const bool list = column.list && !as_element;
  const bool group = list || !column.fields.empty();
  ++elements;
  out.BeginItem();
  if (!group) out.I32(1, PhysicalOf(column.type));
  out.I32(3, kOptional);
  out.Text(4, name);
  if (group) out.I32(5, list ? 1 : static_cast<int64_t>(column.fields.size()));
  const bool text = !group && column.type == Column::Type::kString;
  if (list || text) {
    out.I32(6, list ? kList : kUtf8);
    out.BeginStruct(10);
    out.BeginStruct(list ? kListType : kStringType);
    out.End();
    out.End();
  }
  out.End();
  if (list) {
    ++elements;
    out.BeginItem();
    out.I32(3, kRepeated);
    out.Text(4, "list");
    out.I32(5, 1);
    out.End();
    AddSchema(column, "element", true, out, elements);
    return;
  }
  for (const Column& field : column.fields) AddSchema(field, field.name, false, out, elements);
}

class Writer {
 public:
  Writer(const std::vector<Column>& columns, const std::filesystem::path& file)
      : columns_(columns), out_(file) {
    for (const Column& column : columns_) AddLeaves(column, {}, leaves_);
    Append("PAR1");
  }

  void Add(const Json& row) {
    size_t leaf = 0;
    int64_t bytes = 0;
    for (const Column& column : columns_) {
      const auto found = row.find(column.name);
      leaf = AddValue(column, found == row.end() ? nullptr : &*found, 0, 0, leaves_, leaf);
    }
    ++rows_;
    for (const Leaf& each : leaves_) bytes += static_cast<int64_t>(each.values.size());
    if (bytes >= kGroupBytes) EndGroup();
  }

  void Finish() {
    if (rows_ > 0) EndGroup();
    Thrift schema, footer;
    size_t elements = 1;
    schema.BeginItem();
    schema.Text(4, "schema");
    schema.I32(5, static_cast<int64_t>(columns_.size()));
    schema.End();
    for (const Column& column : columns_) AddSchema(column, column.name, false, schema, elements);
    footer.I32(1, 2);
    footer.List(2, Thrift::kStruct, elements);
    footer.Raw(schema);
    footer.I64(3, all_rows_);
    footer.List(4, Thrift::kStruct, groups_);
    footer.Raw(group_list_);
    footer.Text(6, "agentr");
    const std::string text = footer.Finish();
    Append(text);
    std::string end;
    AppendNumber(end, static_cast<uint32_t>(text.size()));
    Append(end + "PAR1");
    out_.Commit();
  }

 private:
  void Append(std::string_view bytes) {
    out_.Append(bytes);
    at_ += static_cast<int64_t>(bytes.size());
  }

  void EndGroup() {
    const int64_t begin = at_;
    group_list_.BeginItem();
    group_list_.List(1, Thrift::kStruct, leaves_.size());
    for (Leaf& leaf : leaves_) EndChunk(leaf);
    group_list_.I64(2, at_ - begin);
    group_list_.I64(3, rows_);
    group_list_.End();
    ++groups_;
    all_rows_ += std::exchange(rows_, 0);
  }

  void EndChunk(Leaf& leaf) {
    leaf.FlushBits();
    const std::string page = (leaf.repeated ? leaf.repetitions.Take() : "") +
                             leaf.definitions.Take() + std::exchange(leaf.values, "");
    Thrift header;
    header.I32(1, 0);  // DATA_PAGE
    header.I32(2, static_cast<int64_t>(page.size()));
    header.I32(3, static_cast<int64_t>(page.size()));
    header.BeginStruct(5);
    header.I32(1, leaf.count);
    header.I32(2, kPlain);
    header.I32(3, kRle);
    header.I32(4, kRle);
    header.End();
    const int64_t begin = at_;
    Append(header.Finish());
    Append(page);
    group_list_.BeginItem();
    group_list_.I64(2, begin);
    group_list_.BeginStruct(3);
    group_list_.I32(1, PhysicalOf(leaf.type));
    group_list_.List(2, Thrift::kI32, 2);
    group_list_.ItemI32(kPlain);
    group_list_.ItemI32(kRle);
    group_list_.List(3, Thrift::kText, leaf.path.size());
    for (const std::string& part : leaf.path) group_list_.Bytes(part);
    group_list_.I32(4, 0);  // UNCOMPRESSED
    group_list_.I64(5, leaf.count);
    group_list_.I64(6, at_ - begin);
    group_list_.I64(7, at_ - begin);
    group_list_.I64(9, begin);
    group_list_.End();
    group_list_.End();
    leaf.count = 0;
  }

  const std::vector<Column>& columns_;
  AtomicFile out_;
  std::vector<Leaf> leaves_;
  Thrift group_list_;
  size_t groups_ = 0;
  int64_t at_ = 0, rows_ = 0, all_rows_ = 0;
};

}  // namespace

void WriteParquet(const std::filesystem::path& rows, const std::vector<Column>& columns,
                  const std::filesystem::path& file) {
  std::ifstream lines(rows);
  if (!lines) throw FatalError(ExitCode::kFile, fmt::format("cannot read {}", rows.string()));
  Writer writer(columns, file);
  int64_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const Json row = ParseJson<Json>(line);
    if (!row.is_object()) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("{}:{}: not a JSON object", rows.string(), number));
    }
    writer.Add(row);
  }
  writer.Finish();
}

}  // namespace agentr
