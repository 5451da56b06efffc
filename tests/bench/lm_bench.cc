// lm_bench: tokens per second of the decoder for prompts (prefill) and generation (decode), with a
// random Llama of 22 million parameters or any model, and the greatest memory that the process took.
//
//   lm_bench                           float32 and bfloat16, batch 1, 8 and 32, prompt 512
//   lm_bench --write_model DIR         writes the model, for the two others on the same machine:
//   tests/bench/lm_transformers.py DIR
//   tests/bench/lm_llama_cpp.py DIR    (or a GGUF file, or DIR --dtype q4_k --keep FILE.gguf)
//   lm_bench --model_dir FILE.gguf --dtype auto
//   AGENTR_SIMD=avx2 lm_bench …        at a lower level
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "common/error.h"
#include "common/options.h"
#include "common/simd.h"
#include "tests/lm/decoder/load_decoder.h"
#include "tests/lm/decoder/paged_text.h"
#include "tests/lm/decoder/random_model.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  std::string write_model;
  std::string model_dir;
  std::vector<std::string> dtypes = {"float32", "bfloat16"};
  std::vector<int> batches = {1, 8, 32};
  int prompt = 512;
  int tokens = 64;
  int rounds = 3;
  int threads = 2;
  std::string device = "cpu";
  std::string kv_dtype = "auto";
  bool reference = false;
  bool large = false;
};

void Declare(OptionSet& set, BenchOptions& o) {
  set.Group("Benchmark");
  set.Add("--write_model", o.write_model, "Only write the model into this folder");
  set.Add("--model_dir", o.model_dir, "Measure this model instead of the random one");
  set.AddSwitch("--large", o.large,
                "The random model has 0.45 billion parameters instead of 22 million");
  set.Add("--dtype", o.dtypes, "Types to measure, as those of agent_eval (repeatable)");
  set.Add("--kv_dtype", o.kv_dtype, "Type of keys and values");
  set.Add("--batch", o.batches, "Sequences in a batch (repeatable)");
  set.Add("--prompt", o.prompt, "Tokens of a prompt").Min(1);
  set.Add("--tokens", o.tokens, "Tokens to generate per sequence").Min(1);
  set.Add("--rounds", o.rounds, "Measurements; the fastest counts").Min(1);
  set.Add("--threads", o.threads, "Threads on the CPU").Min(1);
  set.Add("--device", o.device, "cpu | cuda | cuda:N");
  set.AddSwitch("--reference", o.reference, "Measure the plain operators");
}

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double PeakMiB() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

struct Speeds {
  double prefill = 0;  // tokens per second
  double decode = 0;
};

Speeds MeasureOnce(Decoder& decoder, const BenchOptions& o, int batch) {
  const auto vocabulary = static_cast<size_t>(decoder.shape().vocab_size);
  BlockSource source(decoder, batch * (o.prompt + o.tokens + decoder.shape().block_tokens));
  RandomStream stream(3);
  std::vector<PagedText> texts(batch);
  for (PagedText& text : texts) {
    for (int i = 0; i < o.prompt; ++i) {
      text.tokens.push_back(static_cast<int32_t>(stream.Below(vocabulary)));
    }
  }
  const auto round = [&] {
    std::vector<SequenceChunk> chunks;
    for (PagedText& text : texts) chunks.push_back(text.Next(source));
    const auto logits = decoder.Forward(chunks);
    for (size_t i = 0; i < texts.size(); ++i) {
      texts[i].tokens.push_back(Highest(logits.subspan(i * vocabulary, vocabulary)));
    }
  };
  const double start = Seconds();
  round();
  const double prompts_done = Seconds();
  for (int i = 0; i < o.tokens; ++i) round();
  const double end = Seconds();
  return {batch * o.prompt / (prompts_done - start), batch * o.tokens / (end - prompts_done)};
}

void Measure(const fs::path& folder, const BenchOptions& o) {
  fmt::print(
      "{}: prompt {}, {} tokens, {} threads, {}; tokens per second, the fastest of {}\n\n"
      "dtype      batch   prefill    decode  peak MiB\n",
      DescribeProcessor(), o.prompt, o.tokens, o.threads, o.device, o.rounds);
  for (const std::string& dtype : o.dtypes) {
    DecoderOptions options;
    options.device = o.device;
    options.dtype = dtype;
    options.kv_dtype = o.kv_dtype;
    options.threads = o.threads;
    options.reference = o.reference;
    const auto decoder = LoadDecoder(folder, options);
    for (const int batch : o.batches) {
      Speeds best;
      for (int i = 0; i < o.rounds; ++i) {
        const Speeds speeds = MeasureOnce(*decoder, o, batch);
        best.prefill = std::max(best.prefill, speeds.prefill);
        best.decode = std::max(best.decode, speeds.decode);
      }
      fmt::print("{:<10} {:>5}  {:>8.0f}  {:>8.0f}  {:>8.0f}\n", dtype, batch, best.prefill,
                 best.decode, PeakMiB());
      std::fflush(stdout);
    }
  }
}

ExitCode Main(int argc, char** argv) {
  BenchOptions o;
  OptionSet set("lm_bench", "Tokens per second of the in-process language model.");
  Declare(set, o);
  if (const auto code = set.Parse(argc, argv)) return *code;
  BenchModel(
      o.write_model, o.model_dir, [&](const fs::path& folder) { Measure(folder, o); },
      o.large ? LargeLlama() : SmallLlama());
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Main(argc, argv); });
}
