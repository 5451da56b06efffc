// An environment server in this process: for the program env_server, or embedded with port 0.
//
//   EnvServerOptions options{.task = "textcraft", .port = 0};
//   const auto server = StartEnvServer(options);
//   … server->base_url() …
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/secret.h"
#include "games/babyai/babyai_text.h"
#include "games/webshop/shop_generator.h"
#include "servers/env_service.h"
#include "servers/http/http_service.h"
#include "servers/http/session_store.h"
#include "servers/sciworld/sciworld_server.h"

namespace agentr {

class OptionSet;

// The source of the shop: WebShop's own files, or the built-in generator.
struct WebShopFilesOptions {
  std::string products = "";     // items_shuffle*.json; empty: generated
  std::string attributes = "";   // items_ins_v2*.json
  std::string human_goals = "";  // items_human_ins.json: goals from instructions that people wrote
  // The number of products: the first ones of the file (0: all), or the number to generate.
  size_t num_products = kDefaultShopSize;
  // Seed of the generator and of the original's random choices.
  uint64_t shop_seed = kDefaultShopSeed;
  bool show_attributes = false;  // a page of attributes for each product
};

// Who answers in Twenty Questions and Guess My City.
struct OracleOptions {
  std::vector<Secret> base = {};  // OpenAI-compatible servers; none: the built-in tables
  std::string model = "";         // the servers' name for the model
  double timeout_s = 30;          // for one question, with its repetitions; then /step is an error
};

struct EnvServerOptions {
  std::string task = "webshop";  // TaskKind::name
  std::string style = "";        // DeclareStyle
  std::string recipes = "";      // TextCraft: folder of recipe files; empty: the built-in book
  bool show_inventory = false;   // TextCraft: every reply also says what is held
  WebShopFilesOptions webshop = {};
  SciWorldOptions sciworld = {};
  BabyAiOptions babyai = {};
  OracleOptions oracle = {};
  bool reference = false;          // keep faults of the originals that are mended otherwise
  std::string host = "127.0.0.1";  // 0.0.0.0 for every network
  // 0: a free one. AgentGym's own 36001 is among the ports of outgoing connections (32768 and above
  // on Linux), so it could be taken by chance at a restart.
  int port = 32361;
  std::vector<std::string> allow_host = {};  // names in addition to those of this machine; see
                                             // HostNames
  size_t max_sessions = SessionLimits{}.max_sessions;
  double session_ttl = SessionLimits{}.ttl_s;       // seconds without use
  bool no_extensions = false;                       // like the public servers: no /expand, /version
  size_t max_body = HttpServiceOptions{}.max_body;  // bytes
  int threads = HttpServiceOptions{}.threads;       // connections served at once
};

void Declare(OptionSet& set, EnvServerOptions& options);

// A running server. The destructor stops it quickly, even if connections are open.
class EnvServer {
 public:
  // Throws FatalError(kUsage) if the port is taken.
  EnvServer(std::unique_ptr<EnvService> service, HttpServiceOptions options);

  std::string base_url() const { return http_.base_url(); }
  int port() const { return http_.port(); }
  std::string Summary() const { return service_->Summary(); }

 private:
  std::unique_ptr<EnvService> service_;
  HttpService http_;  // last, so that it stops before its routes are destroyed
};

// Writes the products of the shop as WebShop's own three files into `folder`; returns a description
// of what it wrote. Throws FatalError(kFile).
std::string ExportShop(const WebShopFilesOptions& options, const std::string& folder);

// Throws FatalError: kUsage for an unknown task or a taken port; kFile for bad recipes or products,
// or if SciWorld's Java or simulator is missing.
std::unique_ptr<EnvServer> StartEnvServer(const EnvServerOptions& options);

}  // namespace agentr
