#include "clients/openai/openai_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/options.h"
#include "tests/clients/expect_error.h"
#include "tests/clients/http/local_server.h"
#include "tests/clients/http/raw_server.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

const std::vector<Message> kPrompt = {{"user", "hello"}};

// Answers as many completions as asked for, but at most `most`; `before` may answer in its place.
class ToyChat {
 public:
  using Before = std::function<bool(int number, httplib::Response&)>;

  explicit ToyChat(int most = 100, Before before = {},
                   std::unique_ptr<httplib::Server> server = std::make_unique<httplib::Server>())
      : most_(most), before_(std::move(before)), server_(std::move(server)) {
    server_->Post("/v1/chat/completions", [this](const auto& request, auto& response) {
      std::lock_guard lock(mutex_);
      key_ = request.get_header_value("Authorization");
      bodies_.push_back(Json::parse(request.body));
      if (before_ && before_(static_cast<int>(bodies_.size()) - 1, response)) return;
      Json choices = Json::array();
      for (int i = 0; i < std::min(most_, bodies_.back().value("n", 1)); ++i) {
        const std::string text = "reply " + std::to_string(given_++);
        choices.push_back({{"message", {{"content", text}}}, {"finish_reason", "stop"}});
      }
      const Json usage = {{"prompt_tokens", 3}, {"completion_tokens", 2 * choices.size()}};
      response.set_content(Json{{"choices", choices}, {"usage", usage}}.dump(), "application/json");
    });
    server_.Start();
  }

  std::string base() const { return server_.url() + "/v1"; }
  int port() const { return server_.port(); }
  std::string key() const { return key_; }
  // Of the requests so far; call it when none is under way.
  const std::vector<Json>& bodies() const { return bodies_; }

 private:
  const int most_;
  const Before before_;
  std::mutex mutex_;
  std::string key_;  // guarded by mutex_, as all below
  std::vector<Json> bodies_;
  int given_ = 0;
  LocalServer server_;  // last: its threads use the others
};

// Without real waits; they are noted in `waits`.
OpenAiOptions QuickOpenAi(std::vector<Secret> base, std::vector<double>* waits = nullptr) {
  OpenAiOptions options;
  options.base = std::move(base);
  options.http.timeout_s = 5;
  options.http.retry.attempts = 3;
  options.http.retry.sleep = [waits](double seconds) {
    if (waits != nullptr) waits->push_back(seconds);
    return true;
  };
  return options;
}

ToyChat::Before FailFirst(int count, int status, const std::string& retry_after = "") {
  return [=](int number, httplib::Response& response) {
    if (number >= count) return false;
    response.status = status;
    if (!retry_after.empty()) response.set_header("Retry-After", retry_after);
    return true;
  };
}

std::set<std::string> Texts(const CompletionBatch& batch) {
  std::set<std::string> texts;
  for (const Completion& completion : batch.completions) texts.insert(completion.text);
  return texts;
}

TEST(OpenAiModel, OneRequestGivesNSamples) {
  ToyChat server;
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  const auto batch = model.Complete(kPrompt, 4, {});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(Texts(*batch).size(), 4u);
  EXPECT_EQ(server.bodies().size(), 1u);
  EXPECT_EQ(server.bodies()[0]["model"], "m");
  EXPECT_EQ(batch->usage.requests, 1);
  EXPECT_EQ(batch->usage.prompt_tokens, 3);
  EXPECT_EQ(batch->usage.completion_tokens, 8);
  EXPECT_EQ(model.name(), "m");
}

TEST(OpenAiModel, AsksAgainWhereTheServerIgnoresN) {
  ToyChat server(/*most=*/1);
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  const auto batch = model.Complete(kPrompt, 3, {}).value();
  EXPECT_EQ(batch.completions.size(), 3u);
  EXPECT_EQ(batch.usage.requests, 3);
  EXPECT_EQ(batch.usage.prompt_tokens, 9);
  std::set<int64_t> seeds;
  for (const Json& body : server.bodies()) seeds.insert(body["seed"].get<int64_t>());
  EXPECT_EQ(seeds.size(), 3u) << "one seed would give one text three times";
  EXPECT_EQ(server.bodies()[0]["n"], 3);
  EXPECT_FALSE(server.bodies()[1].contains("n")) << "it is remembered";
  model.Complete(kPrompt, 2, {}).value();
  EXPECT_FALSE(server.bodies()[3].contains("n"));
}

TEST(OpenAiModel, TakesNoMoreThanItAskedFor) {
  ToyChat server(100, [](int, httplib::Response& response) {
    response.set_content(
        R"({"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]})", "json");
    return true;
  });
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  EXPECT_EQ(model.Complete(kPrompt, 1, {}).value().completions.size(), 1u);
}

TEST(OpenAiModel, RepeatsFailedRequestsAndHonoursRetryAfter) {
  ToyChat server(100, FailFirst(2, 429, "9"));
  std::vector<double> waits;
  OpenAiModel model("m", QuickOpenAi({server.base()}, &waits));
  const auto batch = model.Complete(kPrompt, 1, {}).value();
  EXPECT_EQ(batch.usage.requests, 1);
  EXPECT_EQ(batch.usage.retries, 2);
  EXPECT_EQ(waits, (std::vector<double>{9, 9}));
  EXPECT_EQ(model.stats().errors(ErrorKind::kRateLimited), 2);
}

TEST(OpenAiModel, GivesUpWithTheLastError) {
  ToyChat server(100, FailFirst(99, 503));
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  ExpectError(model.Complete(kPrompt, 1, {}), ErrorKind::kServer);
  EXPECT_EQ(server.bodies().size(), 3u);
}

TEST(OpenAiModel, AnotherServerTakesOverWithoutWaitingForTheFirst) {
  ToyChat busy(100, FailFirst(99, 429, "100")), good;
  std::string dead;
  {
    LocalServer gone;
    gone.Start();
    dead = gone.url();
  }
  std::vector<double> waits;
  OpenAiModel model("m", QuickOpenAi({dead, busy.base(), good.base()}, &waits));
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(model.Complete(kPrompt, 1, {}));
  EXPECT_EQ(good.bodies().size(), 4u);
  EXPECT_EQ(busy.bodies().size(), 1u) << "it cools down";
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_LT(waits[1], 100);
}

TEST(OpenAiModel, APromptThatIsTooLongIsNotRepeated) {
  ToyChat server(100, [](int, httplib::Response& response) {
    response.status = 400;
    response.set_content(R"({"error": {"code": "context_length_exceeded"}})", "json");
    return true;
  });
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  EXPECT_EQ(model.Complete(kPrompt, 1, {}).error().kind, ErrorKind::kContextLength);
  EXPECT_EQ(server.bodies().size(), 1u);
}

TEST(OpenAiModel, AGarbledReplyIsRepeatedAndCounted) {
  ToyChat server(100, [](int number, httplib::Response& response) {
    if (number == 0) response.set_content(R"({"choi)", "json");
    return number == 0;
  });
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  EXPECT_TRUE(model.Complete(kPrompt, 1, {}));
  EXPECT_EQ(model.stats().errors(ErrorKind::kProtocol), 1);
}

TEST(OpenAiModel, TheKeyIsSentAndNeverTold) {
  ToyChat server(100, [](int, httplib::Response& response) {
    response.status = 401;
    response.set_content(R"({"error": {"message": "bad key sk-secret!"}})", "json");
    return true;
  });
  setenv("OPENAI_API_KEY", "sk-secret", 1);
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  unsetenv("OPENAI_API_KEY");
  const auto batch = model.Complete(kPrompt, 1, {});
  EXPECT_EQ(server.key(), "Bearer sk-secret");
  EXPECT_THAT(batch.error().message, HasSubstr("bad key ***!"));
  EXPECT_THAT(batch.error().message, Not(HasSubstr("sk-secret")));
}

TEST(OpenAiModel, ThePasswordOfItsUrlIsNeverTold) {
  ToyChat server(100, [](int, httplib::Response& response) {
    response.status = 401;
    response.set_content(R"({"error": {"message": "ann:hunter2 may not, Basic YW5uOmh1bnRlcjI="}})",
                         "json");
    return true;
  });
  OpenAiModel model("m", QuickOpenAi({"http://ann:hunter2@" + server.base().substr(7)}));
  const auto batch = model.Complete(kPrompt, 1, {});
  EXPECT_EQ(server.key(), "Basic YW5uOmh1bnRlcjI=");
  EXPECT_THAT(batch.error().message, AllOf(HasSubstr("ann:*** may not"), Not(HasSubstr("hunter2")),
                                           Not(HasSubstr("YW5uOmh1bnRlcjI="))));
}

// What is played with seeds of the server's choice is not continued with seeds of ours.
TEST(OpenAiModel, TheIdentityTellsWhetherSeedsAreSent) {
  ToyChat server;
  OpenAiOptions options = QuickOpenAi({server.base()});
  OpenAiModel with("m", options);
  with.Discover();
  EXPECT_EQ(with.identity(), "");
  options.extras.seed = false;
  OpenAiModel without("m", options);
  without.Discover();
  EXPECT_NE(without.identity(), "");
}

// The first request waits for a silent server; without a limit there would be two more.
TEST(OpenAiModel, ACallWithAllItsRepetitionsHasALimit) {
  RawServer server("", RawServer::kHold);
  OpenAiOptions options = QuickOpenAi({server.url()});
  options.within_s = 0.05;
  OpenAiModel model("m", options);
  ExpectError(model.Complete(kPrompt, 1, {}), ErrorKind::kTimeout, "within the time of the call");
  EXPECT_EQ(model.stats().calls(), 1);
  FatalErrorOf(ExitCode::kUnavailable, [&] { model.Discover(); });
  EXPECT_EQ(model.stats().calls(), 2);
}

// Waits between repetitions are cut at the limit.
TEST(OpenAiModel, WaitsEndAtTheLimitToo) {
  ToyChat server(100, FailFirst(100, 500, "3600"));
  std::vector<double> waits;
  OpenAiOptions options = QuickOpenAi({server.base()}, &waits);
  options.http.retry.total_s = 1e6;
  options.within_s = 60;
  OpenAiModel model("m", options);
  EXPECT_FALSE(model.Complete(kPrompt, 1, {}));
  ASSERT_EQ(waits.size(), 2U);
  for (const double wait : waits) EXPECT_LE(wait, 60);
}

TEST(OpenAiModel, NeedsAServer) { EXPECT_THROW(OpenAiModel("m", QuickOpenAi({})), FatalError); }

TEST(OpenAiOptions, AreDeclaredWithTheirEnvironmentVariable) {
  setenv("OPENAI_API_BASE", "http://127.0.0.1:1/v1", 1);
  setenv("OPENAI_API_KEY", "sk-secret", 1);
  OptionSet set("program", "text");
  OpenAiOptions options;
  Declare(set, options);
  const char* const args[] = {"program", "--llm_attempts", "9", "--llm_seed", "false"};
  EXPECT_EQ(set.Parse(5, args), std::nullopt);
  unsetenv("OPENAI_API_BASE");
  unsetenv("OPENAI_API_KEY");
  EXPECT_EQ(options.base, std::vector<Secret>{"http://127.0.0.1:1/v1"});
  EXPECT_EQ(options.http.retry.attempts, 9);
  EXPECT_FALSE(options.extras.seed);
  EXPECT_THAT(set.ResolvedToml(), Not(HasSubstr("sk-secret")));
}

// A certificate for 127.0.0.1 that signs itself, and its key.
struct Certificate {
  EVP_PKEY* key = EVP_RSA_gen(2048);
  X509* x509 = X509_new();

  Certificate() {
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_gmtime_adj(X509_getm_notBefore(x509), -60);
    X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
    X509_set_pubkey(x509, key);
    X509_NAME* name = X509_get_subject_name(x509);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("127.0.0.1"), -1, -1, 0);
    X509_set_issuer_name(x509, name);
    X509_EXTENSION* host =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(x509, host, -1);
    X509_EXTENSION_free(host);
    X509_sign(x509, key, EVP_sha256());
  }
  ~Certificate() {
    X509_free(x509);
    EVP_PKEY_free(key);
  }

  void Write(const std::filesystem::path& path) const {
    BIO* out = BIO_new_file(path.c_str(), "w");
    PEM_write_bio_X509(out, x509);
    BIO_free(out);
  }
};

TEST(OpenAiModel, SpeaksHttpsToAServerItTrusts) {
  const Certificate certificate;
  const auto file = std::filesystem::path(testing::TempDir()) /
                    ("agentr_ca_" + std::to_string(getpid()) + ".pem");
  certificate.Write(file);
  ToyChat server(100, {}, std::make_unique<httplib::SSLServer>(certificate.x509, certificate.key));
  OpenAiOptions options =
      QuickOpenAi({"https://127.0.0.1:" + std::to_string(server.port()) + "/v1"});
  const auto refused = OpenAiModel("m", options).Complete(kPrompt, 1, {});
  options.http.ca_file = file;
  const auto trusted = OpenAiModel("m", options).Complete(kPrompt, 1, {});
  std::filesystem::remove(file);
  ASSERT_TRUE(trusted) << trusted.error().message;
  EXPECT_EQ(trusted->completions[0].text, "reply 0");
  ExpectError(refused, ErrorKind::kUnreachable, "is its certificate trusted?");
}

// A reply of one completion in the place of a good one.
ToyChat::Before ReplyFirst(int count, const std::string& choice, const std::string& usage = "{}") {
  return [=](int number, httplib::Response& response) {
    if (number >= count) return false;
    response.set_content(R"({"choices": [)" + choice + R"(], "usage": )" + usage + "}",
                         "application/json");
    return true;
  };
}

TEST(OpenAiModel, ABrokenCompletionIsRequestedAgainWithTheSameSeed) {
  ToyChat server(100, ReplyFirst(1, R"({"message": {"content": "ha"}, "finish_reason": "abort"})"));
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  const auto batch = model.Complete(kPrompt, 2, {});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(Texts(*batch), (std::set<std::string>{"reply 0", "reply 1"}));
  ASSERT_EQ(server.bodies().size(), 2u);
  EXPECT_EQ(server.bodies()[0], server.bodies()[1]);
  EXPECT_EQ(batch->usage.retries, 1);
  ToyChat dead(100, ReplyFirst(9, R"({"message": {"content": "ha"}, "finish_reason": "error"})"));
  OpenAiModel failing("m", QuickOpenAi({dead.base()}));
  EXPECT_EQ(failing.Complete(kPrompt, 1, {}).error().kind, ErrorKind::kServer);
}

TEST(OpenAiModel, MostProbableCompletionsAreRequestedOneByOne) {
  ToyChat server;
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  SamplingParams greedy;
  greedy.temperature = 0;
  const auto batch = model.Complete(kPrompt, 2, greedy);
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(batch->completions.size(), 2u);
  ASSERT_EQ(server.bodies().size(), 2u);
  for (const Json& body : server.bodies()) EXPECT_FALSE(body.contains("n"));
}

TEST(OpenAiModel, TheNewerNameOfTheLimitIsUsedFromTheRefusalOn) {
  ToyChat server(100, [](int number, httplib::Response& response) {
    if (number > 0) return false;
    response.status = 400;
    response.set_content(R"({"error": {"param": "max_tokens", "message": "not supported"}})",
                         "application/json");
    return true;
  });
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  ASSERT_TRUE(model.Complete(kPrompt, 1, {}));
  ASSERT_TRUE(model.Complete(kPrompt, 1, {}));
  ASSERT_EQ(server.bodies().size(), 3u);
  EXPECT_EQ(server.bodies()[0]["max_tokens"], 500);
  for (const int later : {1, 2}) {
    EXPECT_EQ(server.bodies()[later]["max_completion_tokens"], 500);
    EXPECT_FALSE(server.bodies()[later].contains("max_tokens"));
  }
}

TEST(OpenAiModel, UsageThatIsNotToldIsEstimatedAndMarked) {
  ToyChat server(100, ReplyFirst(1, R"({"message": {"content": "twelve bytes"}})", "null"));
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  const auto batch = model.Complete(kPrompt, 1, {});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(batch->usage.completion_tokens, 3);
  EXPECT_EQ(batch->usage.prompt_tokens, EstimateTokens(kPrompt));
  EXPECT_EQ(model.stats().Json()["estimated_usage"], 1);
  const auto told = model.Complete(kPrompt, 1, {});
  EXPECT_EQ(told->usage.completion_tokens, 2);
  EXPECT_EQ(model.stats().Json()["estimated_usage"], 1);
}

// A budget holds also where a server tells only a part, or where all that it wrote is thought.
TEST(OpenAiModel, UsageThatIsToldInPartIsCompleted) {
  ToyChat half(100, ReplyFirst(1, R"({"message": {"content": "twelve bytes"}})",
                               R"({"prompt_tokens": 7, "completion_tokens": 0})"));
  OpenAiModel model("m", QuickOpenAi({half.base()}));
  const auto batch = model.Complete(kPrompt, 1, {});
  EXPECT_EQ(batch.value().usage.prompt_tokens, 7);
  EXPECT_EQ(batch.value().usage.completion_tokens, 3);
  EXPECT_EQ(model.stats().Json()["estimated_usage"], 1);
  ToyChat thinks(100, ReplyFirst(1, R"({"message": {"content": null, "reasoning": "eightby."}})"));
  OpenAiModel thinking("m", QuickOpenAi({thinks.base()}));
  EXPECT_EQ(thinking.Complete(kPrompt, 1, {}).value().usage.completion_tokens, 2);
}

TEST(OpenAiModel, CompletionsWithoutTextAreCounted) {
  ToyChat server(100, ReplyFirst(2, R"({"message": {"content": null, "reasoning_content": "hm"},
                                   "finish_reason": "length"})"));
  OpenAiModel model("m", QuickOpenAi({server.base()}));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(model.Complete(kPrompt, 1, {}));
  EXPECT_EQ(model.stats().Json()["textless"], 2);
}

TEST(OpenAiModel, FurtherFieldsAreSentAndAreAnotherModel) {
  ToyChat server;
  OpenAiOptions options = QuickOpenAi({server.base()});
  OpenAiModel plain("m", options);
  plain.Discover();
  options.extras.fields = {{"top_k", "20"}};
  OpenAiModel model("m", options);
  model.Discover();
  EXPECT_NE(model.identity(), plain.identity());
  ASSERT_TRUE(model.Complete(kPrompt, 1, {}));
  EXPECT_EQ(server.bodies().back()["top_k"], 20);
}

std::map<std::string, std::string> FieldsOf(const std::vector<std::string>& values) {
  OpenAiOptions options;
  OptionSet set("program", "a test");
  Declare(set, options);
  std::vector<const char*> argv = {"program"};
  for (const std::string& value : values) argv.insert(argv.end(), {"--llm_field", value.c_str()});
  set.Parse(static_cast<int>(argv.size()), argv.data());
  return options.extras.fields;
}

TEST(OpenAiOptions, FurtherFieldsAreJson) {
  EXPECT_EQ(FieldsOf({"top_k=20", "temperature=", R"(reasoning_effort="low")", "a={\"b=c\": 1}"}),
            (std::map<std::string, std::string>{{"top_k", "20"},
                                                {"temperature", ""},
                                                {"reasoning_effort", R"("low")"},
                                                {"a", "{\"b=c\": 1}"}}));
  for (const char* bad : {"top_k", "=3", "reasoning_effort=low", "a={"}) {
    EXPECT_THROW(FieldsOf({bad}), FatalError) << bad;
  }
}

}  // namespace
}  // namespace agentr
