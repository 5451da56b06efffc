#include "games/questions/city_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "common/config_lines.h"
#include "common/text.h"
#include "games/questions/rule_oracle.h"

namespace agentr {
namespace embedded {
extern const std::string_view kGuessCities;
}  // namespace embedded

namespace {

constexpr size_t kCityFields = 9;

CityFacts ReadCity(const ConfigLines& lines) {
  const std::vector<std::string_view> fields = SplitText(lines.line(), '|');
  if (fields.size() != kCityFields) {
    lines.Stop(fmt::format("{} fields instead of {}", fields.size(), kCityFields));
  }
  const std::vector<std::string_view> place = SplitText(fields[0], ',');
  if (place.size() != 2) lines.Stop("the first field is not \"City, Country\"");
  CityFacts facts{.city = std::string(place[0]),
                  .country = std::string(place[1]),
                  .continent = std::string(fields[1]),
                  .language = std::string(fields[2]),
                  .size = std::string(fields[3]),
                  .climate = std::string(fields[4]),
                  .river = std::string(fields[6] == "-" ? "" : fields[6]),
                  .landmark = std::string(fields[7]),
                  .dish = std::string(fields[8])};
  for (const std::string_view tag : SplitText(fields[5], ',')) {
    if (tag == "-") continue;
    bool* const flag = tag == "coast"     ? &facts.coast
                       : tag == "capital" ? &facts.capital
                       : tag == "south"   ? &facts.south
                       : tag == "high"    ? &facts.high
                                          : nullptr;
    if (flag == nullptr) lines.Stop(fmt::format("\"{}\" is no tag", tag));
    *flag = true;
  }
  return facts;
}

std::vector<CityFacts> ReadCities(std::string_view text) {
  std::vector<CityFacts> cities;
  ConfigLines lines(text, "configs/questions/cities.txt");
  while (lines.Next()) cities.push_back(ReadCity(lines));
  return cities;
}

// The lines of configs/questions/attributes.txt that the facts amount to.
class CityProperties {
 public:
  void Add(const std::string& phrases, const std::string& city) {
    const auto [at, added] = index_.try_emplace(phrases, lines_.size());
    if (added) lines_.push_back(phrases + " | ");
    lines_[at->second] += city + ", ";
  }
  std::string Text() const {
    std::string text;
    for (const std::string& line : lines_) text += line + '\n';
    return text;
  }

 private:
  std::map<std::string, size_t> index_;
  std::vector<std::string> lines_;
};

WordTable CityWords(const std::vector<CityFacts>& cities) {
  // Every city is of the one category, so its phrase is one that no other question contains.
  std::string names = "One of the listed cities | one of the listed cities\n";
  CityProperties properties;
  for (const CityFacts& c : cities) {
    names += c.city + ", ";
    const std::string adjective = c.continent == "Europe" ? "European" : c.continent + "n";
    properties.Add(fmt::format("in {0}, {0}, {1}", c.continent, adjective), c.city);
    properties.Add(fmt::format("in the country {0}, {0}", c.country), c.city);
    properties.Add(fmt::format("in a place where people speak {0}, {0}", c.language), c.city);
    properties.Add(fmt::format("a {0} city, {0}", c.size), c.city);
    properties.Add(fmt::format("in a {0} climate, {0}", c.climate), c.city);
    if (c.coast) properties.Add("on the coast, coast, coastal, sea, ocean, port, beach", c.city);
    if (c.capital) properties.Add("the capital of its country, capital", c.city);
    if (c.high) properties.Add("high above the sea level, high, altitude", c.city);
    properties.Add(c.south
                       ? "in the southern hemisphere, southern hemisphere, south of the equator"
                       : "in the northern hemisphere, northern hemisphere, north of the equator",
                   c.city);
    if (!c.river.empty()) properties.Add(fmt::format("on the river {0}, {0}", c.river), c.city);
    properties.Add(fmt::format("known for {0}, {0}", c.landmark), c.city);
    properties.Add(fmt::format("known for the dish {0}, {0}", c.dish), c.city);
  }
  return {names, properties.Text(), /*articles=*/false};
}

// A topic of open questions, as a word of them begins, and what is said about it. {} is the fact.
struct CityTopic {
  std::string_view word;
  std::string_view sentence;
  std::string CityFacts::*fact;
};

constexpr std::array<CityTopic, 19> kCityTopics = {{
    {"country", "It is in {}.", &CityFacts::country},
    {"continent", "It is in {}.", &CityFacts::continent},
    {"language", "People speak {}.", &CityFacts::language},
    {"speak", "People speak {}.", &CityFacts::language},
    {"climate", "The climate is {}.", &CityFacts::climate},
    {"weather", "The climate is {}.", &CityFacts::climate},
    {"river", "It lies on the {}.", &CityFacts::river},
    {"food", "People like {}.", &CityFacts::dish},
    {"dish", "People like {}.", &CityFacts::dish},
    {"eat", "People like {}.", &CityFacts::dish},
    {"cuisine", "People like {}.", &CityFacts::dish},
    {"famous", "It is known for {}.", &CityFacts::landmark},
    {"known", "It is known for {}.", &CityFacts::landmark},
    {"landmark", "It is known for {}.", &CityFacts::landmark},
    {"sight", "It is known for {}.", &CityFacts::landmark},
    {"population", "It is a {} city.", &CityFacts::size},
    {"people", "It is a {} city.", &CityFacts::size},
    {"big", "It is a {} city.", &CityFacts::size},
    {"size", "It is a {} city.", &CityFacts::size},
}};

bool IsOpen(std::string_view plain) {
  return std::ranges::any_of(
      std::array<std::string_view, 5>{"what", "which", "where", "how", "in which"},
      [&](std::string_view word) { return plain.starts_with(word); });
}

}  // namespace

CityTable::CityTable(std::string_view text)
    : cities_(ReadCities(text)), words_(CityWords(cities_)) {}

const CityTable& CityTable::BuiltIn() {
  static const CityTable table(embedded::kGuessCities);
  return table;
}

std::string CityAnswer(const CityTable& table, size_t city, std::string_view question) {
  const std::string plain = PlainQuestion(question);
  constexpr std::string_view kUnknown = "I do not know.";
  if (!IsOpen(plain)) {
    const std::optional<WordSet> yes = AnswersYes(table.words(), question);
    return std::string(!yes ? kUnknown : (*yes)[city] ? "Yes." : "No.");
  }
  const std::string topic = " " + (plain.starts_with("where") ? "country" : plain);
  for (const CityTopic& known : kCityTopics) {
    if (topic.find(fmt::format(" {}", known.word)) == std::string::npos) continue;
    const std::string& fact = table.cities()[city].*known.fact;
    return fact.empty() ? "There is none." : fmt::format(fmt::runtime(known.sentence), fact);
  }
  return std::string(kUnknown);
}

}  // namespace agentr
