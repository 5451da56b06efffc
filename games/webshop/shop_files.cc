#include "games/webshop/shop_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "common/json_stream.h"
#include "common/python_text.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestAsin = 10;

std::string Text(const Json& record, const char* field) {
  const auto at = record.find(field);
  if (at == record.end() || at->is_null()) return {};
  return at->is_string() ? at->get<std::string>() : at->dump();
}

// The texts of a list; a single text is a list of one. Other values are ignored.
Texts KeepTexts(const Json& record, const char* field, Catalogue& catalogue, bool intern) {
  const auto at = record.find(field);
  std::vector<std::string_view> texts;
  const auto keep = [&](const Json& value) {
    if (!value.is_string()) return;
    const auto& text = value.get_ref<const std::string&>();
    texts.push_back(intern ? catalogue.Intern(text) : catalogue.Keep(text));
  };
  if (at == record.end()) return {};
  if (at->is_string()) keep(*at);
  if (at->is_array()) std::ranges::for_each(*at, keep);
  return catalogue.Keep(Texts(texts));
}

// The number in a piece of a price: its digits and dots.
std::optional<double> Dollars(std::string_view piece) {
  std::string number;
  for (const char c : piece) {
    if (IsAsciiDigit(c) || c == '.') number += c;
  }
  return ParseNumber<double>(number);
}

// "$12.50", "$5 to $20.00"; without a number the default price stays.
void ReadPrice(std::string_view text, Product& product) {
  std::vector<double> prices;
  for (size_t at = text.find('$'); at != std::string_view::npos && prices.size() < 2;) {
    const size_t next = text.find('$', at + 1);
    const auto price = Dollars(text.substr(at + 1, next - at - 1));
    if (!price) return;
    prices.push_back(*price);
    at = next;
  }
  if (prices.empty()) return;
  product.has_price_range = prices.size() == 2;
  product.first_price = prices.front();
  product.last_price = prices.back();
  product.price = product.first_price;
}

std::string OptionValue(const Json& content) {
  const std::string raw = Text(content, "value");
  std::string value;
  for (const char c : PythonStrip(raw)) {
    if (c == '/') {
      value += " | ";
    } else {
      value += c;
    }
  }
  return PythonLower(value);
}

void ReadOptions(const Json& record, Product& product, Catalogue& catalogue) {
  const auto at = record.find("customization_options");
  if (at == record.end() || !at->is_object()) return;
  std::vector<ProductOption> options;
  for (const auto& [raw_name, contents] : at->items()) {
    if (!contents.is_array()) continue;
    std::vector<std::string_view> values;
    for (const Json& content : contents) {
      if (content.is_object()) values.push_back(catalogue.Intern(OptionValue(content)));
    }
    const std::string_view name = catalogue.Intern(PythonLower(raw_name));
    const ProductOption option{name, catalogue.Keep(Texts(values))};
    // Names that differ only in case are the same option, as in the original's dictionary.
    const auto same = std::ranges::find(options, name, &ProductOption::name);
    same == options.end() ? options.push_back(option) : void(*same = option);
  }
  product.options = catalogue.Keep(std::span<const ProductOption>(options));
}

std::string_view FirstImage(const Json& record, Catalogue& catalogue) {
  const auto at = record.find("images");
  if (at == record.end() || !at->is_array() || at->empty() || !at->front().is_string()) return {};
  return catalogue.Keep(at->front().get_ref<const std::string&>());
}

void ReadProduct(const Json& record, const std::string& asin, Catalogue& catalogue) {
  if (catalogue.Find(asin) != nullptr) return;
  Product product;
  product.asin = catalogue.Keep(asin);
  product.title = catalogue.Keep(Text(record, "name"));
  product.description = catalogue.Keep(Text(record, "full_description"));
  product.category = catalogue.Intern(Text(record, "category"));
  product.query = catalogue.Intern(PythonStrip(PythonLower(Text(record, "query"))));
  product.product_category = catalogue.Intern(Text(record, "product_category"));
  product.image = FirstImage(record, catalogue);
  product.bullets = KeepTexts(record, "small_description", catalogue, /*intern=*/false);
  ReadPrice(Text(record, "pricing"), product);
  ReadOptions(record, product, catalogue);
  static constexpr std::string_view kNoAttributes[] = {"DUMMY_ATTR"};
  product.attributes = kNoAttributes;
  catalogue.Add(product);
}

void ReadAttributes(const std::filesystem::path& path, Catalogue& catalogue) {
  ForEachJsonElement(path, [&](const std::string& asin, Json& record) {
    Product* const product = catalogue.FindToFill(asin);
    if (product == nullptr || !record.is_object()) return true;
    if (record.contains("attributes")) {
      product->attributes = KeepTexts(record, "attributes", catalogue, /*intern=*/true);
    }
    const auto instruction = record.find("instruction");
    if (instruction != record.end() && instruction->is_string()) {
      product->has_instruction = true;
      product->instruction = catalogue.Keep(instruction->get_ref<const std::string&>());
      product->instruction_attributes =
          KeepTexts(record, "instruction_attributes", catalogue, /*intern=*/true);
    }
    return true;
  });
}

void ReadHumanGoals(const std::filesystem::path& path, Catalogue& catalogue) {
  ForEachJsonElement(path, [&](const std::string& asin, Json& records) {
    Product* const product = catalogue.FindToFill(asin);
    if (product == nullptr || !records.is_array()) return true;
    std::vector<HumanInstruction> instructions;
    for (const Json& record : records) {
      if (!record.is_object()) continue;
      instructions.push_back(
          {catalogue.Keep(Text(record, "instruction")),
           KeepTexts(record, "instruction_attributes", catalogue, /*intern=*/true),
           KeepTexts(record, "instruction_options", catalogue, /*intern=*/true)});
    }
    product->human_instructions = catalogue.Keep(std::span<const HumanInstruction>(instructions));
    return true;
  });
}

// --- writing -------------------------------------------------------------------------------------

Json List(Texts texts) {
  Json list = Json::array();
  for (const std::string_view text : texts) list.push_back(std::string(text));
  return list;
}

// In fixed notation, with the fewest digits that read back as the same number.
std::string Dollars(double price) {
  char buffer[400];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, price, std::chars_format::fixed);
  return "$" + std::string(buffer, end.ptr);
}

Json ProductRecord(const Product& product) {
  Json options = Json::object();
  for (const ProductOption& option : product.options) {
    Json& contents = options[std::string(option.name)] = Json::array();
    for (const std::string_view value : option.values) {
      contents.push_back({{"value", std::string(value)}, {"image", nullptr}});
    }
  }
  std::string pricing = Dollars(product.first_price);
  if (product.has_price_range) pricing += " to " + Dollars(product.last_price);
  return {{"asin", product.asin},
          {"name", product.title},
          {"category", product.category},
          {"query", product.query},
          {"product_category", product.product_category},
          {"pricing", pricing},
          {"full_description", product.description},
          {"small_description", List(product.bullets)},
          {"customization_options", std::move(options)},
          {"images", Json::array({product.image})}};
}

Json AttributesRecord(const Product& product) {
  Json record = {{"attributes", List(product.attributes)}};
  if (product.has_instruction) {
    record["instruction"] = product.instruction;
    record["instruction_attributes"] = List(product.instruction_attributes);
  } else {
    record["instruction"] = nullptr;
    record["instruction_attributes"] = nullptr;
  }
  return record;
}

Json HumanRecords(const Product& product) {
  Json records = Json::array();
  for (const HumanInstruction& instruction : product.human_instructions) {
    records.push_back({{"asin", product.asin},
                       {"instruction", instruction.text},
                       {"instruction_attributes", List(instruction.attributes)},
                       {"instruction_options", List(instruction.options)}});
  }
  return records;
}

// Writes `open`, the comma-separated results of `write` for each product (nullopt is left out), and
// `close`.
void WriteAll(const std::filesystem::path& path, const Catalogue& catalogue, char open, char close,
              const std::function<std::string(const Product&)>& write) {
  constexpr size_t kBlock = 1 << 20;
  size_t next = 0;
  bool first = true;
  bool closed = false;
  WriteFileAtomically(path, [&](std::string& block) {
    if (closed) return false;
    if (next == 0) block += open;
    for (; next < catalogue.products().size() && block.size() < kBlock; ++next) {
      const std::string record = write(catalogue.products()[next]);
      if (record.empty()) continue;
      block += first ? "\n" : ",\n";
      block += record;
      first = false;
    }
    if (next < catalogue.products().size()) return true;
    block += "\n";
    block += close;
    block += "\n";
    return closed = true;
  });
}

}  // namespace

Catalogue ReadShopFiles(const ShopFiles& files) {
  Catalogue catalogue;
  size_t records = 0;
  ForEachJsonElement(files.products, [&](const std::string& /*name*/, Json& record) {
    ++records;
    const std::string asin = record.is_object() ? Text(record, "asin") : std::string();
    if (asin.empty()) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("{}: record {} is not a product: it has no asin",
                                   files.products.string(), records));
    }
    if (asin != "nan" && asin.size() <= kLongestAsin) ReadProduct(record, asin, catalogue);
    return records != files.num_products;
  });
  if (!files.attributes.empty()) ReadAttributes(files.attributes, catalogue);
  if (!files.human_goals.empty()) ReadHumanGoals(files.human_goals, catalogue);
  return catalogue;
}

void WriteShopFiles(const Catalogue& catalogue, const std::filesystem::path& folder) {
  WriteAll(folder / "items_shuffle.json", catalogue, '[', ']',
           [](const Product& product) { return ProductRecord(product).dump(); });
  const auto member = [](const Product& product, const Json& value) {
    return fmt::format("{}: {}", Json(product.asin).dump(), value.dump());
  };
  WriteAll(folder / "items_ins_v2.json", catalogue, '{', '}',
           [&](const Product& product) { return member(product, AttributesRecord(product)); });
  WriteAll(folder / "items_human_ins.json", catalogue, '{', '}', [&](const Product& product) {
    return product.human_instructions.empty() ? "" : member(product, HumanRecords(product));
  });
}

}  // namespace agentr
