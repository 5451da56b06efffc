#include "training/data/row_tokenizer.h"

#include "common/file.h"
#include "common/hash.h"

namespace agentr {

RowTokenizer LoadRowTokenizer(const std::filesystem::path& model_dir,
                              std::string_view chat_template) {
  RowTokenizer text;
  text.tokenizer = Tokenizer::Load(model_dir);
  text.chat = ChatTemplate::Make(chat_template, *text.tokenizer);
  text.hash = TokenizerHash(model_dir);
  return text;
}

}  // namespace agentr
