#include "games/search/search_index.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "common/random.h"
#include "games/search/bm25.h"
#include "games/search/posting_lists.h"
#include "games/search/text_analyzer.h"
#include "tests/games/search/lucene_data.h"

namespace agentr {
namespace {

using Numbers = std::vector<uint32_t>;

struct Document {
  std::string id;
  std::string text;
};

SearchIndex MakeIndex(const std::vector<Document>& documents) {
  std::vector<std::string_view> ids;
  for (const Document& document : documents) ids.push_back(document.id);
  return {ids, [&](size_t i) { return documents[i].text; }};
}

// Every document scored, straight from the description.
class Exhaustive {
 public:
  explicit Exhaustive(const std::vector<Document>& documents) : documents_(documents) {
    uint64_t all = 0;
    for (const Document& document : documents) {
      const auto terms = TermsOf(document.text);
      lengths_.push_back(static_cast<uint32_t>(terms.size()));
      counts_.emplace_back();
      for (const std::string& term : terms) ++counts_.back()[term];
      for (const auto& [term, count] : counts_.back()) ++with_term_[term];
      with_terms_ += terms.empty() ? 0 : 1;
      all += terms.size();
    }
    average_ = static_cast<float>(static_cast<double>(all) / static_cast<double>(with_terms_));
  }

  Numbers Search(std::string_view query, size_t limit) const {
    std::vector<std::pair<std::string, int>> terms;
    for (const std::string& term : TermsOf(query)) {
      const auto known = std::ranges::find(terms, term, &std::pair<std::string, int>::first);
      known == terms.end() ? terms.emplace_back(term, 1).second : ++known->second;
    }
    std::vector<std::pair<float, uint32_t>> hits;
    for (uint32_t i = 0; i < documents_.size(); ++i) {
      double sum = 0;
      for (const auto& [term, times] : terms) sum += Score(i, term, times);
      if (sum > 0) hits.emplace_back(static_cast<float>(sum), i);
    }
    std::ranges::sort(hits, [this](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first > b.first;
      return std::tie(documents_[a.second].id, a.second) <
             std::tie(documents_[b.second].id, b.second);
    });
    Numbers numbers;
    for (size_t i = 0; i < std::min(limit, hits.size()); ++i) numbers.push_back(hits[i].second);
    return numbers;
  }

 private:
  static uint32_t Rounded(uint32_t length) {
    uint32_t rest = length < 40 ? 0 : length - 24;
    uint32_t unit = 1;
    while (rest / unit >= 16) unit *= 2;
    return length < 40 ? length : 24 + rest / unit * unit;
  }

  float Score(uint32_t document, const std::string& term, int times) const {
    const auto found = counts_[document].find(term);
    if (found == counts_[document].end()) return 0;
    const double df = with_term_.at(term);
    const auto idf = static_cast<float>(std::log(1 + (with_terms_ - df + 0.5) / (df + 0.5)));
    const float w = idf * static_cast<float>(times);
    const auto length = static_cast<float>(Rounded(lengths_[document]));
    const float inverse = 1.0F / (0.9F * ((1.0F - 0.4F) + 0.4F * length / average_));
    return w - w / (1.0F + static_cast<float>(found->second) * inverse);
  }

  const std::vector<Document>& documents_;
  std::vector<uint32_t> lengths_;
  std::vector<std::map<std::string, int>> counts_;
  std::map<std::string, int> with_term_;
  double with_terms_ = 0;
  float average_ = 0;
};

TEST(Bm25, LengthsInOneByte) {
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(CodedLength(LengthCode(i)), i);
  const std::pair<uint32_t, uint32_t> table[] = {
      {40, 40},   {41, 40},   {42, 42},    {55, 54},    {56, 56},     {59, 56},
      {60, 60},   {87, 84},   {88, 88},    {100, 96},   {151, 144},   {152, 152},
      {167, 152}, {168, 168}, {1000, 984}, {1047, 984}, {1048, 1048}, {100000, 98328}};
  for (const auto& [length, kept] : table) {
    EXPECT_EQ(CodedLength(LengthCode(length)), kept) << length;
  }
  for (uint32_t i = 1; i < 3000; ++i) EXPECT_LE(LengthCode(i - 1), LengthCode(i));
}

// Two documents, one of them with the term twice, lengths 2 and 4, average 3:
// idf = ln(1 + 0.5 / 2.5) = 0.182322; inverse lengths 1 / (0.9 * (0.6 + 0.4 * 2 / 3)) = 1.282051
// and 1 / (0.9 * (0.6 + 0.4 * 4 / 3)) = 0.980392.
TEST(Bm25, ByHand) {
  EXPECT_NEAR(InverseDocumentFrequency(2, 2), 0.182322, 1e-6);
  EXPECT_NEAR(InverseDocumentFrequency(420, 3), 4.789870, 1e-6);  // ln(1 + 417.5 / 3.5)
  const InverseLengths inverse = MakeInverseLengths(3);
  EXPECT_NEAR(inverse[2], 1.282051, 1e-6);
  EXPECT_NEAR(inverse[4], 0.980392, 1e-6);
  EXPECT_NEAR(TermScore(0.182322F, 1 * inverse[2]), 0.102428, 1e-6);
  EXPECT_NEAR(TermScore(0.182322F, 2 * inverse[4]), 0.120743, 1e-6);
}

TEST(PostingLists, ReadsWhatWasWritten) {
  RandomStream random(4);
  PostingLists lists;
  std::vector<std::vector<Posting>> written;
  for (int i = 0; i < 300; ++i) {
    std::vector<Posting> block;
    uint64_t document = 0;
    const uint64_t gap = random.Below(25);  // bits
    for (uint64_t n = 1 + random.Below(kPostingsPerBlock); n > 0; --n) {
      document += 1 + random.Below(uint64_t{1} << gap);
      block.push_back({static_cast<uint32_t>(document),
                       static_cast<uint32_t>(1 + random.Below(uint64_t{1} << random.Below(30)))});
    }
    EXPECT_EQ(lists.Append(block, 0, 1.5F), static_cast<uint32_t>(i));
    written.push_back(block);
  }
  lists.Finish();
  int bitmaps = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    BlockView::Values documents;
    BlockView::Values counts;
    const BlockView view = lists.View(i, written[i].size(), 0);
    view.Documents(documents);
    view.Counts(counts);
    bitmaps += view.IsBitmap() ? 1 : 0;
    EXPECT_EQ(lists.block(i).last, written[i].back().document);
    for (size_t j = 0; j < written[i].size(); ++j) {
      ASSERT_EQ(documents[j], written[i][j].document);
      ASSERT_EQ(counts[j], written[i][j].count);
      ASSERT_EQ(view.Count(j), written[i][j].count);
      if (!view.IsBitmap()) continue;
      ASSERT_EQ(view.Find(documents[j]), j);
      const bool gap_after = j + 1 < documents.size() && documents[j + 1] > documents[j] + 1;
      if (j + 1 < written[i].size() && gap_after) {
        ASSERT_EQ(view.Find(documents[j] + 1), BlockView::kAbsent);
      }
    }
  }
  EXPECT_GT(bitmaps, 10);
  EXPECT_LT(bitmaps, 290);
}

TEST(SearchIndex, RanksByHand) {
  // As in Bm25.ByHand: twice in four words is worth more than once in two.
  const std::vector<Document> documents = {{"a", "lamp mug"}, {"b", "lamp lamp sofa bed"}};
  const SearchIndex index = MakeIndex(documents);
  EXPECT_EQ(index.Search("lamps", 50), (Numbers{1, 0}));
  EXPECT_EQ(index.Search("mug", 50), (Numbers{0}));
  // idf of "mug" and "sofa" is 0.693147: 0.102428 + 0.389409 against 0.120743 + 0.343142.
  EXPECT_EQ(index.Search("sofa mug lamp", 50), (Numbers{0, 1}));
  // Twice in the query counts twice: 0.389409 against 2 * 0.343142.
  EXPECT_EQ(index.Search("sofa mug sofa", 50), (Numbers{1, 0}));
  EXPECT_EQ(index.Search("sofa mug lamp", 1), (Numbers{0}));
  EXPECT_EQ(index.Search("sofa mug lamp", 0), Numbers{});
}

TEST(SearchIndex, TiesGoByIdInByteOrder) {
  const std::vector<Document> documents = {{"b", "red"},  {"B10", "red"}, {"é", "red"},
                                           {"B2", "red"}, {"b", "red"},   {"", "blue"}};
  const SearchIndex index = MakeIndex(documents);
  EXPECT_EQ(index.Search("red", 50), (Numbers{1, 3, 0, 4, 2}));
  EXPECT_EQ(index.Search("red", 3), (Numbers{1, 3, 0}));
}

TEST(SearchIndex, NothingToFind) {
  const SearchIndex index = MakeIndex({{"a", "lamp"}, {"b", ""}, {"c", "the of"}});
  EXPECT_EQ(index.Search("", 50), Numbers{});
  EXPECT_EQ(index.Search("the of", 50), Numbers{});
  EXPECT_EQ(index.Search("unheard", 50), Numbers{});
  EXPECT_EQ(index.Search("unheard lamp the", 50), Numbers{0});
  EXPECT_EQ(MakeIndex({}).Search("lamp", 50), Numbers{});
  EXPECT_EQ(MakeIndex({{"a", ""}}).Search("lamp", 50), Numbers{});
}

TEST(SearchIndex, DocumentsWithoutTermsDoNotCount) {
  // With an average length of (2 + 6) / 2 twice in six words is worth more than once in two; with 8
  // / 102 it would be worth less.
  std::vector<Document> documents = {{"a", "mug lamp"}, {"b", "sofa sofa lamp lamp lamp lamp"}};
  for (int i = 0; i < 100; ++i) documents.push_back({"x", "the"});
  EXPECT_EQ(MakeIndex(documents).Search("sofa mug", 50), (Numbers{1, 0}));
}

TEST(SearchIndex, ErrorsOfTheTextsComeThrough) {
  const std::vector<std::string_view> ids = {"a"};
  EXPECT_THROW(SearchIndex(ids, [](size_t) -> std::string { throw std::runtime_error("x"); }),
               std::runtime_error);
}

// A word of rank r about r times rarer than the first one.
std::string ZipfWord(RandomStream& random, double words) {
  return "w" + std::to_string(static_cast<int>(std::pow(words, random.Uniform())));
}

// Few different lengths and words, so that many scores are equal.
std::vector<Document> RandomDocuments(RandomStream& random, size_t count, double words) {
  std::vector<Document> documents;
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    for (uint64_t n = random.Below(8) * (random.Chance(0.05) ? 20 : 1); n > 0; --n) {
      text += ZipfWord(random, words) + ' ';
    }
    documents.push_back({"B" + std::to_string(random.Below(count)), std::move(text)});
  }
  return documents;
}

std::string RandomQuery(RandomStream& random, double words) {
  std::string query;
  for (uint64_t n = 1 + random.Below(8); n > 0; --n) query += ZipfWord(random, words) + ' ';
  return query;
}

TEST(SearchIndex, EqualsExhaustiveScoring) {
  RandomStream random(5);
  for (const size_t count : {1, 7, 130, 3000, 20000}) {
    for (const double words : {3.0, 60.0, 2000.0}) {
      const auto documents = RandomDocuments(random, count, words);
      const Exhaustive exhaustive(documents);
      const SearchIndex index = MakeIndex(documents);
      for (int i = 0; i < (count > 1000 ? 8 : 30); ++i) {
        const std::string query = RandomQuery(random, words);
        Numbers expected = exhaustive.Search(query, count);
        for (const size_t limit : {700, 50, 1}) {
          expected.resize(std::min(limit, expected.size()));
          ASSERT_EQ(index.Search(query, limit), expected)
              << count << " documents, " << words << " words: " << query;
        }
      }
    }
  }
}

TEST(SearchIndex, SameWithAnyNumberOfThreads) {
  RandomStream random(6);
  const auto documents = RandomDocuments(random, 60000, 500);
  std::vector<std::string> queries;
  for (int i = 0; i < 50; ++i) queries.push_back(RandomQuery(random, 500));
  std::vector<std::vector<Numbers>> found;
  for (const size_t threads : {1, 2, 7}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    const SearchIndex index = MakeIndex(documents);
    found.emplace_back();
    for (const std::string& query : queries) found.back().push_back(index.Search(query, 50));
  }
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
}

TEST(SearchIndex, SearchesOfSeveralThreads) {
  RandomStream random(7);
  const auto documents = RandomDocuments(random, 5000, 100);
  const SearchIndex index = MakeIndex(documents);
  const Numbers expected = index.Search("w1 w2 w3", 50);
  std::atomic<int> equal = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 50; ++j) equal += index.Search("w1 w2 w3", 50) == expected ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(equal, 200);
}

TEST(SearchIndex, HitsOfLucene) {
  if (!std::filesystem::exists(LuceneFolder())) GTEST_SKIP() << "without " << LuceneFolder();
  std::vector<Document> documents;
  for (const std::string& line : LuceneLines("documents.jsonl")) {
    const auto json = nlohmann::json::parse(line);
    documents.push_back({json["id"], json["contents"]});
  }
  ASSERT_EQ(documents.size(), 420u);
  const SearchIndex index = MakeIndex(documents);
  const auto hits = LuceneLines("hits.tsv");
  ASSERT_EQ(hits.size(), 120u);
  for (const std::string& line : hits) {
    const auto [query, expected] = SplitAtTab(line);
    std::string found;
    for (const uint32_t i : index.Search(query, 50)) {
      found += (found.empty() ? "" : " ") + documents[i].id;
    }
    EXPECT_EQ(found, expected) << query;
  }
}

}  // namespace
}  // namespace agentr
