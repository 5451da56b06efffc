#include "training/data/row_tokenizer.h"

namespace agentr {

RowTokenizer LoadRowTokenizer(const std::filesystem::path& model_dir,
                              std::string_view chat_template, const std::string& chat_kwargs) {
  RowTokenizer text;
  text.tokenizer = Tokenizer::Load(model_dir);
  text.chat = ChatTemplate::Make(chat_template, *text.tokenizer, "", chat_kwargs);
  text.hash = TokenizerHash(model_dir);
  return text;
}

}  // namespace agentr
