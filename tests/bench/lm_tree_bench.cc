// lm_tree_bench: runs the requests of a recorded search through the engine, with the prefix cache
// and without it (the baseline), in one run.
//
//   mcts_collect --task textcraft --min 31 --max 41
//   lm_tree_bench --trees mcts_result/textcraft/planner
//
// Each node with children is a request: its conversation as prompt, as many samples as it has
// children, as long as the longest of them. The requests of a tree are made one after the other, as
// in the search, and the trees run at the same time. The model is lm_bench's with random weights.
// The tokenizer is the Llama-3 one of the goldens, which has 706 tokens, so prompts are longer than
// with a real one.
#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/clock.h"
#include "common/error.h"
#include "common/file.h"
#include "common/options.h"
#include "lm/chat/chat_template.h"
#include "lm/engine/engine.h"
#include "mcts/tree_file.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/decoder/load_decoder.h"
#include "tests/lm/decoder/random_model.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::string trees = "mcts_result/textcraft/planner";
  std::string dtype = "bfloat16";
  int nodes = 60;  // of each tree
  int threads = 2;
  double kv_cache_gib = 2;
};

struct Call {
  std::vector<int32_t> prompt;
  int n = 0;
  int max_tokens = 0;
};

std::vector<Call> CallsOf(const Tree& tree, const Tokenizer& tokenizer, const ChatTemplate& chat,
                          int most) {
  std::vector<Call> calls;
  for (int i = 0; i < tree.size() && static_cast<int>(calls.size()) < most; ++i) {
    const Node& node = tree.node(i);
    if (node.children.empty()) continue;
    Call call;
    call.prompt = chat.Apply(tree.SeenConversation(i), /*generation=*/true).value().ids;
    call.n = static_cast<int>(node.children.size());
    for (const int child : node.children) {
      const auto length = tokenizer.Encode(tree.node(child).response).size();
      call.max_tokens = std::max(call.max_tokens, static_cast<int>(length));
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

void Measure(const std::vector<std::vector<Call>>& trees, const Tokenizer& tokenizer,
             Decoder& decoder, bool cache) {
  Engine engine(decoder, tokenizer, {.prefix_cache = cache});
  std::atomic<int64_t> nodes = 0;
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (const auto& calls : trees) {
      threads.emplace_back([&] {
        for (const Call& call : calls) {
          GenerationRequest request;
          request.prompt = call.prompt;
          request.n = call.n;
          request.params.max_tokens = call.max_tokens;
          if (!engine.Generate(std::move(request)).Wait()) std::abort();
          nodes += call.n;
        }
      });
    }
  }
  const double seconds = SecondsSince(begin);
  const EngineStats stats = engine.stats();
  fmt::print(
      "{:<14} {:6.1f} s  {:5.1f}% of {} prompt tokens from the cache  {:7.0f} new tokens/s  "
      "{:8.0f} tokens/s in all  {:5.1f} nodes/s\n",
      cache ? "prefix cache" : "without", seconds,
      100 * static_cast<double>(stats.cached_tokens) / static_cast<double>(stats.prompt_tokens),
      stats.prompt_tokens, static_cast<double>(stats.completion_tokens) / seconds,
      static_cast<double>(stats.prompt_tokens + stats.completion_tokens) / seconds,
      static_cast<double>(nodes) / seconds);
}

ExitCode Main(int argc, char** argv) {
  BenchOptions o;
  OptionSet set("lm_tree_bench", "A recorded search through the engine, with and without cache.");
  set.Add("--trees", o.trees, "Folder of tree files");
  set.Add("--dtype", o.dtype, "float32 | bfloat16");
  set.Add("--nodes", o.nodes, "Requests of each tree").Min(1);
  set.Add("--threads", o.threads, "Threads of the model").Min(1);
  set.Add("--kv_cache_gib", o.kv_cache_gib, "Memory for keys and values");
  if (const auto code = set.Parse(argc, argv)) return *code;

  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
  const auto golden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/tokenizers/llama3.json"));
  WriteFileAtomically(folder / "tokenizer.json", golden["tokenizer"].dump());
  WriteFileAtomically(folder / "tokenizer_config.json", golden["tokenizer_config"].dump());
  ModelConfig config = SmallLlama();
  config.max_context = 32768;
  WriteRandomModel(folder, config, 1);
  const auto tokenizer = Tokenizer::Load(folder);
  const auto chat = ChatTemplate::Make("auto", *tokenizer);
  std::vector<std::vector<Call>> trees;
  for (const auto& entry : fs::directory_iterator(o.trees)) {
    if (!entry.path().filename().string().starts_with("search_results_")) continue;
    const Tree tree = ReadTree(ReadFile(entry.path()), entry.path().string());
    trees.push_back(CallsOf(tree, *tokenizer, *chat, o.nodes));
  }
  if (trees.empty()) throw FatalError(ExitCode::kFile, o.trees + " has no trees");
  DecoderOptions options;
  options.dtype = o.dtype;
  options.threads = o.threads;
  options.kv_cache_gib = o.kv_cache_gib;
  const auto decoder = LoadDecoder(folder, options);
  for (const bool cache : {true, false}) Measure(trees, *tokenizer, *decoder, cache);
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Main(argc, argv); });
}
