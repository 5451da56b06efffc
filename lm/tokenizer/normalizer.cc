#include "lm/tokenizer/normalizer.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>

#include <memory>

#include "common/error.h"
#include "lm/tokenizer/regex.h"

namespace agentr {
namespace {

using TextStep = std::function<void(std::string& text)>;

TextStep UnicodeForm(const icu::Normalizer2* form, UErrorCode found) {
  if (U_FAILURE(found)) {
    throw FatalError(ExitCode::kFile, std::string("ICU's normalization data: ") +
                                          u_errorName(found) + "; is libicu complete?");
  }
  return [form](std::string& text) {
    UErrorCode code = U_ZERO_ERROR;
    std::string out;
    icu::StringByteSink<std::string> sink(&out);
    form->normalizeUTF8(0, text, sink, nullptr, code);
    if (U_FAILURE(code)) throw FatalError(ExitCode::kInternal, u_errorName(code));
    text = std::move(out);
  };
}

// Null for a name that is not a Unicode normalization form.
TextStep UnicodeForm(const std::string& name) {
  UErrorCode code = U_ZERO_ERROR;
  if (name == "NFC") return UnicodeForm(icu::Normalizer2::getNFCInstance(code), code);
  if (name == "NFD") return UnicodeForm(icu::Normalizer2::getNFDInstance(code), code);
  if (name == "NFKC") return UnicodeForm(icu::Normalizer2::getNFKCInstance(code), code);
  if (name == "NFKD") return UnicodeForm(icu::Normalizer2::getNFKDInstance(code), code);
  return nullptr;
}

TextStep ReplaceText(const TokenizerJson& field) {
  return [pattern = Regex::FromPattern(field["pattern"]),
          content = field["content"].Text()](std::string& text) {
    std::string out;
    size_t done = 0;
    pattern.ForEachMatch(text, [&](size_t begin, size_t end) {
      out.append(text, done, begin - done).append(content);
      done = end;
    });
    out.append(text, done);
    text = std::move(out);
  };
}

}  // namespace

void Normalizer::Add(const TokenizerJson& field) {
  if (field.is_null()) return;
  const std::string type = field["type"].Text();
  if (type == "Sequence") {
    for (const TokenizerJson& item : field["normalizers"].Items()) Add(item);
  } else if (type == "Prepend") {
    steps_.push_back([prefix = field["prepend"].Text()](std::string& text) {
      if (!text.empty()) text.insert(0, prefix);
    });
  } else if (type == "Replace") {
    steps_.push_back(ReplaceText(field));
  } else if (TextStep form = UnicodeForm(type)) {
    steps_.push_back(std::move(form));
  } else {
    field.RefuseKind("normalizer", type);
  }
}

std::string Normalizer::Apply(std::string text) const {
  for (const auto& step : steps_) step(text);
  return text;
}

}  // namespace agentr
