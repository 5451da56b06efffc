// Texts that contain secrets: keys, addresses with a password, arguments of programs with such an
// address. A Secret has no formatter, no operator<< and no conversion to a string or to JSON, so
// nothing that writes compiles with it: the text itself is there for its use only (Reveal), and
// messages, files and terminals get Redacted().
//
//   Secret store = "postgresql://ann:pw@db.example.org/agentr";
//   connect(store.Reveal());
//   fmt::print("{}", store.Redacted());  // postgresql://ann:***@db.example.org/agentr
//
// What libraries and servers say may quote a secret (WithoutIt), and so may text of unknown origin
// (RedactSecrets), which is why the log and the last message of a program pass through the latter.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agentr {

class Secret {
 public:
  enum class Kind {
    kText,  // has secret parts of the forms that RedactSecrets knows, or none
    kKey,   // all of it is secret
  };

  // NOLINTBEGIN(google-explicit-constructor): any text may become a secret, but no secret a text
  Secret(std::string text = "", Kind kind = Kind::kText) : text_(std::move(text)), kind_(kind) {}
  Secret(const char* text) : text_(text) {}
  // NOLINTEND(google-explicit-constructor)
  static Secret Key(std::string text = "") { return {std::move(text), Kind::kKey}; }

  const std::string& Reveal() const { return text_; }
  // With "***" in place of each secret part.
  std::string Redacted() const;

  // `message`, which others made and which may quote the secret, without it.
  std::string WithoutIt(std::string message) const;

  bool empty() const { return text_.empty(); }
  Kind kind() const { return kind_; }
  // True for a text that is a result of Redacted: the secret itself is missing.
  bool IsRedacted() const;

  bool operator==(const Secret& other) const = default;

 private:
  std::string text_;
  Kind kind_ = Kind::kText;
};

// The redacted forms of `secrets`, for messages and files.
std::vector<std::string> Redacted(const std::vector<Secret>& secrets);

// `text` with "***" in place of what looks like a secret:
//   scheme://USER:…@HOST          the password; with http also the name of a user without password
//   ?password=… &token=…          parameters of such names in a URL
//   password=… api_key='…'        words of such names, as in connection strings of PostgreSQL
// In doubt (a password with "@", "/" or blanks in it, which should have been escaped) too much is
// replaced.
std::string RedactSecrets(std::string_view text);

}  // namespace agentr
