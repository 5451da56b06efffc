#include "lm/engine/completion.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "common/utf8.h"
#include "tests/lm/engine/small_engine.h"
#include "tests/lm/small_lm.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Completion, GeneratesWhatTheLogitsSay) {
  Model model;
  const GenerationRequest request = Request(Numbers(0, 9), 30);
  const Generation generation = model.Run(request);
  ExpectRight(model.decoder, request, generation);
  const GeneratedSequence& sequence = generation.sequences[0];
  EXPECT_EQ(sequence.finish_reason, "length");
  ASSERT_EQ(sequence.logprobs.size(), 30u);
  Tokens tokens = request.prompt;
  for (size_t i = 0; i < 30; ++i) {
    const std::vector<float> row = model.decoder.Logits(tokens);
    const int32_t token = sequence.token_ids[i];
    EXPECT_NEAR(sequence.logprobs[i], row[static_cast<size_t>(token)] - Sampler().LogSumExp(row),
                1e-6);
    tokens.push_back(token);
  }
  EXPECT_EQ(generation.prompt_tokens, 9);
  EXPECT_EQ(generation.cached_tokens, 0);
}

TEST(Completion, GreedyReportsTheTopAlternativeItTook) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 9), 10);
  request.params.temperature = 0;
  request.top_logprobs = 3;
  const GeneratedSequence sequence = model.Run(request).sequences[0];
  ASSERT_EQ(sequence.alternatives.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    ASSERT_EQ(sequence.alternatives[i].size(), 3u);
    EXPECT_EQ(sequence.alternatives[i][0].token, sequence.token_ids[i]);
    EXPECT_EQ(sequence.alternatives[i][0].logprob, sequence.logprobs[i]);
  }
}

TEST(Completion, LogitsThatAreNoNumbersFailTheRequest) {
  class Broken : public FakeDecoder {
   public:
    using FakeDecoder::FakeDecoder;
    std::span<const float> Forward(std::span<const SequenceChunk> batch) override {
      const std::span<const float> rows = FakeDecoder::Forward(batch);
      rows_.assign(rows.size(), std::numeric_limits<float>::quiet_NaN());
      return rows_;
    }

   private:
    std::vector<float> rows_;
  };
  Broken decoder(SmallShape());
  const ByteTokenizer tokenizer;
  Engine engine(decoder, tokenizer, {});
  const Result<Generation> failed = engine.Generate(Request(Numbers(0, 10), 5)).Wait();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kServer);
  EXPECT_THAT(failed.error().message, HasSubstr("its logits are not finite"));
}

TEST(Completion, RequestsThatCannotFitSayTheNumbersAndTheCure) {
  const auto error = [](const DecoderShape& shape, int32_t tokens) {
    Model model(shape);
    return model.engine.Generate(Request(Numbers(0, tokens), 1)).Wait().error();
  };
  const Error context = error(SmallShape(4096, 64), 64), pool = error(SmallShape(3), 12);
  EXPECT_EQ(context.kind, ErrorKind::kContextLength);
  EXPECT_THAT(context.message,
              AllOf(HasSubstr("65"), HasSubstr("64"), HasSubstr("--model_context")));
  EXPECT_EQ(pool.kind, ErrorKind::kContextLength);
  EXPECT_THAT(pool.message, AllOf(HasSubstr("13"), HasSubstr("12"), HasSubstr("--kv_cache_gib")));
}

TEST(Completion, MaxTokensIsCutToTheContext) {
  Model model(SmallShape(4096, 64));
  const GeneratedSequence sequence = model.Run(Request(Numbers(0, 60), 500)).sequences[0];
  EXPECT_EQ(sequence.token_ids.size(), 4u);
  EXPECT_EQ(sequence.finish_reason, "length");
  Model small(SmallShape(3));
  EXPECT_EQ(small.Run(Request(Numbers(0, 5), 500, 4)).sequences[3].token_ids.size(), 7u);
}

TEST(Completion, RefusesWhatMakesNoSense) {
  Model model;
  const auto complaint = [&](auto change) {
    GenerationRequest request = Request(Numbers(0, 5), 5);
    change(request);
    const Result<Generation> result = model.engine.Generate(request).Wait();
    if (result) return std::string("no error");
    EXPECT_EQ(result.error().kind, ErrorKind::kRejected);
    return result.error().message;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(complaint([](auto& r) { r.prompt.clear(); }), HasSubstr("prompt"));
  EXPECT_THAT(complaint([](auto& r) { r.prompt[1] = 258; }), HasSubstr("258"));
  EXPECT_THAT(complaint([](auto& r) { r.prompt[1] = -1; }), HasSubstr("-1"));
  EXPECT_THAT(complaint([](auto& r) { r.n = 0; }), HasSubstr("n must"));
  EXPECT_THAT(complaint([](auto& r) { r.n = 1 << 30; }), HasSubstr("n must"));
  EXPECT_THAT(complaint([](auto& r) { r.params.max_tokens = 0; }), HasSubstr("max_tokens"));
  EXPECT_THAT(complaint([](auto& r) { r.params.temperature = -0.1; }), HasSubstr("temperature"));
  EXPECT_THAT(complaint([&](auto& r) { r.params.temperature = nan; }), HasSubstr("temperature"));
  EXPECT_THAT(complaint([](auto& r) { r.params.top_k = -1; }), HasSubstr("top_k"));
  EXPECT_THAT(complaint([](auto& r) { r.params.top_p = 0; }), HasSubstr("top_p"));
  EXPECT_THAT(complaint([](auto& r) { r.params.top_p = 1.1; }), HasSubstr("top_p"));
  EXPECT_THAT(complaint([](auto& r) { r.params.min_p = 2; }), HasSubstr("min_p"));
  EXPECT_THAT(complaint([](auto& r) { r.params.repetition_penalty = 0; }), HasSubstr("penalty"));
  EXPECT_THAT(complaint([](auto& r) { r.top_logprobs = -1; }), HasSubstr("top_logprobs"));
  EXPECT_THAT(complaint([](auto& r) { r.params.stop = {"a", ""}; }), HasSubstr("stop string"));
  EXPECT_EQ(model.engine.stats().requests, 0);
  EXPECT_THROW(Engine(model.decoder, model.tokenizer, {.max_batch = 0}), FatalError);
}

TEST(Completion, StopTokensEndACompletion) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 9), 400);
  request.stop_tokens = {10, ByteTokenizer::kEos, 30};
  const GeneratedSequence sequence = model.Run(request).sequences[0];
  EXPECT_EQ(sequence.token_ids, Expected(model.decoder, request, 0));
  ASSERT_LT(sequence.token_ids.size(), 400u);
  EXPECT_EQ(sequence.finish_reason, "stop");
  const Tokens before(sequence.token_ids.begin(), sequence.token_ids.end() - 1);
  EXPECT_EQ(sequence.logprobs.size(), sequence.token_ids.size());
  IncrementalDecoder decoder(model.tokenizer);
  std::string text;
  for (const int32_t token : before) text += decoder.Add(token);
  EXPECT_EQ(sequence.text, text + decoder.Finish());
}

TEST(Completion, StopStringsEndACompletionAcrossTokens) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 9), 60);
  request.params.temperature = 0;
  const std::string whole = model.Run(request).sequences[0].text;
  request.params.stop = {"never said", whole.substr(20, 7)};
  std::string streamed;
  request.on_text = [&](int, std::string_view piece) { streamed += piece; };
  const GeneratedSequence sequence = model.Run(request).sequences[0];
  EXPECT_EQ(sequence.text, whole.substr(0, 20));
  EXPECT_EQ(streamed, sequence.text);
  EXPECT_EQ(sequence.finish_reason, "stop");
  EXPECT_LT(sequence.token_ids.size(), 60u);
}

TEST(Completion, TheTokensOfAStopStringCanBeLeftOut) {
  const CharacterTokenizer tokenizer;
  const auto sequence = [&](const std::string& sampled, const std::string& text) {
    GeneratedSequence made;
    for (const char c : sampled) made.token_ids.push_back(CharacterTokenizer::Of(c));
    made.logprobs.resize(sampled.size());
    made.alternatives.resize(sampled.size());
    made.text = text;
    return made;
  };
  GeneratedSequence stopped = sequence("go Observation:", "go ");
  LeaveOutStop(tokenizer, stopped);
  EXPECT_EQ(tokenizer.Decode(stopped.token_ids, true), "go ");
  EXPECT_EQ(stopped.left_out, 12);
  EXPECT_EQ(stopped.logprobs.size(), 3U);
  EXPECT_EQ(stopped.alternatives.size(), 3U);
  // If no tokens spell the text, because one of them crosses its end, none can stay.
  GeneratedSequence crossed = sequence("go Obs", "gx");
  LeaveOutStop(tokenizer, crossed);
  EXPECT_TRUE(crossed.token_ids.empty());
  EXPECT_EQ(crossed.left_out, 6);
  // A stop token, or the limit, ended this one.
  GeneratedSequence whole = sequence("go", "go");
  whole.token_ids.push_back(CharacterTokenizer::kEnd);
  LeaveOutStop(tokenizer, whole);
  EXPECT_EQ(whole.token_ids.size(), 3U);
  EXPECT_EQ(whole.left_out, 0);
}

// A tokenizer that leaves out the first byte of a text.
class Beheading : public ByteTokenizer {
  std::string FirstTokenBytes(int32_t) const override { return ""; }
};

TEST(Completion, OfATextThatGoesOnHasItsBeginning) {
  const Beheading tokenizer;
  FakeDecoder decoder(SmallShape());
  Engine engine(decoder, tokenizer, {});
  GenerationRequest request = Request({'a'}, 9);
  request.params.temperature = 0;
  request.continues_text = true;
  const GeneratedSequence sequence = engine.Generate(request).Wait()->sequences[0];
  EXPECT_EQ(sequence.text, ToValidUtf8(tokenizer.Decode(sequence.token_ids, true)));
  // The tokens of a stop string are left out of the same text.
  GeneratedSequence stopped;
  stopped.text = "a b";
  stopped.token_ids = {'a', ' ', 'b', '.'};
  stopped.logprobs.resize(4);
  LeaveOutStop(tokenizer, stopped, /*continues_text=*/true);
  EXPECT_EQ(stopped.token_ids.size(), 3U);
}

TEST(Completion, WhatWasHeldBackForAStopStringIsPartOfTheText) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 9), 60);
  request.params.temperature = 0;
  const std::string whole = model.Run(request).sequences[0].text;
  request.params.stop = {whole.substr(whole.size() - 3) + " and more"};
  const GeneratedSequence sequence = model.Run(request).sequences[0];
  EXPECT_EQ(sequence.text, whole);
  EXPECT_EQ(sequence.finish_reason, "length");
}

TEST(Completion, StreamsEachCompletionsText) {
  Model model(SmallShape(60));
  std::map<int, std::string> streamed;
  GenerationRequest request = Request(Numbers(0, 9), 30, 4);
  const auto engine_thread = std::make_shared<std::set<std::thread::id>>();
  request.on_text = [&, engine_thread](int index, std::string_view piece) {
    engine_thread->insert(std::this_thread::get_id());
    streamed[index] += piece;
  };
  const Generation generation = model.Run(request);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(streamed[i], generation.sequences[static_cast<size_t>(i)].text);
    EXPECT_FALSE(streamed[i].empty());
  }
  EXPECT_EQ(engine_thread->size(), 1u);
  EXPECT_EQ(engine_thread->count(std::this_thread::get_id()), 0u);
}

TEST(Completion, AFailureOfTheCallersCodeFailsItsRequest) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 10), 50);
  request.on_text = [](int, std::string_view) { throw std::runtime_error("connection closed"); };
  const Result<Generation> failed = model.engine.Generate(request).Wait();
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("connection closed"));
  ExpectNoLeak(model);
}

TEST(Completion, AfterAFailureTheOthersOfTheRequestAreSilent) {
  Model model;
  GenerationRequest request = Request(Numbers(0, 10), 50, 4);
  int calls_of_first = 0;
  int calls_after = 0;
  request.on_text = [&](int index, std::string_view) {
    calls_after += calls_of_first == 3;
    if (index == 0 && ++calls_of_first == 3) throw std::runtime_error("connection closed");
  };
  ASSERT_FALSE(model.engine.Generate(request).Wait());
  EXPECT_EQ(calls_after, 0);
}

}  // namespace
}  // namespace agentr
