// env_server: an AgentGym-compatible environment server.
#include <fmt/core.h>

#include "apps/program.h"
#include "servers/env_server.h"

namespace agentr {
namespace {

struct ExportOption {
  std::string folder;
};

void Declare(OptionSet& set, ExportOption& o) {
  set.Add("--export", o.folder,
          "Only write the WebShop's products into this folder in WebShop's file format")
      .OnlyOutput();
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  agentr::EnvServerOptions options;
  agentr::ExportOption to;
  const auto serve = [&](const agentr::OptionSet&) {
    if (!to.folder.empty()) {
      fmt::print("{}\n", ExportShop(options.webshop, to.folder));
      return agentr::ExitCode::kOk;
    }
    return agentr::ServeUntilSignal([&] { return StartEnvServer(options); });
  };
  return agentr::RunWithOptions(
      argc, argv,
      {"env_server",
       "Serves an environment over AgentGym's HTTP protocol.\n"
       "The original WebShop compares products by the nouns of their titles, which it finds with\n"
       "a statistical tagger. Here every word of a title counts as a noun unless it is a stop\n"
       "word, number, colour, size or common shop adjective, so a few rewards may differ.",
       "  env_server --task webshop --port 32361\n"
       "  env_server --task webshop --products items_shuffle.json --attributes items_ins_v2.json\n"
       "  env_server --task textcraft --recipes recipes/\n"
       "  env_server --task sciworld --jvm_heap 8g\n"
       "  curl -X POST http://127.0.0.1:32361/create"},
      serve, options, to);
}
