// env_server: an AgentGym-compatible environment server.
#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cstdio>

#include "common/interrupt.h"
#include "common/logging.h"
#include "common/options.h"
#include "servers/env_server.h"

namespace agentr {
namespace {

ExitCode Run(int argc, char** argv) {
  OptionSet set(
      "env_server",
      "Serves an environment over AgentGym's HTTP protocol.\n"
      "The original WebShop compares products by the nouns of their titles, which it finds with\n"
      "a statistical tagger. Here every word of a title counts as a noun unless it is a stop\n"
      "word, number, colour, size or common shop adjective, so a few rewards may differ.",
      "  env_server --task webshop --port 32361\n"
      "  env_server --task webshop --products items_shuffle.json --attributes items_ins_v2.json\n"
      "  env_server --task textcraft --recipes recipes/\n"
      "  env_server --task sciworld --jvm_heap 8g\n"
      "  curl -X POST http://127.0.0.1:32361/create");
  EnvServerOptions options;
  std::string export_to;
  LogOptions log;
  Declare(set, options);
  set.Add("--export", export_to,
          "Only write the WebShop's products into this folder in WebShop's file format");
  Declare(set, log);
  if (const auto exit = set.Parse(argc, argv)) return *exit;
  InitLogging(log);
  if (!export_to.empty()) {
    fmt::print("{}\n", ExportShop(options.webshop, export_to));
    return ExitCode::kOk;
  }

  SignalWait signals;
  const auto server = StartEnvServer(options);
  fmt::print("{} ({})\n", server->base_url(), server->Summary());
  std::fflush(stdout);

  spdlog::info("signal {}: stopping", signals.Wait());
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Run(argc, argv); });
}
