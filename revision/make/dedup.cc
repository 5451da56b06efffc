#include "revision/make/dedup.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "common/error.h"
#include "common/hash.h"
#include "common/text.h"

namespace agentr {
namespace {

// Each field is preceded by its length, so that different lists of fields never give the same
// bytes.
void AppendField(std::string_view field, std::string& bytes) {
  bytes += fmt::format("{}:", field.size());
  bytes += field;
}

std::string Normalised(std::string_view action) {
  return fmt::format("{}", fmt::join(SplitWords(AsciiLower(action), " \t\n\v\f\r"), " "));
}

}  // namespace

std::string ContentHash(const Trajectory& trajectory) {
  std::string bytes;
  for (const RowMessage& message : RowMessages(trajectory)) {
    AppendField(message.role, bytes);
    AppendField(*message.content, bytes);
    if (message.reasoning != nullptr && !message.reasoning->empty()) {
      AppendField(*message.reasoning, bytes);
    }
    bytes += message.trained ? '1' : '0';
  }
  return Sha256(bytes);
}

std::string ActionsHash(const Trajectory& trajectory) {
  std::string bytes;
  AppendField(trajectory.first_observation, bytes);
  for (const SplicedTurn& turn : trajectory.turns) {
    // The thought of the revision turn is drawn for each row; its action is always the same.
    bytes += static_cast<char>('0' + static_cast<int>(turn.part));
    AppendField(Normalised(turn.action), bytes);
  }
  return Sha256(bytes);
}

Deduplicator::Verdict Deduplicator::Check(const std::string& content_hash,
                                          const std::string& actions_hash) {
  if (dedup_ == Dedup::kOff) return Verdict::kNew;
  if (contents_.contains(content_hash)) return Verdict::kExact;
  if (dedup_ == Dedup::kNear && !actions_.insert(actions_hash).second) return Verdict::kNear;
  contents_.insert(content_hash);
  return Verdict::kNew;
}

}  // namespace agentr
