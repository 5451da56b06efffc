#include "games/webshop/token_set_ratio.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/python_text.h"
#include "common/text.h"
#include "common/utf8.h"

namespace agentr {
namespace {

// \w of Python's regular expressions. Combining marks are excluded: "é" written as e and an accent
// is two pieces.
bool IsWordCharacter(UChar32 c) {
  return c == '_' || (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK)) != 0;
}

// The text in lower case, with spaces instead of separators.
std::string Cleaned(std::string_view text) {
  std::string cleaned;
  for (size_t next = 0; next < text.size();) {
    const size_t begin = next;
    const int32_t c = NextCodePoint(text, next);
    if (c >= 128 && c <= 255) continue;
    if (c >= 0 && IsWordCharacter(c)) {
      cleaned += text.substr(begin, next - begin);
    } else {
      cleaned += ' ';
    }
  }
  return PythonLower(cleaned);
}

// The distinct words, sorted. The byte order of UTF-8 is that of its characters.
std::vector<std::string_view> WordSet(std::string_view cleaned) {
  std::vector<std::string_view> words = SplitWords(cleaned, " ");
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

// Joined by spaces and decoded, because the similarity counts characters.
std::u32string Joined(const std::vector<std::string_view>& words,
                      const std::vector<std::string_view>& more) {
  std::u32string joined;
  for (const auto* list : {&words, &more}) {
    for (const std::string_view word : *list) {
      if (!joined.empty()) joined += U' ';
      for (size_t i = 0; i < word.size();) {
        joined += static_cast<char32_t>(NextCodePoint(word, i));
      }
    }
  }
  return joined;
}

// Counts the common characters of two texts: those of the longest common block, then recursively
// those to the left and to the right of it.
class BlockMatcher {
 public:
  BlockMatcher(std::u32string_view a, std::u32string_view b) : a_(a), b_(b) {
    for (size_t j = 0; j < b.size(); ++j) places_[b[j]].push_back(j);
    // In a long text, blocks do not start at frequent characters, but may be extended over them.
    constexpr size_t kLong = 200;
    if (b.size() >= kLong) {
      const size_t frequent = b.size() / 100 + 1;
      std::erase_if(places_, [&](const auto& entry) { return entry.second.size() > frequent; });
    }
  }

  size_t Count() const {
    size_t count = 0;
    std::vector<Range> todo = {{0, a_.size(), 0, b_.size()}};
    while (!todo.empty()) {
      const Range range = todo.back();
      todo.pop_back();
      const Block block = Longest(range);
      if (block.size == 0) continue;
      count += block.size;
      todo.push_back({range.a_begin, block.a, range.b_begin, block.b});
      todo.push_back({block.a + block.size, range.a_end, block.b + block.size, range.b_end});
    }
    return count;
  }

 private:
  struct Range {
    size_t a_begin, a_end, b_begin, b_end;
  };
  struct Block {
    size_t a, b, size;
  };
  // A common run that ends at one character of a: its end in b and its length.
  struct Run {
    size_t b_last, size;
  };

  // The longest common block in the range; among equal ones the first in a, then in b.
  Block Longest(const Range& range) const {
    Block best{range.a_begin, range.b_begin, 0};
    std::vector<Run> before;  // runs that end at the previous character of a, by b_last
    std::vector<Run> now;
    for (size_t i = range.a_begin; i < range.a_end; ++i) {
      now.clear();
      const auto places = places_.find(a_[i]);
      if (places != places_.end()) ExtendRuns(range, places->second, before, now);
      for (const Run& run : now) {
        if (run.size > best.size) best = {i + 1 - run.size, run.b_last + 1 - run.size, run.size};
      }
      before.swap(now);
    }
    Grow(range, best);
    return best;
  }

  // `places`: positions in b of the present character of a, ascending like the runs.
  static void ExtendRuns(const Range& range, const std::vector<size_t>& places,
                         const std::vector<Run>& before, std::vector<Run>& now) {
    auto run = before.begin();
    for (auto j = std::ranges::lower_bound(places, range.b_begin);
         j != places.end() && *j < range.b_end; ++j) {
      while (run != before.end() && run->b_last + 1 < *j) ++run;
      const bool follows = run != before.end() && run->b_last + 1 == *j;
      now.push_back({*j, follows ? run->size + 1 : 1});
    }
  }

  // Extends the block over frequent neighbours.
  void Grow(const Range& range, Block& block) const {
    while (block.a > range.a_begin && block.b > range.b_begin &&
           a_[block.a - 1] == b_[block.b - 1]) {
      --block.a;
      --block.b;
      ++block.size;
    }
    while (block.a + block.size < range.a_end && block.b + block.size < range.b_end &&
           a_[block.a + block.size] == b_[block.b + block.size]) {
      ++block.size;
    }
  }

  std::u32string_view a_;
  std::u32string_view b_;
  std::unordered_map<char32_t, std::vector<size_t>> places_;  // in b, ascending
};

int Ratio(std::u32string_view a, std::u32string_view b) {
  if (a == b) return 100;
  if (a.empty() || b.empty()) return 0;
  const auto matches = static_cast<double>(BlockMatcher(a, b).Count());
  const double ratio = 2.0 * matches / static_cast<double>(a.size() + b.size());
  return static_cast<int>(std::nearbyint(100 * ratio));  // halves are rounded to even
}

}  // namespace

int TokenSetRatio(std::string_view first, std::string_view second) {
  const std::string cleaned1 = Cleaned(first);
  const std::string cleaned2 = Cleaned(second);
  const auto words1 = WordSet(cleaned1);
  const auto words2 = WordSet(cleaned2);
  if (words1.empty() || words2.empty()) return 0;

  std::vector<std::string_view> common;
  std::vector<std::string_view> rest1;
  std::vector<std::string_view> rest2;
  std::ranges::set_intersection(words1, words2, std::back_inserter(common));
  std::ranges::set_difference(words1, words2, std::back_inserter(rest1));
  std::ranges::set_difference(words2, words1, std::back_inserter(rest2));
  if (rest1.empty() || rest2.empty()) return 100;

  const std::u32string sect = Joined(common, {});
  const std::u32string all1 = Joined(common, rest1);
  const std::u32string all2 = Joined(common, rest2);
  return std::max({Ratio(sect, all1), Ratio(sect, all2), Ratio(all1, all2)});
}

}  // namespace agentr
