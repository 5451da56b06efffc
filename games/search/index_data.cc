#include "games/search/index_data.h"

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_sort.h>

#include <algorithm>
#include <atomic>
#include <numeric>

#include "common/handoff.h"
#include "games/search/term_numbers.h"
#include "games/search/word_breaker.h"

namespace agentr {
namespace {

// Calls `work` for 0 to count - 1 on the threads of the arena.
template <typename Work>
void InParallel(size_t count, const Work& work) {
  Handoff handoff;
  handoff.Give();
  tbb::parallel_for(size_t{0}, count, [&](size_t i) {
    const HandoffScope scope(handoff);
    work(i);
  });
  handoff.Take();
}

constexpr size_t kDocumentsPerSegment = 16384;
constexpr size_t kTermRanges = 64;

// The postings of a block of documents during the construction. They are packed, because all of
// them together have about as many entries as the finished index.
struct Segment {
  struct Run {
    uint32_t term;
    uint32_t count;   // of postings
    uint32_t offset;  // of their bytes
  };
  std::vector<Run> runs;       // by term
  std::vector<uint8_t> bytes;  // per posting: gap * 2 (+ 1 and the count when that is not 1)
};

void AppendVarint(uint32_t value, std::vector<uint8_t>& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
  out.push_back(static_cast<uint8_t>(value));
}

uint32_t ReadVarint(const uint8_t*& at) {
  uint32_t value = 0;
  for (uint32_t shift = 0;; shift += 7) {
    const uint32_t byte = *at++;
    value |= (byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
}

// Sorts by the upper 32 bits and keeps the order of equal ones.
void SortByTerm(std::vector<uint64_t>& keys, std::vector<uint64_t>& spare) {
  constexpr uint32_t kDigitBits = 11;
  uint64_t all = 0;
  for (const uint64_t key : keys) all |= key >> 32;
  spare.resize(keys.size());
  for (uint32_t shift = 32; all != 0; shift += kDigitBits, all >>= kDigitBits) {
    std::array<uint32_t, 1 << kDigitBits> begins{};
    const auto digit = [shift](uint64_t key) { return (key >> shift) % (1 << kDigitBits); };
    for (const uint64_t key : keys) ++begins[digit(key)];
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), 0U);
    for (const uint64_t key : keys) spare[begins[digit(key)]++] = key;
    keys.swap(spare);
  }
}

Segment MakeSegment(const std::vector<uint64_t>& keys) {
  Segment segment;
  uint32_t previous = 0;
  for (size_t i = 0; i < keys.size();) {
    size_t end = i + 1;
    while (end < keys.size() && keys[end] == keys[i]) ++end;
    const auto term = static_cast<uint32_t>(keys[i] >> 32);
    const auto document = static_cast<uint32_t>(keys[i]);
    const auto count = static_cast<uint32_t>(end - i);
    if (segment.runs.empty() || segment.runs.back().term != term) {
      segment.runs.push_back({term, 0, static_cast<uint32_t>(segment.bytes.size())});
      previous = 0;
    }
    ++segment.runs.back().count;
    AppendVarint((document - previous) * 2 + (count > 1 ? 1 : 0), segment.bytes);
    if (count > 1) AppendVarint(count, segment.bytes);
    previous = document;
    i = end;
  }
  segment.runs.shrink_to_fit();
  segment.bytes.shrink_to_fit();
  return segment;
}

class Builder {
 public:
  Builder(std::span<const std::string_view> ids, const std::function<std::string(size_t)>& text)
      : text_(text) {
    data_.numbers.resize(ids.size());
    std::iota(data_.numbers.begin(), data_.numbers.end(), 0U);
    tbb::parallel_sort(data_.numbers.begin(), data_.numbers.end(), [&](uint32_t a, uint32_t b) {
      const int order = ids[a].compare(ids[b]);
      return order != 0 ? order < 0 : a < b;
    });
    data_.length_codes.resize(ids.size());
    segments_.resize((ids.size() + kDocumentsPerSegment - 1) / kDocumentsPerSegment);
  }

  IndexData Build() && {
    InParallel(segments_.size(), [this](size_t i) { FillSegment(i); });
    data_.documents = documents_;
    data_.terms = numbers_.TakeTerms();
    data_.terms.Shrink();
    if (documents_ > 0) {
      data_.inverse_lengths = MakeInverseLengths(
          static_cast<float>(static_cast<double>(terms_) / static_cast<double>(documents_)));
    }
    CountDocuments();
    const std::vector<uint32_t> ranges = TermRanges();
    data_.lists.resize(ranges.size() - 1);
    InParallel(data_.lists.size(), [&](size_t i) { FillLists(i, ranges[i], ranges[i + 1]); });
    return std::move(data_);
  }

 private:
  struct Worker {
    explicit Worker(TermNumbers& numbers) : terms(numbers) {}
    RecentTerms terms;
    std::vector<uint64_t> keys;  // term, document within the segment
    std::vector<uint64_t> spare;
  };

  void FillSegment(size_t segment) {
    Worker& worker = workers_.local();
    worker.keys.clear();
    const size_t begin = segment * kDocumentsPerSegment;
    const size_t end = std::min(begin + kDocumentsPerSegment, data_.numbers.size());
    uint32_t documents = 0;
    for (size_t document = begin; document < end; ++document) {
      const std::string text = text_(data_.numbers[document]);
      const size_t before = worker.keys.size();
      WordBreaker words(text);
      for (std::string_view word = words.Next(); !word.empty(); word = words.Next()) {
        const uint32_t term = worker.terms.Of(word);
        if (term != TermNumbers::kNoTerm) {
          worker.keys.push_back(uint64_t{term} << 32 | (document - begin));
        }
      }
      const size_t length = worker.keys.size() - before;
      data_.length_codes[document] = LengthCode(static_cast<uint32_t>(length));
      documents += length > 0 ? 1 : 0;
    }
    documents_ += documents;
    terms_ += worker.keys.size();
    SortByTerm(worker.keys, worker.spare);
    segments_[segment] = MakeSegment(worker.keys);
  }

  void CountDocuments() {
    data_.entries.resize(data_.terms.size());
    for (const Segment& segment : segments_) {
      for (const Segment::Run& run : segment.runs) data_.entries[run.term].count += run.count;
    }
  }

  // Borders between ranges of terms with about as many postings each.
  std::vector<uint32_t> TermRanges() const {
    uint64_t all = 0;
    for (const TermEntry& entry : data_.entries) all += entry.count;
    std::vector<uint32_t> borders{0};
    uint64_t postings = 0;
    for (uint32_t term = 0; term < data_.entries.size(); ++term) {
      postings += data_.entries[term].count;
      if (postings * kTermRanges >= all * borders.size()) borders.push_back(term + 1);
    }
    return borders;
  }

  void FillLists(size_t number, uint32_t begin, uint32_t end) {
    PostingLists& lists = data_.lists[number];
    std::vector<const Segment::Run*> next(segments_.size());
    for (size_t i = 0; i < segments_.size(); ++i) {
      const auto& runs = segments_[i].runs;
      next[i] = runs.data() +
                (std::ranges::lower_bound(runs, begin, {}, &Segment::Run::term) - runs.begin());
    }
    std::vector<Posting> postings;
    for (uint32_t term = begin; term < end; ++term) {
      postings.clear();
      for (size_t i = 0; i < segments_.size(); ++i) {
        const auto& runs = segments_[i].runs;
        if (next[i] != runs.data() + runs.size() && next[i]->term == term) {
          AppendRun(i, *next[i]++, postings);
        }
      }
      data_.entries[term].lists = static_cast<uint32_t>(number);
      data_.entries[term].first_block = AppendList(postings, lists);
    }
    lists.Finish();
  }

  void AppendRun(size_t segment, const Segment::Run& run, std::vector<Posting>& postings) const {
    const uint8_t* at = segments_[segment].bytes.data() + run.offset;
    auto document = static_cast<uint32_t>(segment * kDocumentsPerSegment);
    for (uint32_t i = 0; i < run.count; ++i) {
      const uint32_t code = ReadVarint(at);
      document += code / 2;
      postings.push_back({document, code % 2 == 0 ? 1 : ReadVarint(at)});
    }
  }

  uint32_t AppendList(std::span<const Posting> postings, PostingLists& lists) const {
    uint32_t first = 0;
    int64_t previous = -1;
    for (size_t i = 0; i < postings.size(); i += kPostingsPerBlock) {
      const auto block = postings.subspan(i, std::min(kPostingsPerBlock, postings.size() - i));
      float max_saturation = 0;
      for (const Posting& posting : block) {
        max_saturation =
            std::max(max_saturation, data_.Saturation(posting.document, posting.count));
      }
      const uint32_t number = lists.Append(block, previous, max_saturation);
      if (i == 0) first = number;
      previous = block.back().document;
    }
    return first;
  }

  const std::function<std::string(size_t)>& text_;
  IndexData data_;
  TermNumbers numbers_;
  std::atomic<uint32_t> documents_ = 0;
  std::atomic<uint64_t> terms_ = 0;
  tbb::enumerable_thread_specific<Worker> workers_{[this] { return Worker(numbers_); }};
  std::vector<Segment> segments_;
};

}  // namespace

size_t IndexData::bytes() const {
  size_t sum = terms.bytes() + entries.capacity() * sizeof(TermEntry) + length_codes.capacity() +
               numbers.capacity() * sizeof(uint32_t);
  for (const PostingLists& part : lists) sum += sizeof part + part.bytes();
  return sum;
}

IndexData BuildIndex(std::span<const std::string_view> ids,
                     const std::function<std::string(size_t)>& text) {
  return Builder(ids, text).Build();
}

}  // namespace agentr
