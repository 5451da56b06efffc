// Full-text search over the products: BM25 as Lucene ranks, so that with WebShop's own files a
// search lists the same products in the same order as the public server (Pyserini over Lucene).
//
// Concept: an inverted index (index_data.h) of some 230 bytes per document of 1 KB. A query looks
// only at documents that its bounds leave room for (top_documents.h); the result is that of scoring
// every document.
//
// Source: Robertson & Zaragoza 2009; the details (analysis, rounded lengths, single precision) are
// those of Lucene 9 with Anserini's defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

struct IndexData;

// Immutable and shared: Search is thread-safe.
class SearchIndex {
 public:
  // Document i has `ids[i]`, which breaks ties in byte order and is not kept, and `text(i)`, which
  // is called once for each i, from several threads. What a search returns does not depend on their
  // number.
  SearchIndex(std::span<const std::string_view> ids,
              const std::function<std::string(size_t)>& text);
  SearchIndex(SearchIndex&&) noexcept;
  ~SearchIndex();

  // The numbers of the best documents, best first; at most `limit`, and only those with a term of
  // the query.
  std::vector<uint32_t> Search(std::string_view query, size_t limit) const;

  // Memory that the index holds, bytes.
  size_t bytes() const;

 private:
  std::unique_ptr<const IndexData> data_;
};

}  // namespace agentr
