// search_bench: what the full-text search costs in time and memory, beside scoring all postings of
// the query's terms ("exhaustive", the same lists and scores without bounds), on made-up documents.
//
// Words follow Zipf's law, 160 a document of about 1 KB. Queries are of two kinds: "title", 3 to 10
// words drawn as those of the documents are, and "mixed", 3 to 8 words of all ranks alike on a
// logarithmic scale but the commonest 20, as people write them.
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#include "common/options.h"
#include "common/random.h"
#include "servers/webshop/index_data.h"
#include "servers/webshop/posting_cursor.h"
#include "servers/webshop/top_documents.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since).count();
}

// Pronounceable, one to one: "babo", "cedu", …
std::string Word(uint64_t number) {
  std::string word;
  for (number += 90; number > 0; number /= 90) {
    word += "bcdfghjklmnprstvwz"[number % 90 / 5];
    word += "aeiou"[number % 5];
  }
  return word;
}

// Rank r with a probability of about 1 / (r + 3): ranks from `first` to below `words`.
uint64_t ZipfRank(RandomStream& random, double first, double words) {
  constexpr double kShift = 3;
  const double rank =
      (first + kShift) * std::pow((words + kShift) / (first + kShift), random.Uniform()) - kShift;
  return static_cast<uint64_t>(std::max(rank, 0.0));
}

constexpr double kWords = 400000;

std::string MakeText(uint64_t document) {
  RandomStream random = RandomStream(1).Split(document);
  std::string text;
  for (uint64_t n = 110 + random.Below(100); n > 0; --n) {
    text += Word(ZipfRank(random, 0, kWords));
    text += ' ';
  }
  return text;
}

std::vector<std::string> MakeQueries(bool title, size_t count) {
  RandomStream random = RandomStream(2).Split(title ? 1 : 0);
  std::vector<std::string> queries(count);
  for (std::string& query : queries) {
    for (uint64_t n = 3 + random.Below(title ? 8 : 6); n > 0; --n) {
      query += Word(ZipfRank(random, title ? 0 : 20, title ? kWords : 20000)) + ' ';
    }
  }
  return queries;
}

// Every posting of every term, added up in an array over all documents.
std::vector<uint32_t> SearchExhaustively(const IndexData& data, std::span<const QueryTerm> terms,
                                         size_t limit, std::vector<double>& sums) {
  const auto size = static_cast<uint32_t>(data.length_codes.size());
  std::vector<uint32_t> found;
  for (const QueryTerm& term : terms) {
    const TermEntry& entry = data.entries[term.term];
    PostingCursor cursor(
        data, entry,
        static_cast<float>(term.times) * InverseDocumentFrequency(data.documents, entry.count));
    cursor.MoveTo(0, size);
    cursor.ForEach([&](uint32_t document, float score) {
      if (sums[document] == 0) found.push_back(document);
      sums[document] += score;
    });
  }
  const std::vector<uint32_t> all = found;
  const auto best = found.begin() + static_cast<ptrdiff_t>(std::min(limit, found.size()));
  std::partial_sort(found.begin(), best, found.end(), [&](uint32_t a, uint32_t b) {
    const auto score_a = static_cast<float>(sums[a]);
    const auto score_b = static_cast<float>(sums[b]);
    return score_a != score_b ? score_a > score_b : a < b;
  });
  found.erase(best, found.end());
  for (const uint32_t document : all) sums[document] = 0;
  return found;
}

void PrintTimes(const char* name, std::vector<double> times) {
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times[static_cast<size_t>(share * static_cast<double>(times.size() - 1))];
  };
  fmt::print("    {:<12} p50 {:8.3f} ms   p99 {:8.3f} ms   max {:8.3f} ms\n", name, at(0.5),
             at(0.99), times.back());
}

// Returns how many results differ.
int MeasureQueries(const IndexData& data, bool title, size_t count) {
  constexpr size_t kLimit = 50;
  std::vector<double> sums(data.length_codes.size());
  std::vector<double> fast;
  std::vector<double> exhaustive;
  int different = 0;
  for (const std::string& query : MakeQueries(title, count)) {
    Clock::time_point start = Clock::now();
    const auto found = TopDocuments(data, QueryTerms(data, query), kLimit);
    fast.push_back(Milliseconds(start));
    start = Clock::now();
    const auto expected = SearchExhaustively(data, QueryTerms(data, query), kLimit, sums);
    exhaustive.push_back(Milliseconds(start));
    different += found == expected ? 0 : 1;
  }
  fmt::print("  {} queries, {} results differ\n", title ? "title" : "mixed", different);
  PrintTimes("search", fast);
  PrintTimes("exhaustive", exhaustive);
  return different;
}

int Measure(size_t documents, size_t queries) {
  std::vector<std::string> ids;
  for (size_t i = 0; i < documents; ++i) ids.push_back(fmt::format("B{:09}", i * 7919 % 999999937));
  const std::vector<std::string_view> views(ids.begin(), ids.end());
  std::atomic<size_t> text_bytes = 0;
  Clock::time_point start = Clock::now();
  for (size_t i = 0; i < std::min<size_t>(documents, 10000); ++i) text_bytes += MakeText(i).size();
  const double text_ms =
      Milliseconds(start) / static_cast<double>(std::min<size_t>(documents, 10000));
  text_bytes = 0;
  start = Clock::now();
  const IndexData index = BuildIndex(views, [&](size_t i) {
    std::string text = MakeText(i);
    text_bytes += text.size();
    return text;
  });
  const double seconds = Milliseconds(start) / 1000;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto n = static_cast<double>(documents);
  fmt::print(
      "{} documents of {:.0f} bytes: built in {:.2f} s, {:.2f} core-seconds of it to make "
      "the texts; {:.0f} bytes per document; peak memory of the process {:.0f} MB\n",
      documents, static_cast<double>(text_bytes) / n, seconds, text_ms * n / 1000,
      static_cast<double>(index.bytes()) / n, static_cast<double>(usage.ru_maxrss) / 1024);
  return MeasureQueries(index, false, queries) + MeasureQueries(index, true, queries);
}

struct BenchOptions {
  std::vector<int> documents = {1000, 100000, 1200000};
  int queries = 1000;
};

void Declare(OptionSet& set, BenchOptions& o) {
  set.Group("Benchmark");
  set.Add("--documents", o.documents, "Numbers of documents to measure (repeatable)");
  set.Add("--queries", o.queries, "Queries of each kind").Min(1);
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::BenchOptions options;
    agentr::OptionSet set("search_bench", "What the full-text search costs in time and memory.");
    Declare(set, options);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    int different = 0;
    for (const int documents : options.documents) {
      different +=
          agentr::Measure(static_cast<size_t>(documents), static_cast<size_t>(options.queries));
    }
    return different == 0 ? agentr::ExitCode::kOk : agentr::ExitCode::kInternal;
  });
}
