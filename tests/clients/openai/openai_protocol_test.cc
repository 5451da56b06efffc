#include "clients/openai/openai_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/clients/expect_error.h"

namespace agentr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Message> kConversation = {{"system", "Be brief."}, {"user", "Say \"hi\"."}};

TEST(ChatBody, HasTheVariablesOfTheTemplateAndTheThoughts) {
  ChatExtras extras;
  extras.seed = false;
  extras.chat_kwargs = R"({"enable_thinking":false})";
  const std::vector<Message> talk = {{"user", "u"}, {"assistant", "a", "hm"}, {"user", "v"}};
  SamplingParams sampling;
  sampling.stop = {"Observation:"};
  auto body = nlohmann::json::parse(ChatBody("m", talk, 1, 0, sampling, extras));
  EXPECT_EQ(body["chat_template_kwargs"].dump(), R"({"enable_thinking":false})");
  EXPECT_EQ(body["stop"].dump(), R"(["Observation:"])");
  EXPECT_EQ(body["messages"].dump(),
            R"([{"content":"u","role":"user"},{"content":"a","reasoning_content":"hm",)"
            R"("role":"assistant"},{"content":"v","role":"user"}])");
  extras.fields = {{"chat_template_kwargs", R"({"n":1})"}};  // --llm_field wins
  body = nlohmann::json::parse(ChatBody("m", talk, 1, 0, sampling, extras));
  EXPECT_EQ(body["chat_template_kwargs"].dump(), R"({"n":1})");
}

TEST(ParseChat, ReadsAThoughtBesideTheContent) {
  for (const char* name : {"reasoning_content", "reasoning"}) {
    const auto batch = ParseChat(R"({"choices":[{"message":{"content":"a",")" + std::string(name) +
                                 R"(":"hm"},"finish_reason":"stop"}]})");
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->completions[0].text, "a");
    EXPECT_EQ(batch->completions[0].reasoning, "hm");
  }
  const auto none = ParseChat(
      R"({"choices":[{"message":{"content":"a","reasoning_content":null},"finish_reason":"stop"}]})");
  EXPECT_EQ(none.value().completions[0].reasoning, "");
}

TEST(ChatBody, HasWhatEveryServerTakes) {
  SamplingParams sampling;
  sampling.temperature = 0.5;
  EXPECT_EQ(ChatBody("m", kConversation, 1, 0, sampling, {.seed = false, .token_ids = false}),
            R"({"max_tokens":500,"messages":[{"content":"Be brief.","role":"system"},)"
            R"({"content":"Say \"hi\".","role":"user"}],"model":"m","temperature":0.5})");
}

TEST(ChatBody, FurtherFieldsAreAddedReplacedAndLeftOut) {
  SamplingParams sampling;
  sampling.top_p = 0.9;
  ChatExtras extras = {.seed = false, .max_completion_tokens = true};
  extras.fields = {{"top_k", "20"},
                   {"temperature", ""},
                   {"top_p", "0.5"},
                   {"absent", ""},
                   {"chat_template_kwargs", R"({"enable_thinking": false})"}};
  auto body = nlohmann::json::parse(ChatBody("m", kConversation, 1, 0, sampling, extras));
  body.erase("messages");
  EXPECT_EQ(body.dump(), R"({"chat_template_kwargs":{"enable_thinking":false},)"
                         R"("max_completion_tokens":500,"model":"m","top_k":20,"top_p":0.5})");
}

TEST(ChatBody, HasMoreOnlyWhereAsked) {
  SamplingParams sampling;
  sampling.stop = {"\n", "Observation:"};
  sampling.logprobs = true;
  const auto body = nlohmann::json::parse(
      ChatBody("m", kConversation, 8, 0, sampling, {.seed = true, .token_ids = true}));
  EXPECT_EQ(body["n"], 8);
  EXPECT_EQ(body["stop"].dump(), R"(["\n","Observation:"])");
  EXPECT_EQ(body["logprobs"], true);
  EXPECT_EQ(body["return_token_ids"], true);
  EXPECT_TRUE(body["seed"].is_number_unsigned());
}

TEST(ChatBody, TheSeedDependsOnTheCallAndOnWhatCameBefore) {
  const auto seed = [](uint64_t of_call, int first) {
    SamplingParams sampling;
    sampling.seed = of_call;
    const std::string body = ChatBody("m", kConversation, 1, first, sampling, {});
    return nlohmann::json::parse(body)["seed"].get<int64_t>();
  };
  EXPECT_EQ(seed(5, 0), seed(5, 0));
  EXPECT_NE(seed(5, 0), seed(6, 0));
  EXPECT_NE(seed(5, 0), seed(5, 1)) << "else a missing completion is the same once more";
  EXPECT_LT(seed(~0ULL, 0), int64_t{1} << 31);
}

TEST(ParseChat, ReadsCompletionsAndUsage) {
  const auto batch = ParseChat(R"({"choices": [
      {"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop",
       "logprobs": {"content": [{"token": "h", "logprob": -0.5}, {"token": "i", "logprob": 0}]},
       "token_ids": [7, 8]},
      {"message": {"content": null}, "finish_reason": "length", "logprobs": null}],
      "usage": {"prompt_tokens": 11, "completion_tokens": 22, "total_tokens": 33,
                "prompt_tokens_details": {"cached_tokens": 8}}})");
  ASSERT_TRUE(batch) << batch.error().message;
  ASSERT_EQ(batch->completions.size(), 2u);
  EXPECT_EQ(batch->completions[0].text, "hi");
  EXPECT_EQ(batch->completions[0].finish_reason, "stop");
  EXPECT_THAT(batch->completions[0].logprobs, ElementsAre(-0.5F, 0.0F));
  EXPECT_THAT(batch->completions[0].token_ids, ElementsAre(7, 8));
  EXPECT_EQ(batch->completions[1].text, "");
  EXPECT_EQ(batch->completions[1].finish_reason, "length");
  EXPECT_EQ(batch->usage.requests, 1);
  EXPECT_EQ(batch->usage.prompt_tokens, 11);
  EXPECT_EQ(batch->usage.cached_tokens, 8);
  EXPECT_EQ(batch->usage.completion_tokens, 22);
}

TEST(ParseChat, NamesTheFieldThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"<html>", "not JSON"},
      {"{}", "'choices' is missing"},
      {R"({"choices": []})", "'choices' is empty"},
      {R"({"choices": [1]})", "a choice"},
      {R"({"choices": [{}]})", "'message'"},
      {R"({"choices": [{"message": {"content": 1}}]})", "'content'"},
      {R"({"choices": [{"message": {"content": ""}, "logprobs": 1}]})", "'logprobs'"},
      {R"({"choices": [{"message": {"content": ""}, "logprobs": {"content": [{}]}}]})",
       "'logprob'"},
      {R"({"choices": [{"message": {"content": ""}, "token_ids": ["a"]}]})", "'token_ids'"},
  };
  for (const auto& [reply, words] : cases) {
    SCOPED_TRACE(reply);
    ExpectError(ParseChat(reply), ErrorKind::kProtocol, words);
  }
}

TEST(ParseChat, AnErrorWithStatus200IsTheServers) {
  for (const char* reply :
       {R"({"error": {"message": "upstream is busy"}})",
        R"({"choices": null, "error": {"message": "upstream is busy"}})",
        R"({"choices": [{"message": {"content": "half a"}, "finish_reason": null,
                                "error": {"code": 502, "message": "upstream is busy"}}]})"}) {
    SCOPED_TRACE(reply);
    ExpectError(ParseChat(reply), ErrorKind::kServer, "upstream is busy");
  }
}

Result<CompletionBatch> Ended(const std::string& reason, const std::string& text) {
  return ParseChat(nlohmann::json{{"choices",
                                   {{{"message", {{"role", "assistant"}, {"content", text}}},
                                     {"error", nullptr},
                                     {"finish_reason", reason}}}}}
                       .dump());
}

TEST(ParseChat, ACompletionThatTheServerBrokeOffIsNoTurn) {
  for (const char* reason : {"abort", "error", "Error", "cancelled", "timeout"}) {
    SCOPED_TRACE(reason);
    ExpectError(Ended(reason, "Thought: I will"), ErrorKind::kServer, "broke");
  }
  EXPECT_FALSE(Ended("weird", ""));
  EXPECT_TRUE(Ended("weird", "text"));
  for (const char* reason : {"stop", "length", "content_filter", "tool_calls", "MAX_TOKENS"}) {
    EXPECT_TRUE(Ended(reason, "")) << reason;
  }
}

// The words of servers that nobody foresaw: each kind of them by its words, not as a list of names.
TEST(ParseChat, KnowsEndsOfManyServers) {
  for (const char* reason :
       {"insufficient_system_resource", "network_error", "USER_CANCEL", "ERROR_LIMIT",
        "server_error", "FAILED", "aborted", "timed_out", "interrupted", "engine_overloaded"}) {
    SCOPED_TRACE(reason);
    ExpectError(Ended(reason, "Thought: I will"), ErrorKind::kServer);
  }
  EXPECT_FALSE(Ended("unknown", ""));
  EXPECT_TRUE(Ended("unknown", "text"));
  for (const char* reason :
       {"eos", "function_call", "stop_sequence", "pause_turn", "COMPLETE", "model_length",
        "max_output_tokens", "limit", "SAFETY", "PROHIBITED_CONTENT", "sensitive", "ERROR_TOXIC",
        "guardrail_intervened", "MALFORMED_FUNCTION_CALL"}) {
    EXPECT_TRUE(Ended(reason, "")) << reason;
  }
}

TEST(ParseChat, TheReasonMayBeAnObject) {
  const auto ended = [](const std::string& reason) {
    return ParseChat(R"({"choices": [{"message": {"content": "Thought: I"}, "finish_reason": )" +
                     reason + "}]}");
  };
  EXPECT_FALSE(ended(R"({"type": "abort", "message": "out of memory"})"));
  EXPECT_EQ(ended(R"({"type": "length", "length": 20})").value().completions[0].finish_reason,
            "length");
  EXPECT_EQ(ended("null").value().completions[0].finish_reason, "");
}

TEST(ParseChat, AnErrorBesideHalfACompletionIsTheServers) {
  const auto with = [](const std::string& error) {
    return ParseChat(R"({"choices": [{"message": {"content": "Thought: I"}, "error": )" + error +
                     R"(}], "error": )" + error + "}");
  };
  ExpectError(with(R"({"code": 502, "message": "upstream is busy"})"), ErrorKind::kServer);
  for (const char* nothing : {"null", "\"\"", "{}", "[]", "false", "0"}) {
    EXPECT_TRUE(with(nothing)) << nothing;
  }
  ExpectError(with(R"({"message": "prompt is too long: 9 tokens > 8 maximum"})"),
              ErrorKind::kContextLength);
}

TEST(ParseChat, ThoughtsMayBePartsOfTheContent) {
  for (const char* part :
       {R"({"type": "thinking", "thinking": [{"type": "text", "text": "h"}, {"text": "m"}]})",
        R"({"type": "thinking", "thinking": "hm", "signature": "x"})",
        R"({"type": "reasoning", "text": "hm"})"}) {
    const auto batch = ParseChat(R"({"choices": [{"message": {"content": [)" + std::string(part) +
                                 R"(, {"type": "output_text", "text": "Action: "}, "go"]}}]})");
    ASSERT_TRUE(batch) << batch.error().message;
    EXPECT_EQ(batch->completions[0].text, "Action: go");
    EXPECT_EQ(batch->completions[0].reasoning, "hm") << part;
  }
}

TEST(ParseChat, CountsBelowZeroAreNone) {
  const auto batch = ParseChat(R"({"choices": [{"message": {"content": "a"}}],
                                   "usage": {"prompt_tokens": -1, "completion_tokens": -1}})");
  EXPECT_EQ(batch.value().usage.prompt_tokens, 0);
  EXPECT_EQ(batch.value().usage.completion_tokens, 0);
}

TEST(ParseChat, TheTextsOfPartsAreTheText) {
  const auto text = [](const std::string& content) {
    return ParseChat(R"({"choices": [{"message": {"content": )" + content + "}}]}");
  };
  const auto parts = text(R"([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                             {"type": "text", "text": "Action:"}, {"type": "text", "text": " go"}])");
  ASSERT_TRUE(parts) << parts.error().message;
  EXPECT_EQ(parts->completions[0].text, "Action: go");
  EXPECT_EQ(text("[]")->completions[0].text, "");
  EXPECT_FALSE(text(R"([{"type": "text"}])"));
  EXPECT_FALSE(text(R"({"type": "text", "text": "a"})"));
}

HttpError Refusal(int status, const std::string& body) {
  HttpError error;
  error.kind = ErrorKind::kRejected;
  error.status = status;
  error.body = body;
  return error;
}

TEST(ChatError, KnowsPromptsThatAreTooLong) {
  for (
      const char* body :
      {R"({"error": {"message": "too long", "code": "context_length_exceeded"}})",
       R"({"object": "error", "message": "This model's maximum context length is 4096 tokens."})",
       R"({"error": {"message": "longer than the maximum model length of 512", "code": 400}})",
       R"({"error": {"code": 400, "message": "it exceeds the available context size"}})",
       R"({"object": "error", "message":
            "The input (9000 tokens) is longer than the model's context length (8192 tokens)."})",
       R"({"detail": "Input length 9000 exceeds the maximum allowed context length 8192"})",
       R"({"error": {"message": "Your input exceeds the context window of this model."}})",
       R"({"error": {"type": "invalid_request_error",
            "message": "prompt is too long: 210000 tokens > 200000 maximum"}})",
       R"({"error": {"message":
            "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"}})",
       R"([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message":
            "The input token count (1200000) exceeds the maximum number of tokens allowed"}}])",
       R"({"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", "error_type": "validation"})",
       R"({"error": "Input validation error: `inputs` must have less than 4095 tokens."})",
       R"({"error": {"code": 400, "type": "exceed_context_size_error", "message": "no"}})",
       R"({"error": {"message": "Please reduce the length of the messages or completion."}})",
       R"({"error": {"message": "the input length exceeds the context length"}})",
       R"({"error": {"message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"}})"}) {
    EXPECT_EQ(ChatError(Refusal(400, body)).kind, ErrorKind::kContextLength) << body;
  }
}

// Each message is one that the server sends or is known to have sent.
TEST(ChatError, KnowsPromptsThatAreTooLongForMoreServers) {
  for (const char* words :
       {"Trying to keep the first 5000 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens",
        "Requested tokens (5000) exceed context window of 4096",
        "Too many input tokens. Max input tokens: 8192, request input token count: 9000",
        "Unable to submit request because the input token count is 1100000 but the model only "
        "supports up to 1048576",
        "Input length (9000 tokens) exceeds the maximum allowed length (8188 tokens).",
        "Input prompt (5000 tokens) is too long and exceeds limit of 4096",
        "Prompt length (5000) exceeds maximum input length (4096)",
        "Prompt length 5000 is greater than max_seq_len 4096",
        "Invalid request: Your request exceeded model token limit: 8192",
        "Prompt exceeds max length", "Range of input length should be [1, 6000]",
        "invalid params, context window exceeds limit",
        "the number of input tokens 5000 cannot exceed the total tokens limit 4096",
        "prompt token count of 130000 exceeds the limit of 128000",
        "Request body too large for gpt-4o model. Max size: 8000 tokens.",
        "too many tokens: size limit exceeded by 1234 tokens. Try using shorter or fewer inputs, "
        "or setting prompt_truncation='AUTO'.",
        "litellm.ContextWindowExceededError: litellm.BadRequestError: no",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096."}) {
    const std::string body = nlohmann::json{{"error", {{"message", words}}}}.dump();
    EXPECT_EQ(ChatError(Refusal(400, body)).kind, ErrorKind::kContextLength) << words;
  }
  for (const char* code : {"model_max_prompt_tokens_exceeded", "tokens_limit_reached"}) {
    const std::string body = nlohmann::json{{"error", {{"code", code}}}}.dump();
    EXPECT_EQ(ChatError(Refusal(413, body)).kind, ErrorKind::kContextLength) << code;
  }
}

// Some servers raise an exception for such a prompt.
TEST(ChatError, AnExceptionMayBeAPromptThatIsTooLong) {
  HttpError error =
      Refusal(500, R"({"detail": "Requested tokens (9) exceed context window of 8"})");
  error.kind = ErrorKind::kServer;
  EXPECT_EQ(ChatError(error).kind, ErrorKind::kContextLength);
  error.body = R"({"detail": "CUDA out of memory"})";
  EXPECT_EQ(ChatError(error).kind, ErrorKind::kServer);
  error.status = 503;
  error.body = R"({"detail": "Requested tokens (9) exceed context window of 8"})";
  EXPECT_EQ(ChatError(error).kind, ErrorKind::kServer);
}

TEST(ChatError, OtherRefusalsAreNoneOfTheLength) {
  for (const char* body :
       {R"({"error": {"message": "max_tokens must be at least 1, got -3"}})",
        R"({"error": {"message": "`inputs` cannot be empty"}})", "[]", "null",
        R"({"error": {"message": "Rate limit reached: too many tokens per minute"}})",
        R"({"error": {"message": "max_tokens exceeds the maximum of 8192"}})",
        R"({"error": {"message": "the message's context is missing a role"}})",
        R"({"detail": [{"loc": ["body", "n"], "msg": "n must be 1 in greedy sampling"}]})"}) {
    EXPECT_EQ(ChatError(Refusal(400, body)).kind, ErrorKind::kRejected) << body;
  }
  EXPECT_THAT(ChatError(Refusal(422, R"({"detail": [{"msg": "n must be 1"}]})")).message,
              HasSubstr("n must be 1"));
}

TEST(ChatError, KnowsTheNewerNameOfTheLimit) {
  EXPECT_TRUE(RefusesMaxTokens(Refusal(
      400,
      R"({"error": {"code": "unsupported_parameter", "param": "max_tokens", "message": "no"}})")));
  EXPECT_TRUE(RefusesMaxTokens(Refusal(400, R"({"error": {"message":
      "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}})")));
  EXPECT_FALSE(RefusesMaxTokens(Refusal(400, R"({"error": {"message":
      "'max_tokens' or 'max_completion_tokens' is too large: 500. This model's maximum context
       length is 4096 tokens and your request has 4000 input tokens"}})")));
  EXPECT_FALSE(RefusesMaxTokens(Refusal(400, R"({"error": {"message": "no such role"}})")));
  for (
      const char* body :
      {R"({"error": {"message": "Unrecognized request argument supplied: max_tokens"}})",
       R"({"error": "Unknown parameter: 'max_tokens'."})",
       R"({"error": {"message": "max_tokens is deprecated for this model"}})",
       R"({"detail": [{"loc": ["body", "max_tokens"], "msg": "Extra inputs are not permitted"}]})"}) {
    EXPECT_TRUE(RefusesMaxTokens(Refusal(422, body))) << body;
  }
  EXPECT_FALSE(RefusesMaxTokens(
      Refusal(400, R"({"error": {"message": "max_tokens must be at least 1, got -3"}})")));
}

TEST(ChatError, SaysHowToLeaveOutAFieldThatAServerDoesNotKnow) {
  const auto told = [](const char* body) { return ChatError(Refusal(422, body)).message; };
  EXPECT_THAT(
      told(R"({"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]})"),
      HasSubstr("--llm_field seed="));
  EXPECT_THAT(
      told(R"({"error": {"message": "Unsupported value: 'temperature' does not support 0.7"}})"),
      HasSubstr("--llm_field temperature="));
  EXPECT_THAT(told(R"({"error": {"message": "Unknown field n"}})"), HasSubstr("--llm_field n="));
  EXPECT_THAT(told(R"({"error": {"message": "seed must be positive"}})"),
              testing::Not(HasSubstr("--llm_field")));
  EXPECT_THAT(told(R"({"error": {"message": "unknown role in the conversation"}})"),
              testing::Not(HasSubstr("--llm_field")));
}

TEST(ChatError, TellsTheServersWordsAndTheCure) {
  const Error bad = ChatError(Refusal(400, R"({"error": {"message": "no such role"}})"));
  EXPECT_EQ(bad.kind, ErrorKind::kRejected);
  EXPECT_THAT(bad.message, HasSubstr("no such role"));
  EXPECT_THAT(ChatError(Refusal(401, "{}")).message, HasSubstr("OPENAI_API_KEY"));
  EXPECT_THAT(ChatError(Refusal(404, R"({"error": "no model x"})")).message,
              HasSubstr("no model x; are the base URL"));
  HttpError busy;
  busy.kind = ErrorKind::kServer;
  busy.body = R"({"error": {"message": "maximum context length"}})";
  EXPECT_EQ(ChatError(busy).kind, ErrorKind::kServer);
}

TEST(OpenAiProtocol, ATextWithoutEndIsTheModelsError) {
  const auto reply = [](size_t bytes) {
    return R"({"choices": [{"message": {"content": ")" + std::string(bytes, 'x') + R"("}}]})";
  };
  EXPECT_TRUE(ParseChat(reply(1000), 1000));
  // The same request gives the same text.
  ExpectError(ParseChat(reply(1001), 1000), ErrorKind::kRejected, "--llm_max_completion");
  EXPECT_FALSE(ParseChat(reply(20 << 20)));
}

TEST(OpenAiProtocol, TokenIdsThatFitNoTokenAreRefused) {
  for (const char* id : {"-1", "4294967296", "2147483648", "1.5"}) {
    EXPECT_FALSE(ParseChat(
        std::string(R"({"choices": [{"message": {"content": ""}, "token_ids": [)") + id + "]}]}"))
        << id;
  }
}

TEST(OpenAiProtocol, WordsOfTheServerReachNoTerminalUnescaped) {
  HttpError error;
  error.kind = ErrorKind::kRejected;
  error.body = R"({"error": {"message": "no\u001b[2J"}})";
  EXPECT_THAT(ChatError(error).message, ::testing::HasSubstr("no\\x1b[2J"));
}

}  // namespace
}  // namespace agentr
