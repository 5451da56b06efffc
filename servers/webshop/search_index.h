// Full-text search over the products: BM25 as Lucene ranks, so that with WebShop's own files a
// search lists the same products in the same order as the public server (Pyserini over Lucene).
//
// Source: Robertson & Zaragoza 2009; the details (analysis, rounded lengths, single precision) are
// those of Lucene 9 with Anserini's defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// Immutable and shared: Search is thread-safe.
class SearchIndex {
 public:
  struct Document {
    std::string id;  // breaks ties, in byte order
    std::string text;
  };

  // Document i is what `document(i)` returns; it is called once for each i, from several threads.
  SearchIndex(size_t count, const std::function<Document(size_t)>& document);
  SearchIndex(SearchIndex&&) noexcept;
  ~SearchIndex();

  // The numbers of the best documents, best first; at most `limit`.
  std::vector<uint32_t> Search(std::string_view query, size_t limit) const;

  // Memory that the index holds, bytes.
  size_t bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace agentr
