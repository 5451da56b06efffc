#include "lm/tokenizer/pre_tokenizer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lm/tokenizer/regex.h"

namespace agentr {

class PreTokenizer::Step {
 public:
  virtual ~Step() = default;
  virtual void Split(const Piece& piece, const OnPiece& on_piece) const = 0;
};

namespace {

constexpr std::string_view kMetaspace = "▁";
constexpr char kGpt2Pattern[] =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

// The treatment of the matches of a pattern, with the names of the file format.
enum class Behavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// A part of a piece: a match, or the text between two matches.
struct Stretch {
  size_t begin;
  size_t end;
  bool match;
};

class PatternStep : public PreTokenizer::Step {
 public:
  PatternStep(Regex pattern, Behavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void Split(const Piece& piece, const PreTokenizer::OnPiece& on_piece) const override {
    std::vector<Stretch> stretches = Stretches(piece.text);
    if (behavior_ == Behavior::kMergedWithNext) {
      std::reverse(stretches.begin(), stretches.end());
      Join(stretches);
      std::reverse(stretches.begin(), stretches.end());
    } else {
      Join(stretches);
    }
    for (const Stretch& s : stretches) {
      if (s.begin == s.end || (s.match && behavior_ == Behavior::kRemoved)) continue;
      on_piece({piece.text.substr(s.begin, s.end - s.begin), piece.begins_text && s.begin == 0});
    }
  }

 private:
  std::vector<Stretch> Stretches(std::string_view text) const {
    std::vector<Stretch> stretches;
    size_t done = 0;
    pattern_.ForEachMatch(text, [&](size_t begin, size_t end) {
      if (done < begin) stretches.push_back({done, begin, invert_});
      stretches.push_back({begin, end, !invert_});
      done = end;
    });
    if (done < text.size()) stretches.push_back({done, text.size(), invert_});
    return stretches;
  }

  // Joins each part with the previous one in the list if the behaviour requires it.
  void Join(std::vector<Stretch>& stretches) const {
    if (behavior_ == Behavior::kRemoved || behavior_ == Behavior::kIsolated) return;
    size_t kept = 0;
    bool previous = false;  // true if the previous part is a match; initially false
    for (const Stretch& s : stretches) {
      const bool join =
          behavior_ == Behavior::kContiguous ? s.match == previous : s.match && !previous;
      if (join && kept > 0) {
        Stretch& last = stretches[kept - 1];
        last.begin = std::min(last.begin, s.begin);
        last.end = std::max(last.end, s.end);
      } else {
        stretches[kept++] = s;
      }
      previous = s.match;
    }
    stretches.resize(kept);
  }

  Regex pattern_;
  Behavior behavior_;
  bool invert_;
};

// ByteLevel's add_prefix_space.
class PrefixSpaceStep : public PreTokenizer::Step {
 public:
  void Split(const Piece& piece, const PreTokenizer::OnPiece& on_piece) const override {
    if (piece.text.starts_with(' ')) return on_piece(piece);
    const std::string text = " " + std::string(piece.text);
    on_piece({text, piece.begins_text});
  }
};

// Replaces spaces by U+2581 and puts one before the text.
class MetaspaceStep : public PreTokenizer::Step {
 public:
  enum class Scheme { kAlways, kFirst, kNever };
  MetaspaceStep(std::string replacement, Scheme scheme)
      : replacement_(std::move(replacement)), scheme_(scheme) {}

  void Split(const Piece& piece, const PreTokenizer::OnPiece& on_piece) const override {
    std::string text;
    if (scheme_ == Scheme::kAlways || (scheme_ == Scheme::kFirst && piece.begins_text)) {
      if (!piece.text.starts_with(' ') && !piece.text.starts_with(replacement_)) {
        text += replacement_;
      }
    }
    for (const char c : piece.text) {
      if (c == ' ') {
        text += replacement_;
      } else {
        text += c;
      }
    }
    on_piece({text, piece.begins_text});
  }

 private:
  std::string replacement_;
  Scheme scheme_;
};

Behavior BehaviorOf(const TokenizerJson& field) {
  const std::string name = field.Text();
  if (name == "Removed") return Behavior::kRemoved;
  if (name == "Isolated") return Behavior::kIsolated;
  if (name == "MergedWithPrevious") return Behavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return Behavior::kMergedWithNext;
  if (name == "Contiguous") return Behavior::kContiguous;
  field.RefuseKind("behavior", name);
}

// Files from before 2024 have add_prefix_space instead of prepend_scheme.
MetaspaceStep::Scheme SchemeOf(const TokenizerJson& field) {
  const std::string name =
      field["prepend_scheme"].Text(field["add_prefix_space"].Bool(true) ? "always" : "never");
  if (name == "always") return MetaspaceStep::Scheme::kAlways;
  if (name == "first") return MetaspaceStep::Scheme::kFirst;
  if (name == "never") return MetaspaceStep::Scheme::kNever;
  field["prepend_scheme"].RefuseKind("scheme", name);
}

}  // namespace

PreTokenizer::PreTokenizer(const TokenizerJson& field) { Add(field); }
PreTokenizer::~PreTokenizer() = default;

void PreTokenizer::Add(const TokenizerJson& field) {
  if (field.is_null()) return;
  if (byte_level_) field.Refuse("comes after ByteLevel, which is not supported");
  const std::string type = field["type"].Text();
  const auto add_pattern = [&](Regex pattern, Behavior behavior, bool invert = false) {
    steps_.push_back(std::make_unique<PatternStep>(std::move(pattern), behavior, invert));
  };
  if (type == "Sequence") {
    for (const TokenizerJson& item : field["pretokenizers"].Items()) Add(item);
  } else if (type == "ByteLevel") {
    byte_level_ = true;
    if (field["add_prefix_space"].Bool(true)) steps_.push_back(std::make_unique<PrefixSpaceStep>());
    if (field["use_regex"].Bool(true)) {
      add_pattern(Regex(kGpt2Pattern, field.place()), Behavior::kIsolated);
    }
  } else if (type == "Split") {
    add_pattern(Regex::FromPattern(field["pattern"]), BehaviorOf(field["behavior"]),
                field["invert"].Bool(false));
  } else if (type == "Digits") {
    add_pattern(Regex(R"(\p{N})", field.place()), field["individual_digits"].Bool(false)
                                                      ? Behavior::kIsolated
                                                      : Behavior::kContiguous);
  } else if (type == "Metaspace") {
    const std::string replacement = field["replacement"].Text(std::string(kMetaspace));
    steps_.push_back(std::make_unique<MetaspaceStep>(replacement, SchemeOf(field)));
    if (field["split"].Bool(true))
      add_pattern(Regex::Literal(replacement), Behavior::kMergedWithNext);
  } else {
    field.RefuseKind("pre-tokenizer", type);
  }
}

void PreTokenizer::Run(size_t step, const Piece& piece, const OnPiece& on_piece) const {
  if (step == steps_.size()) return on_piece(piece);
  steps_[step]->Split(piece, [&](const Piece& part) { Run(step + 1, part, on_piece); });
}

}  // namespace agentr
