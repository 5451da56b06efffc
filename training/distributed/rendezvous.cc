#include "training/distributed/rendezvous.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace {

constexpr int kMostPort = 65535;

// Reads the variables of one launcher.
class Variables {
 public:
  Variables(const GetEnv& get, std::string starter) : get_(get), starter_(std::move(starter)) {}

  bool Has(const char* name) const {
    const char* value = get_(name);
    return value != nullptr && *value != '\0';
  }
  std::string Text(const char* name) const {
    if (!Has(name)) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("{} is not set, although other variables of {} are. Cure: start "
                                   "all processes by {}, or set it too",
                                   name, starter_, starter_));
    }
    return get_(name);
  }
  int Number(const char* name, int least, int most) const {
    const std::string text = Text(name);
    const std::optional<int> number = ParseNumber<int>(text);
    if (!number || *number < least || *number > most) {
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("the environment variable {} is \"{}\", but must be a number from {} to {}",
                      name, text, least, most));
    }
    return *number;
  }
  int Number(const char* name, int least, int most, int otherwise) const {
    return Has(name) ? Number(name, least, most) : otherwise;
  }

 private:
  const GetEnv& get_;
  const std::string starter_;
};

constexpr int kMostRanks = 1 << 20;

Place OfTorchrun(const GetEnv& get) {
  const Variables v(get, "torchrun");
  Place place;
  place.size = v.Number("WORLD_SIZE", 1, kMostRanks);
  place.rank = v.Number("RANK", 0, place.size - 1);
  place.local_size = v.Number("LOCAL_WORLD_SIZE", 1, kMostRanks, 1);
  place.local_rank = v.Number("LOCAL_RANK", 0, kMostRanks, 0);
  place.host = v.Text("MASTER_ADDR");
  place.port = v.Number("MASTER_PORT", 1, kMostPort - 1);
  place.watched = v.Has(kWatchedVariable);
  // That port belongs to a store of torchrun's version of PyTorch, whose protocol may differ.
  if (v.Has("TORCHELASTIC_USE_AGENT_STORE") && v.Text("TORCHELASTIC_USE_AGENT_STORE") == "True") {
    ++place.port;
  }
  return place;
}

Place OfSlurm(const GetEnv& get) {
  const Variables v(get, "Slurm (srun)");
  Place place;
  place.size = v.Number("SLURM_NTASKS", 1, kMostRanks);
  place.rank = v.Number("SLURM_PROCID", 0, place.size - 1);
  place.local_rank = v.Number("SLURM_LOCALID", 0, kMostRanks, 0);
  if (v.Has("SLURM_NTASKS_PER_NODE")) {
    const std::string tasks = v.Text("SLURM_NTASKS_PER_NODE");  // such as 4, or 4(x2)
    place.local_size = std::max(1, ParseNumber<int>(tasks.substr(0, tasks.find('('))).value_or(1));
  }
  place.host =
      v.Has("MASTER_ADDR") ? v.Text("MASTER_ADDR") : FirstHost(v.Text("SLURM_JOB_NODELIST"));
  constexpr int kFirstPort = 20000, kPorts = 10000;
  const int made = kFirstPort + v.Number("SLURM_JOB_ID", 0, 2147483647, 0) % kPorts;
  place.port = v.Number("MASTER_PORT", 1, kMostPort, made);
  return place;
}

}  // namespace

std::optional<Place> PlaceFromEnvironment(const GetEnv& get) {
  const Variables any(get, "");
  if (any.Has("RANK") || any.Has("WORLD_SIZE")) return OfTorchrun(get);
  if (any.Has("SLURM_PROCID") && any.Has("SLURM_NTASKS")) {
    const Place place = OfSlurm(get);
    if (place.size > 1) return place;
  }
  return std::nullopt;
}

std::string ThisProcess() {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  return fmt::format("process {} on {}", ::getpid(), host);
}

std::string FirstHost(std::string_view list) {
  // Commas inside brackets separate numbers, those outside separate hosts.
  size_t end = 0;
  for (int depth = 0; end < list.size() && (depth > 0 || list[end] != ','); ++end) {
    depth += list[end] == '[' ? 1 : list[end] == ']' ? -1 : 0;
  }
  std::string host;
  for (std::string_view rest = list.substr(0, end); !rest.empty();) {
    const size_t open = rest.find('[');
    host += rest.substr(0, open);
    if (open == std::string_view::npos) break;
    const size_t close = rest.find(']', open);
    const std::string_view numbers = rest.substr(open + 1, close - open - 1);
    host += numbers.substr(0, numbers.find_first_of("-,"));
    rest = close == std::string_view::npos ? std::string_view() : rest.substr(close + 1);
  }
  return host;
}

}  // namespace agentr
