#include "games/search/search_index.h"

#include "games/search/index_data.h"
#include "games/search/top_documents.h"

namespace agentr {
SearchIndex::SearchIndex(std::span<const std::string_view> ids,
                         const std::function<std::string(size_t)>& text)
    : data_(std::make_unique<IndexData>(BuildIndex(ids, text))) {}

SearchIndex::SearchIndex(SearchIndex&&) noexcept = default;
SearchIndex::~SearchIndex() = default;

std::vector<uint32_t> SearchIndex::Search(std::string_view query, size_t limit) const {
  std::vector<uint32_t> documents = TopDocuments(*data_, QueryTerms(*data_, query), limit);
  for (uint32_t& document : documents) document = data_->numbers[document];
  return documents;
}

size_t SearchIndex::bytes() const { return sizeof *data_ + data_->bytes(); }

}  // namespace agentr
