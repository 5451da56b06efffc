#include "servers/env_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <map>
#include <utility>

#include "clients/openai/openai_model.h"
#include "common/options.h"
#include "games/babyai/babyai_text.h"
#include "games/detective/detective.h"
#include "games/lmrl/maze.h"
#include "games/lmrl/wordle.h"
#include "games/questions/guess_my_city.h"
#include "games/questions/twenty_questions.h"
#include "games/textcraft/recipe_folder.h"
#include "games/textcraft/recipe_text.h"
#include "games/webshop/shop_files.h"
#include "games/webshop/shop_generator.h"
#include "servers/model_oracle.h"
#include "servers/text_game_service.h"
#include "servers/textcraft_service.h"
#include "servers/webshop_service.h"
#include "tasks/babyai/babyai_gold.h"
#include "tasks/detective/detective_gold.h"
#include "tasks/lmrl/maze_family.h"
#include "tasks/lmrl/wordle_family.h"
#include "tasks/questions/questions_gold.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

SessionLimits LimitsOf(const EnvServerOptions& options) {
  return {options.session_ttl, options.max_sessions};
}

std::unique_ptr<EnvService> MakeTextCraft(const EnvServerOptions& options) {
  const std::vector<SourceRecipe> recipes =
      options.recipes.empty() ? BuiltInRecipes() : ReadRecipeFolder(options.recipes);
  return std::make_unique<TextCraftService>(TextCraft(RecipeBook(recipes), options.show_inventory),
                                            LimitsOf(options), !options.no_extensions);
}

Catalogue MakeCatalogue(const WebShopFilesOptions& options) {
  if (!options.products.empty()) {
    return ReadShopFiles(
        {options.products, options.attributes, options.human_goals, options.num_products});
  }
  if (!options.attributes.empty() || !options.human_goals.empty()) {
    throw FatalError(ExitCode::kUsage, "--attributes and --human_goals go with --products");
  }
  return GenerateShop(options.num_products, options.shop_seed);
}

template <typename Shop>
std::unique_ptr<EnvService> MakeWebShop(const EnvServerOptions& options) {
  const WebShopFilesOptions& files = options.webshop;
  auto shop = std::make_shared<const WebShop>(
      MakeCatalogue(files), ShopOptions{.seed = files.shop_seed,
                                        .human_goals = !files.human_goals.empty(),
                                        .show_attributes = files.show_attributes});
  if (shop->task_count() == 0) {
    throw FatalError(ExitCode::kFile,
                     "the shop has no goals: products get theirs from the instructions in "
                     "--attributes (items_ins_v2*.json) or --human_goals (items_human_ins.json)");
  }
  return std::make_unique<WebShopService<Shop>>(std::move(shop), LimitsOf(options),
                                                !options.no_extensions);
}

// Null for the built-in oracle.
template <typename Table>
std::unique_ptr<QuestionOracle> MakeOracle(const OracleOptions& options, const Table& table) {
  if (options.base.empty() && options.model.empty()) return nullptr;
  if (options.base.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "--oracle_model needs --oracle_base, the server that has the model");
  }
  if (options.model.empty()) {
    throw FatalError(ExitCode::kUsage,
                     "--oracle_base needs --oracle_model, the server's name for the model");
  }
  OpenAiOptions openai;
  openai.base = options.base;
  openai.within_s = options.timeout_s;
  openai.http.stop_grace_s = 0;  // a question that is given up leaves nothing to put in order
  auto model = std::make_unique<OpenAiModel>(options.model, openai);
  spdlog::info("asking the oracle at {} for its model {}, for at most {:g} s (--oracle_timeout)",
               fmt::join(Redacted(options.base), ", "), options.model, options.timeout_s);
  try {
    model->Discover();
  } catch (const FatalError& error) {
    throw FatalError(error.code(), fmt::format("--oracle_base: {} (--oracle_timeout {:g})",
                                               error.what(), options.timeout_s));
  }
  return std::make_unique<ModelOracle>(std::move(model), table);
}

template <typename Game>
std::unique_ptr<EnvService> MakeTextGame(Game game, const EnvServerOptions& options) {
  return std::make_unique<TextGameService<Game>>(std::move(game), LimitsOf(options),
                                                 !options.no_extensions);
}

std::unique_ptr<EnvService> MakeBabyAi(const EnvServerOptions& options) {
  BabyAiOptions babyai = options.babyai;
  babyai.reference = options.reference;
  return MakeTextGame(BabyAiText(babyai), options);
}

using ServiceMaker = std::function<std::unique_ptr<EnvService>(const EnvServerOptions&)>;

// The services of the kinds of tasks that have one.
const std::map<std::string, ServiceMaker>& Services() {
  static const std::map<std::string, ServiceMaker> services = {
      {"textcraft", MakeTextCraft},
      {"webshop", MakeWebShop<PageShop>},
      {"webshop_archer", MakeWebShop<ArcherShop>},
      {"sciworld",
       [](const EnvServerOptions& options) {
         return MakeSciWorldService(options.sciworld, LimitsOf(options), !options.no_extensions);
       }},
      {"babyai", MakeBabyAi},
      {"twenty_questions",
       [](const EnvServerOptions& options) {
         auto oracle = MakeOracle(options.oracle, WordTable::BuiltIn());
         return MakeTextGame(TwentyQuestions(options.reference, std::move(oracle)), options);
       }},
      {"guess_my_city",
       [](const EnvServerOptions& options) {
         auto oracle = MakeOracle(options.oracle, CityTable::BuiltIn());
         return MakeTextGame(GuessMyCity(options.reference, std::move(oracle)), options);
       }},
      {"detective",
       [](const EnvServerOptions& options) { return MakeTextGame(Detective(), options); }},
      {"wordle", [](const EnvServerOptions& options) { return MakeTextGame(Wordle(), options); }},
      {"maze", [](const EnvServerOptions& options) { return MakeTextGame(Maze(), options); }},
  };
  return services;
}

// "textcraft, webshop, …": the kinds of tasks that have a service.
std::string ServedTasks() {
  std::vector<std::string_view> names;
  for (const TaskKind& kind : TaskKinds()) {
    if (Services().contains(kind.name)) names.push_back(kind.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::unique_ptr<EnvService> MakeService(const EnvServerOptions& options) {
  const auto at = Services().find(options.task);
  if (at != Services().end()) return at->second(options);
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("this program has no environment server for '{}', only for {} (--task, TASK); to "
                  "use another server, give --env_server_base http://host:port",
                  options.task, ServedTasks()));
}

HttpServiceOptions WithAbout(HttpServiceOptions options, const EnvService& service) {
  options.about = [&service] {
    return AboutText{"env_server", service.Summary(),
                     "mcts_collect --env_server_base http://host:port\n\n"
                     "Programs that speak AgentGym's protocol can use this address too."};
  };
  return options;
}

}  // namespace

void Declare(OptionSet& set, WebShopFilesOptions& options) {
  set.Group("WebShop");
  set.Add("--products", options.products,
          "WebShop's items_shuffle*.json (default: products of the built-in generator)");
  set.Add("--attributes", options.attributes,
          "WebShop's items_ins_v2*.json: attributes and synthetic goals");
  set.Add("--human_goals", options.human_goals,
          "WebShop's items_human_ins.json: goals that people wrote instead of synthetic ones");
  set.Add("--num_products", options.num_products,
          "Number of products: the first ones of the file (0: all), or the number to generate");
  set.Add("--shop_seed", options.shop_seed,
          "Seed of the generator and of WebShop's random choices");
  set.AddSwitch("--show_attributes", options.show_attributes,
                "Show a page of attributes for each product");
}

void Declare(OptionSet& set, EnvServerOptions& options) {
  set.Group("Environment");
  set.Add("--task", options.task, "Environment to serve: " + ServedTasks(), "TASK");
  DeclareStyle(set, options.style, options.task, "Environment");
  set.Add(
      "--reference", options.reference,
      "1: keep the original's faults that are mended otherwise (BabyAI: \"a open door\"; Twenty "
      "Questions: names of two words cannot be guessed, and observations repeat the whole game)");
  set.Add("--recipes", options.recipes,
          "TextCraft: folder of Minecraft recipe files (default: the built-in book)");
  set.Add("--show_inventory", options.show_inventory,
          "TextCraft: every reply also says what is held, which AgentGym's does not");
  Declare(set, options.webshop);
  Declare(set, options.sciworld);
  Declare(set, options.babyai);
  set.Group("Twenty Questions, Guess My City");
  set.Add("--oracle_base", options.oracle.base,
          "Base URL of an OpenAI-compatible server whose model answers (repeatable; default: the "
          "built-in tables answer)");
  set.Add("--oracle_model", options.oracle.model, "The name of that model on the server");
  set.Add("--oracle_timeout", options.oracle.timeout_s,
          "Seconds for its answer to a question, with all repetitions; then /step is an error")
      .Min(0.001)
      .OnlySpeed();
  set.Group("Server");
  set.Add("--host", options.host, "Address to listen on; 0.0.0.0 for every network").OnlyOutput();
  set.Add("--port", options.port, "Port to listen on; 0 chooses a free one")
      .Range(0, 65535)
      .OnlyOutput();
  set.Add("--allow_host", options.allow_host,
          "A name by which requests and web pages may reach this server, in addition to those of "
          "this machine (repeatable; *: any)")
      .OnlyOutput();
  set.Add("--threads", options.threads,
          "Connections open at once; a further one replaces an idle one or is refused")
      .Range(1, 100000)
      .OnlySpeed();
  set.Add("--max_body", options.max_body, "Largest body of a request, bytes").Min(1).OnlyOutput();
  set.Add("--max_sessions", options.max_sessions, "Live sessions at once").Min(1).OnlySpeed();
  set.Add("--session_ttl", options.session_ttl,
          "Seconds without use after which a session is dropped")
      .Min(0.001)
      .OnlySpeed();
  set.AddSwitch("--no_extensions", options.no_extensions,
                "Behave like the public server: no /expand, no /version")
      .OnlySpeed();
}

EnvServer::EnvServer(std::unique_ptr<EnvService> service, HttpServiceOptions options)
    : service_(std::move(service)), http_(WithAbout(std::move(options), *service_)) {
  service_->AddTo(http_);
  http_.Start();
}

std::string ExportShop(const WebShopFilesOptions& options, const std::string& folder) {
  const Catalogue catalogue = MakeCatalogue(options);
  WriteShopFiles(catalogue, folder);
  return fmt::format(
      "{} products in {}: items_shuffle.json, items_ins_v2.json, items_human_ins.json",
      catalogue.products().size(), folder);
}

std::unique_ptr<EnvServer> StartEnvServer(const EnvServerOptions& options) {
  return std::make_unique<EnvServer>(MakeService(options),
                                     HttpServiceOptions{.host = options.host,
                                                        .port = options.port,
                                                        .max_body = options.max_body,
                                                        .threads = options.threads,
                                                        .allow_host = options.allow_host});
}

}  // namespace agentr
