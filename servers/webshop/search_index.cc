#include "servers/webshop/search_index.h"

#include <algorithm>

#include "servers/webshop/index_data.h"
#include "servers/webshop/text_analyzer.h"
#include "servers/webshop/top_documents.h"

namespace agentr {
namespace {

// In the order in which they first stand in the query; unknown ones are left out.
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

}  // namespace

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
