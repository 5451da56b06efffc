#include "training/distributed/job_fingerprint.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/version.h"

namespace agentr {
namespace {

// Of a machine, or without an influence on the steps.
constexpr std::array<std::string_view, 7> kOfOneProcess = {
    "model_threads", "device",       "log_level",         "processes",
    "output_dir",    "meet_timeout", "collective_timeout"};

// Files and folders, which may have other names on other machines.
constexpr std::array<std::string_view, 5> kOfContent = {"model_dir", "data", "transitions", "trees",
                                                        "episodes"};

constexpr size_t kHashShown = 8;  // digits

const JobFingerprintEntry* Find(const JobFingerprint& fingerprint, const std::string& name) {
  const auto found = std::ranges::find(fingerprint, name, &JobFingerprintEntry::name);
  return found == fingerprint.end() ? nullptr : &*found;
}

std::string Shown(const JobFingerprintEntry* entry) {
  if (entry == nullptr) return "nothing";
  return entry->shown.empty() ? entry->value : entry->shown;
}

}  // namespace

JobFingerprint OptionsFingerprint(const nlohmann::ordered_json& resolved) {
  JobFingerprint fingerprint;
  for (const auto& [name, value] : resolved.items()) {
    if (std::ranges::count(kOfOneProcess, name) + std::ranges::count(kOfContent, name) > 0)
      continue;
    fingerprint.push_back({"--" + name, value.dump(), ""});
  }
  return fingerprint;
}

JobFingerprint ProgramFingerprint() {
  const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe");
  const std::string hash = Sha256(ReadFile("/proc/self/exe"));
  return {{"the program", hash,
           fmt::format("{} {}, file {}", file.filename().string(), kVersion,
                       hash.substr(0, kHashShown))},
          {"LibTorch", TORCH_VERSION, ""}};
}

std::string ToText(const JobFingerprint& fingerprint) {
  auto json = nlohmann::json::array();
  for (const JobFingerprintEntry& entry : fingerprint)
    json.push_back({entry.name, entry.value, entry.shown});
  return json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
}

JobFingerprint JobFingerprintOf(const std::string& text) {
  JobFingerprint fingerprint;
  for (const auto& entry : nlohmann::json::parse(text)) {
    fingerprint.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::string>(),
                           entry.at(2).get<std::string>()});
  }
  return fingerprint;
}

std::string DifferencesFromFirst(int rank, const JobFingerprint& own, const JobFingerprint& first) {
  std::string differences;
  const auto add = [&](const std::string& name, const JobFingerprintEntry* here,
                       const JobFingerprintEntry* there) {
    differences +=
        fmt::format("{}rank {} has {} {}, rank 0 has {}", differences.empty() ? "" : "; ", rank,
                    name, Shown(here), Shown(there));
  };
  for (const JobFingerprintEntry& entry : own) {
    const JobFingerprintEntry* const there = Find(first, entry.name);
    if (there == nullptr || there->value != entry.value) add(entry.name, &entry, there);
  }
  for (const JobFingerprintEntry& entry : first) {
    if (Find(own, entry.name) == nullptr) add(entry.name, nullptr, &entry);
  }
  return differences;
}

void RefuseDifferences(const std::string& differences) {
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("the processes of the job do not belong together: {}. Cure: start all "
                  "of them from the same program with the same options and data",
                  differences));
}

void RequireSame(ProcessGroup* group, const JobFingerprint& fingerprint) {
  if (group == nullptr) return;
  const std::vector<std::string> texts = GatherTexts(*group, ToText(fingerprint));
  const JobFingerprint first = JobFingerprintOf(texts[0]);
  std::string differences;
  for (size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) continue;
    const std::string own =
        DifferencesFromFirst(static_cast<int>(rank), JobFingerprintOf(texts[rank]), first);
    differences += (differences.empty() || own.empty() ? "" : "; ") + own;
  }
  if (!differences.empty()) RefuseDifferences(differences);
}

}  // namespace agentr
