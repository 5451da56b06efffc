// Full-text search over the products with Lucene's BM25, so that with WebShop's own files a search
// lists the same products in the same order as the public server (Pyserini over Lucene).
//
// Concept: an inverted index (index_data.h) of about 230 bytes per document of 1 KB. A query only
// examines documents that its bounds do not exclude (top_documents.h); the result equals that of
// scoring every document.
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
  // Document i has `ids[i]`, which breaks ties in byte order and is not stored, and `text(i)`,
  // which is called once for each i, from several threads. Results do not depend on their number.
  SearchIndex(std::span<const std::string_view> ids,
              const std::function<std::string(size_t)>& text);
  SearchIndex(SearchIndex&&) noexcept;
  ~SearchIndex();

  // The numbers of the best documents, best first; at most `limit`, and only those with a term of
  // the query.
  std::vector<uint32_t> Search(std::string_view query, size_t limit) const;

  // Memory of the index in bytes.
  size_t bytes() const;

 private:
  std::unique_ptr<const IndexData> data_;
};

}  // namespace agentr
