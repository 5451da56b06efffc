// The HTTP service of a game that is a value: sessions hold copies of its state, so a fork is a
// copy. It speaks AgentGym's protocol (that of its BabyAI server), with three extensions:
//
//   GET  /                 "This is environment BabyAI."
//   POST /create           {}                    -> {"id"}; the game begins at the first /reset
//   POST /reset            {"id", "data_idx"}    -> {"observation", "reward", "score", "done",
//                                                    "deleted"}
//   POST /step             {"id", "action"}      -> {"observation", "reward", "score", "done"}
//   GET  /observation?id=                        -> what /reset answers, as of the last step, with
//                                                    the goal before the observation (below)
//   GET  /detail?id=                             -> the same with the observation as it was
//   POST /close            {"id"}                -> true, or false when it is not live
//   POST /expand           {"id", "actions": []} -> {"children": [{"id", "observation", …}, …]}
//   GET  /gold?id=         {"gold"}: actions that solve the session's task from its beginning
//   GET  /version          {"server", "version", "task", "data_hash", "extensions", "tasks"}
//
// A session that has not begun shows "Environment not initialized" to /observation. Other errors of
// the environment are {"error": …} with status 200: for an id that is not live, a
// session that has not begun or has finished, a data_idx that is not a task, and a step that
// failed. Errors of the request are 4xx (see http_service.h), and the limit of sessions is a 503.
//
// A game G has, all const and for any number of threads:
//   G::State               a value with observation, reward, score, and done()
//   G::kTask, G::kTitle    "babyai", "BabyAI"
//   task_count(), DataHash()
//   std::optional<State> Start(data_idx)         nullopt: there is no such task
//   Step(State&, action): void, or a Result    only while !done()
//   static std::string WithGoal(const State&)  if its observations do not repeat the goal
//   kPrefix, kTaskField, kListPath             if it speaks as AgentGym's server lmrlgym does: the
//                          paths of sessions begin with "/maze", the task's field in /reset is
//                          "game", GET /observation answers with the bare text, and GET kListPath
//                          with Listed(const State* of a session, or null)
//
// and beside it a function std::vector<std::string> Gold(const G&, data_idx).
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "servers/env_service.h"
#include "servers/http/json_text.h"
#include "servers/http/session_replies.h"
#include "servers/http/session_store.h"

namespace agentr {

template <typename Game>
class TextGameService : public EnvService {
  static constexpr bool kOfLmrlGym = requires { Game::kPrefix; };

 public:
  TextGameService(Game game, SessionLimits limits, bool extensions)
      : game_(std::move(game)), extensions_(extensions), sessions_(limits) {}

  void AddTo(HttpService& http) override {
    http.Get("/", [](const HttpRequest&) {
      return HttpResponse{.body = fmt::format("\"This is environment {}.\"", Game::kTitle)};
    });
    http.Post(Path("/create"), [this](const HttpRequest&) { return Create(); });
    http.Post(Path("/reset"), [this](const HttpRequest& request) { return Reset(request); });
    http.Post(Path("/step"), [this](const HttpRequest& request) { return Step(request); });
    http.Post(Path("/close"), CloseHandler(sessions_, "id"));
    http.Get(Path("/observation"),
             [this](const HttpRequest& request) { return Observe(IntParameter(request, "id")); });
    if constexpr (kOfLmrlGym) {
      http.Get(Path(Game::kListPath), [this](const HttpRequest& request) { return List(request); });
    }
    http.Get(Path("/detail"), [this](const HttpRequest& request) {
      return With(IntParameter(request, "id"), /*playing=*/false, [](Session& session) {
        return Whole(*session.state, session.state->observation);
      });
    });
    http.AddMetrics([this](std::string& out) { AppendSessionMetrics(sessions_.Counts(), out); });
    if (!extensions_) return;
    http.Post(Path("/expand"), [this](const HttpRequest& request) { return Expand(request); });
    http.Get("/gold", [this](const HttpRequest& request) {
      return With(IntParameter(request, "id"), /*playing=*/false, [&](Session& session) {
        return nlohmann::json({{"gold", Gold(game_, session.task_id)}}).dump();
      });
    });
    http.Get("/version", VersionHandler(Game::kTask, game_.DataHash(), R"(["expand","gold"])",
                                        game_.task_count()));
  }

  std::string Summary() const override {
    return fmt::format("{}: {} tasks", Game::kTask, game_.task_count());
  }

 private:
  using State = typename Game::State;

  struct Session {
    std::optional<State> state;  // empty until the first reset
    int64_t task_id = 0;
  };

  // The path of a call that names a session.
  static std::string Path(std::string_view call) {
    if constexpr (kOfLmrlGym) return std::string(Game::kPrefix) + std::string(call);
    return std::string(call);
  }

  static const char* TaskField() {
    if constexpr (kOfLmrlGym) return Game::kTaskField;
    return "data_idx";
  }

  // "observation":…,"reward":…,"score":…,"done":…
  static void AppendStep(const State& state, std::string_view observation, std::string& out) {
    out += R"("observation":)";
    AppendJson(observation, out);
    out += fmt::format(R"(,"reward":{},"score":{},"done":{})", state.reward, state.score,
                       state.done());
  }

  // A reply with `observation` instead of the state's.
  static std::string Whole(const State& state, std::string_view observation) {
    std::string out = "{";
    AppendStep(state, observation, out);
    return out + R"(,"deleted":false})";
  }

  HttpResponse Observe(int64_t id) {
    auto session = sessions_.Find(id);
    if (!session) return NotValid("id", id);
    if (!session->state) {
      return {.body = R"({"observation":"Environment not initialized","reward":0,"score":0,)"
                      R"("done":false,"deleted":false})"};
    }
    const State& state = *session->state;
    if constexpr (kOfLmrlGym) {
      std::string text;
      AppendJson(state.observation, text);
      return {.body = text};
    } else if constexpr (requires { Game::WithGoal(state); }) {
      return {.body = Whole(state, Game::WithGoal(state))};
    } else {
      return {.body = Whole(state, state.observation)};
    }
  }

  // What the game lists for a session, which need not have begun: AgentGym's client asks for the
  // words of Wordle before the first reset.
  HttpResponse List(const HttpRequest& request) {
    const State* state = nullptr;
    if (!request.Parameter("id")) return {.body = nlohmann::json(game_.Listed(state)).dump()};
    const int64_t id = IntParameter(request, "id");
    auto session = sessions_.Find(id);
    if (!session) return NotValid("id", id);
    if (session->state) state = &*session->state;
    return {.body = nlohmann::json(game_.Listed(state)).dump()};
  }

  HttpResponse Create() {
    const int64_t id = OrFull(sessions_.Create([](int64_t) { return Session{}; }));
    return {.body = fmt::format(R"({{"id":{}}})", id)};
  }

  HttpResponse Reset(const HttpRequest& request) {
    const nlohmann::json body = ParseObject(request.body);
    const int64_t id = IntField(body, "id");
    const int64_t data_idx = IntField(body, TaskField());
    auto session = sessions_.Find(id);
    if (!session) return NotValid("id", id);
    std::optional<State> state = game_.Start(data_idx);
    if (!state) {
      return {.body = ErrorJson(fmt::format("The {} {} is not valid: there are the tasks 0 to {}.",
                                            TaskField(), data_idx, game_.task_count() - 1))};
    }
    session->state = std::move(state);
    session->task_id = data_idx;
    return {.body = Whole(*session->state, session->state->observation)};
  }

  // Replies with the body that `use` makes of a session that has begun and, if `playing`, is not
  // done.
  template <typename Use>
  HttpResponse With(int64_t id, bool playing, Use use) {
    auto session = sessions_.Find(id);
    if (!session) return NotValid("id", id);
    if (!session->state) {
      return {.body = ErrorJson(
                  fmt::format("The task with environment {} has not begun: call /reset.", id))};
    }
    if (playing && session->state->done()) {
      return {.body = ErrorJson(fmt::format("The task with environment {} has finished.", id))};
    }
    return {.body = use(*session)};
  }

  // One step; the message if it failed.
  std::optional<std::string> Play(State& state, std::string_view action) const {
    if constexpr (std::is_void_v<decltype(game_.Step(state, action))>) {
      game_.Step(state, action);
    } else {
      const auto stepped = game_.Step(state, action);
      if (!stepped) return stepped.error().message;
    }
    return std::nullopt;
  }

  HttpResponse Step(const HttpRequest& request) {
    const nlohmann::json body = ParseObject(request.body);
    const std::string& action = StringField(body, "action");
    return With(IntField(body, "id"), /*playing=*/true, [&](Session& session) {
      if (const auto failed = Play(*session.state, action)) return ErrorJson(*failed);
      std::string out = "{";
      AppendStep(*session.state, session.state->observation, out);
      return out + "}";
    });
  }

  HttpResponse Expand(const HttpRequest& request) {
    const nlohmann::json body = ParseObject(request.body);
    const int64_t id = IntField(body, "id");
    const std::vector<std::string> actions = ActionsOf(body);
    return With(id, /*playing=*/true, [&](Session& session) {
      std::vector<Session> forks(actions.size(), session);
      for (size_t i = 0; i < actions.size(); ++i) {
        if (const auto failed = Play(*forks[i].state, actions[i])) return ErrorJson(*failed);
      }
      const auto ids = OrFull(sessions_.Fork(id, forks));
      return ChildrenJson("id", ids, [&](size_t i, std::string& out) {
        AppendStep(*forks[i].state, forks[i].state->observation, out);
      });
    });
  }

  const Game game_;
  const bool extensions_;
  SessionStore<Session> sessions_;
};

}  // namespace agentr
