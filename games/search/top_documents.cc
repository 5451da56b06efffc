#include "games/search/top_documents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "games/search/posting_cursor.h"
#include "games/search/text_analyzer.h"

namespace agentr {
namespace {

constexpr uint32_t kWindow = 4096;

// Sums of terms in different orders can differ by rounding; this factor covers the difference.
constexpr double kRounding = 1 + 1e-12;

struct Hit {
  float score;
  uint32_t document;

  bool operator<(const Hit& other) const {  // true if better
    return score != other.score ? score > other.score : document < other.document;
  }
};

class TopSearch {
 public:
  TopSearch(const IndexData& data, std::span<const QueryTerm> terms, size_t limit)
      : limit_(limit), size_(static_cast<uint32_t>(data.length_codes.size())) {
    cursors_.reserve(terms.size());
    for (const QueryTerm& term : terms) {
      const TermEntry& entry = data.entries[term.term];
      const float weight =
          static_cast<float>(term.times) * InverseDocumentFrequency(data.documents, entry.count);
      cursors_.emplace_back(data, entry, weight);
    }
    bounds_.resize(terms.size());
  }

  std::vector<uint32_t> Run() && {
    for (uint32_t begin = 0; begin < size_; begin += std::min(kWindow, size_ - begin)) {
      SearchWindow(begin, std::min(kWindow, size_ - begin));
    }
    std::ranges::sort(hits_, std::less{});
    std::vector<uint32_t> documents;
    documents.reserve(hits_.size());
    for (const Hit& hit : hits_) documents.push_back(hit.document);
    return documents;
  }

 private:
  struct TermBound {
    float score;
    uint32_t term;        // index in the query
    double sum_of_lower;  // sum of the bounds before this one
  };

  // True if a later document, which loses ties, may enter the result.
  bool CanEnter(double bound) const { return bound >= least_; }

  void SearchWindow(uint32_t begin, uint32_t length) {
    for (uint32_t i = 0; i < cursors_.size(); ++i) {
      bounds_[i] = {cursors_[i].MoveTo(begin, begin + length), i, 0};
    }
    std::ranges::sort(bounds_, [](const TermBound& a, const TermBound& b) {
      return a.score != b.score ? a.score < b.score : a.term < b.term;
    });
    double sum = 0;
    for (TermBound& bound : bounds_) {
      bound.sum_of_lower = sum;
      sum += bound.score;
    }
    size_t aside = 0;
    while (aside < bounds_.size() &&
           !CanEnter(bounds_[aside].sum_of_lower + bounds_[aside].score)) {
      ++aside;
    }
    if (aside == bounds_.size() || sum == 0) return;
    AddUp(begin, aside);
    for (uint32_t word = 0; word * 64 < length; ++word) {
      for (uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
        const uint32_t i = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
        Consider(begin + i, sums_[i], aside);
        sums_[i] = 0;
      }
      touched_[word] = 0;
    }
  }

  void AddUp(uint32_t begin, size_t aside) {
    for (size_t i = aside; i < bounds_.size(); ++i) {
      cursors_[bounds_[i].term].ForEach([&](uint32_t document, float score) {
        const uint32_t place = document - begin;
        sums_[place] += score;
        touched_[place / 64] |= uint64_t{1} << (place % 64);
      });
    }
  }

  // `sum` is the sum of the terms that are not set aside.
  void Consider(uint32_t document, double sum, size_t aside) {
    while (aside > 0) {
      const TermBound& bound = bounds_[--aside];
      if (!CanEnter(sum + (bound.sum_of_lower + bound.score))) return;
      if (bound.score > 0) sum += cursors_[bound.term].ScoreOf(document);
    }
    if (!CanEnter(sum)) return;
    double exact = 0;
    for (PostingCursor& cursor : cursors_) exact += cursor.ScoreOf(document);
    Enter({static_cast<float>(exact), document});
  }

  void Enter(Hit hit) {
    if (hits_.size() == limit_) {
      if (!(hit < hits_.front())) return;
      std::ranges::pop_heap(hits_, std::less{});
      hits_.pop_back();
    }
    hits_.push_back(hit);
    std::ranges::push_heap(hits_, std::less{});
    if (hits_.size() < limit_) return;
    // Sums are rounded to single precision, so a sum that is closer to the next float than to the
    // worst hit exceeds it.
    const float worst = hits_.front().score;
    const float next = std::nextafter(worst, std::numeric_limits<float>::infinity());
    least_ = (static_cast<double>(worst) + static_cast<double>(next)) / 2 / kRounding;
  }

  size_t limit_;
  double least_ = 0;  // smaller sums cannot enter the result any more
  uint32_t size_;
  std::vector<PostingCursor> cursors_;  // in the order of the query
  std::vector<TermBound> bounds_;       // of the window, the lowest first
  std::array<double, kWindow> sums_{};
  std::array<uint64_t, kWindow / 64> touched_{};
  std::vector<Hit> hits_;  // a heap with the worst hit at the front
};

}  // namespace

std::vector<QueryTerm> QueryTerms(const IndexData& data, std::string_view query) {
  std::vector<QueryTerm> terms;
  for (const std::string& text : TermsOf(query)) {
    const uint32_t number = data.terms.Find(text);
    if (number == StringTable::kNone) continue;
    const auto known = std::ranges::find(terms, number, &QueryTerm::term);
    if (known == terms.end()) {
      terms.push_back({number, 1});
    } else {
      ++known->times;
    }
  }
  return terms;
}

std::vector<uint32_t> TopDocuments(const IndexData& data, std::span<const QueryTerm> terms,
                                   size_t limit) {
  if (limit == 0 || terms.empty()) return {};
  return TopSearch(data, terms, limit).Run();
}

}  // namespace agentr
