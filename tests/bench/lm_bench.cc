// lm_bench: tokens per second of the decoder for prompts (prefill) and generation (decode), with a
// random Llama of 22 million parameters or any model, and the greatest memory that the process
// took.
//
//   lm_bench                           float32 and bfloat16, batch 1, 8 and 32, prompt 512
//   lm_bench --write_model DIR         writes the model, for the two others on the same machine:
//   tests/bench/lm_transformers.py DIR
//   tests/bench/lm_llama_cpp.py DIR    (or a GGUF file, or DIR --dtype q4_k --keep FILE.gguf)
//   lm_bench --model_dir FILE.gguf --dtype auto
//   AGENTR_SIMD=avx2 lm_bench …        at a lower level
//   lm_bench --limits                  beside what matrix products and memory allow at most
//   lm_bench --model_dir FILE.gguf --dtype auto --perplexity TEXT    how well it foretells a text
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "common/error.h"
#include "common/file.h"
#include "common/options.h"
#include "common/simd.h"
#include "lm/engine/sampler.h"
#include "lm/tokenizer/tokenizer.h"
#include "tests/bench/decoder_limits.h"
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
  bool limits = false;
  std::string perplexity;
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
  set.AddSwitch("--limits", o.limits,
                "Also print each speed as a share of what matrix products and memory allow (CPU)");
  set.Add("--perplexity", o.perplexity,
          "Only the perplexity of this text in windows of --prompt tokens (with --model_dir)");
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
  Sampler sampler;
  const SamplingParams greedy = {.temperature = 0};
  const auto round = [&] {
    std::vector<SequenceChunk> chunks;
    for (PagedText& text : texts) chunks.push_back(text.Next(source));
    const auto logits = decoder.Forward(chunks);
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto row = logits.subspan(i * vocabulary, vocabulary);
      texts[i].tokens.push_back(sampler.FilterLogits(row, greedy, {}).front().token);
    }
  };
  const double start = Seconds();
  round();
  const double prompts_done = Seconds();
  for (int i = 0; i < o.tokens; ++i) round();
  const double end = Seconds();
  return {batch * o.prompt / (prompts_done - start), batch * o.tokens / (end - prompts_done)};
}

// One line of the table.
struct Case {
  std::string dtype;
  int batch = 1;
  double kv_bytes = 0;  // of one position
  Speeds speeds;
};

// Last, since what it measures takes memory.
void PrintShares(const fs::path& folder, const BenchOptions& o, const std::vector<Case>& cases) {
  const DecoderLimits limits(folder, o.threads);
  fmt::print(
      "\nmemory is read at {:.1f} GB/s; share of the most that is possible:\n"
      "dtype      batch   prefill    decode\n",
      limits.memory_bytes_per_s() / 1e9);
  for (const Case& it : cases) {
    const double prefill = limits.Prefill(it.dtype, o.prompt);
    const double decode = limits.Decode(it.dtype, it.batch, o.prompt + o.tokens / 2.0, it.kv_bytes);
    fmt::print("{:<10} {:>5}  {:>8}  {:>7.0f}%\n", it.dtype, it.batch,
               prefill > 0 ? fmt::format("{:.0f}%", 100 * it.speeds.prefill / prefill) : "",
               100 * it.speeds.decode / decode);
  }
}

void Measure(const fs::path& folder, const BenchOptions& o) {
  fmt::print(
      "{}: prompt {}, {} tokens, {} threads, {}; tokens per second, the fastest of {}\n\n"
      "dtype      batch   prefill    decode  peak MiB\n",
      DescribeProcessor(), o.prompt, o.tokens, o.threads, o.device, o.rounds);
  std::vector<Case> cases;
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
      const DecoderShape& shape = decoder->shape();
      cases.push_back(
          {dtype, batch, static_cast<double>(shape.block_bytes) / shape.block_tokens, best});
    }
  }
  if (o.limits) PrintShares(folder, o, cases);
}

// exp of the mean of -ln p(token) over the tokens of the text; each window of --prompt tokens is
// read without those before it, behind BOS where the tokenizer puts one, as lm_llama_cpp.py does.
void MeasurePerplexity(const fs::path& folder, const BenchOptions& o) {
  const auto tokenizer = Tokenizer::Load(folder);
  const std::vector<int32_t> ids = tokenizer->Encode(ReadFile(o.perplexity), SpecialText::kPlain);
  for (const std::string& dtype : o.dtypes) {
    const auto decoder = LoadDecoder(
        folder, {.device = o.device, .dtype = dtype, .kv_dtype = o.kv_dtype, .threads = o.threads});
    const auto vocabulary = static_cast<size_t>(decoder->shape().vocab_size);
    double sum = 0;
    int64_t count = 0;
    for (size_t begin = 0; begin < ids.size(); begin += o.prompt) {
      BlockSource source(*decoder, o.prompt + 2 * decoder->shape().block_tokens);
      PagedText text;
      const size_t end = std::min(ids.size(), begin + o.prompt);
      text.tokens.assign(ids.begin() + begin, ids.begin() + end);
      if (tokenizer->adds_bos()) text.tokens.insert(text.tokens.begin(), *tokenizer->bos());
      const auto length = static_cast<int32_t>(text.tokens.size());
      const auto chunk = text.Next(source, length);
      const auto logits = decoder->Forward({&chunk, 1});
      for (int32_t i = 0; i + 1 < length; ++i, ++count) {
        const auto row = logits.subspan(i * vocabulary, vocabulary);
        const float most = row[Highest(row)];
        double exponentials = 0;
        for (const float logit : row) exponentials += std::exp(static_cast<double>(logit - most));
        sum += std::log(exponentials) + most - row[text.tokens[i + 1]];
      }
    }
    fmt::print("{:<10} perplexity {:.4f} of {} tokens\n", dtype,
               std::exp(sum / static_cast<double>(count)), count);
  }
}

ExitCode Main(int argc, char** argv) {
  BenchOptions o;
  OptionSet set("lm_bench", "Tokens per second of the in-process language model.");
  Declare(set, o);
  if (const auto code = set.Parse(argc, argv)) return *code;
  BenchModel(
      o.write_model, o.model_dir,
      [&](const fs::path& folder) {
        o.perplexity.empty() ? Measure(folder, o) : MeasurePerplexity(folder, o);
      },
      o.large ? LargeLlama() : SmallLlama());
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Main(argc, argv); });
}
