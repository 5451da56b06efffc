// search_bench: time and memory of the full-text search, compared with scoring all postings of the
// query's terms ("exhaustive": the same lists and scores without bounds), on generated documents.
//
// Words follow Zipf's law, with 160 words per document of about 1 KB. There are two kinds of
// queries: "title" has 3 to 10 words drawn like those of the documents; "mixed" has 3 to 8 words,
// uniform on a logarithmic scale of ranks without the 20 most frequent ones, like queries of
// people. Times are CPU times, so other work on the machine does not count.
#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/options.h"
#include "common/random.h"
#include "games/search/index_data.h"
#include "games/search/posting_cursor.h"
#include "games/search/top_documents.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

double Seconds(Clock::time_point since) {
  return std::chrono::duration<double>(Clock::now() - since).count();
}

// CPU seconds of this thread, or of the whole process.
double ProcessorSeconds(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A pronounceable word, different for each number: "babo", "cedu", …
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

// Sums every posting of every term in an array over all documents.
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

// Returns the number of results that differ.
int MeasureQueries(const IndexData& data, bool title, size_t count) {
  constexpr size_t kLimit = 50;
  std::vector<double> sums(data.length_codes.size());
  std::vector<double> fast;
  std::vector<double> exhaustive;
  int different = 0;
  for (const std::string& query : MakeQueries(title, count)) {
    double start = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    const auto found = TopDocuments(data, QueryTerms(data, query), kLimit);
    fast.push_back(1e3 * (ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - start));
    start = ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID);
    const auto expected = SearchExhaustively(data, QueryTerms(data, query), kLimit, sums);
    exhaustive.push_back(1e3 * (ProcessorSeconds(CLOCK_THREAD_CPUTIME_ID) - start));
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
  constexpr size_t kSample = 1000;
  size_t sample_bytes = 0;
  const double text_start = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID);
  for (size_t i = 0; i < kSample; ++i) sample_bytes += MakeText(i).size();
  const double build_start = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID);
  const Clock::time_point start = Clock::now();
  const IndexData index = BuildIndex(views, [&](size_t i) { return MakeText(i); });
  const double build = ProcessorSeconds(CLOCK_PROCESS_CPUTIME_ID) - build_start;
  const double texts = (build_start - text_start) / kSample * static_cast<double>(documents);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{} documents of {} bytes: built in {:.2f} s, {:.2f} core-seconds and {:.2f} to make "
      "the texts; {:.0f} bytes per document; peak memory of the process {:.0f} MB\n",
      documents, sample_bytes / kSample, Seconds(start), build - texts, texts,
      static_cast<double>(index.bytes()) / static_cast<double>(documents),
      static_cast<double>(usage.ru_maxrss) / 1024);
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
