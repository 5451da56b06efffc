#include "servers/env_server.h"

#include <fmt/format.h>

#include "servers/recipe_folder.h"
#include "servers/recipe_text.h"
#include "servers/textcraft_service.h"

namespace agentr {
namespace {

std::unique_ptr<EnvService> MakeService(const EnvServerOptions& options) {
  if (options.task != "textcraft") {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("no environment '{}' in this program; --task (or TASK) is one of: "
                                 "textcraft",
                                 options.task));
  }
  const std::vector<SourceRecipe> recipes =
      options.recipes.empty() ? BuiltInRecipes() : ReadRecipeFolder(options.recipes);
  return std::make_unique<TextCraftService>(
      RecipeBook(recipes), SessionLimits{options.session_ttl, options.max_sessions},
      !options.no_extensions);
}

}  // namespace

void Declare(OptionSet& set, EnvServerOptions& options) {
  set.Group("Environment");
  set.Add("--task", options.task, "Which environment: textcraft", "TASK");
  set.Add("--recipes", options.recipes,
          "TextCraft: folder of Minecraft recipe files (default: the built-in book)");
  set.Group("Server");
  set.Add("--host", options.host, "Address to listen on; 0.0.0.0 for every network");
  set.Add("--port", options.port, "Port to listen on; 0 takes a free one").Range(0, 65535);
  set.Add("--threads", options.threads, "Connections served at once; more wait").Range(1, 100000);
  set.Add("--max_body", options.max_body, "Largest body of a request, bytes").Min(1);
  set.Add("--max_sessions", options.max_sessions, "Live sessions at once").Min(1);
  set.Add("--session_ttl", options.session_ttl, "Seconds without a use until a session is dropped")
      .Min(0.001);
  set.AddSwitch("--no_extensions", options.no_extensions,
                "Be like the public server: no /expand, no /version");
}

EnvServer::EnvServer(std::unique_ptr<EnvService> service, HttpServiceOptions options)
    : service_(std::move(service)), http_(std::move(options)) {
  service_->AddTo(http_);
  http_.Start();
}

std::unique_ptr<EnvServer> StartEnvServer(const EnvServerOptions& options) {
  return std::make_unique<EnvServer>(MakeService(options),
                                     HttpServiceOptions{.host = options.host,
                                                        .port = options.port,
                                                        .max_body = options.max_body,
                                                        .threads = options.threads});
}

}  // namespace agentr
