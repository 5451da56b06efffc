#include "servers/sciworld/sciworld_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/version.h"
#include "servers/http/http_metrics.h"
#include "servers/http/json_text.h"
#include "servers/http/session_replies.h"

namespace agentr {
namespace {

void AppendStrings(std::string_view name, const std::vector<std::string>& texts, std::string& out) {
  AppendJson(name, out);
  out += ":[";
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    AppendJson(texts[i], out);
  }
  out += ']';
}

// "observation":…,"reward":…,"score":…,"done":…
void AppendReply(const SciWorldReply& reply, std::string& out) {
  out += R"("observation":)";
  AppendJson(reply.observation, out);
  out += fmt::format(R"(,"reward":{},"score":{},"done":{})", reply.reward, reply.score, reply.done);
}

std::string WholeReply(const SciWorldEpisode& episode) {
  std::string out = R"({"task_name":)";
  AppendJson(episode.task().type, out);
  out += fmt::format(R"(,"var_num":{},"task_description":)", episode.task().variation);
  AppendJson(episode.description(), out);
  out += ',';
  AppendReply(episode.last(), out);
  return out + R"(,"deleted":false})";
}

}  // namespace

void SciWorldService::AddTo(HttpService& http) {
  http.Get("/", [](const HttpRequest&) {
    return HttpResponse{.body = R"("This is environment ScienceWorld.")"};
  });
  http.Post("/create", [this](const HttpRequest&) { return Create(); });
  http.Post("/reset", [this](const HttpRequest& request) { return Reset(request); });
  http.Post("/step", [this](const HttpRequest& request) { return Step(request); });
  http.Post("/close", [this](const HttpRequest& request) { return Close(request); });
  http.Get("/detail", [this](const HttpRequest& request) { return Detail(request); });
  http.Get("/observation", About([](SciWorldEpisode& episode, std::string& out) {
             AppendJson(episode.last().observation, out);
           }));
  http.Get("/action_hint", About([](SciWorldEpisode& episode, std::string& out) {
             out += '{';
             AppendStrings("possible_actions", episode.PossibleActions(), out);
             out += ',';
             AppendStrings("possible_objects", episode.PossibleObjects(), out);
             out += '}';
           }));
  http.Get("/task_description", About([](SciWorldEpisode& episode, std::string& out) {
             out += R"({"task_description":)";
             AppendJson(episode.description(), out);
             out += '}';
           }));
  http.Get("/goals", About([](SciWorldEpisode& episode, std::string& out) {
             out += R"({"goals":)";
             AppendJson(episode.Goals(), out);
             out += '}';
           }));
  http.AddMetrics([this](std::string& out) { AppendUse(out); });
  if (!extensions_) return;
  http.Get("/valid_actions", About([](SciWorldEpisode& episode, std::string& out) {
             out += '{';
             AppendStrings("valid_actions", episode.ValidActions(), out);
             out += '}';
           }));
  http.Get("/gold", [this](const HttpRequest& request) { return Gold(request); });
  http.Get("/version", [reply = Version()](const HttpRequest&) { return reply; });
}

std::string SciWorldService::Summary() const {
  return fmt::format("sciworld: {} tasks of {} types", SimulatorTaskCount(),
                     SimulatorTaskTypes().size());
}

HttpResponse SciWorldService::Create() {
  const std::optional<int64_t> id = sessions_.Create([](int64_t) { return Session{}; });
  if (!id) ThrowFull();
  return {.body = fmt::format(R"({{"id":{}}})", *id)};
}

HttpResponse SciWorldService::Reset(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const int64_t data_idx = IntField(body, "data_idx");
  return With(id, [&](Session& session) {
    const auto count = static_cast<int64_t>(SimulatorTaskCount());
    if (data_idx < 0 || data_idx >= count) {
      return ErrorJson(fmt::format("The data_idx {} is not valid: there are the tasks 0 to {}.",
                                   data_idx, count - 1));
    }
    Start(session, SimulatorTaskAt(static_cast<size_t>(data_idx)));
    return WholeReply(*session.episode);
  });
}

void SciWorldService::Start(Session& session, SimulatorTask task) {
  if (session.episode) return session.episode->Reset(task);
  // Refuses early, because Java slows down everything before it reports a full heap.
  const SimulatorUse use = source_->Use();
  if (use.live >= use.most) {
    throw HttpStatusError(503, fmt::format("Java's heap has room for {} environments; close some, "
                                           "or start the server with a larger --jvm_heap.",
                                           use.most));
  }
  session.episode = std::make_unique<SciWorldEpisode>(*source_, task);
}

HttpResponse SciWorldService::Step(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const std::string& action = StringField(body, "action");
  return InEpisode(IntField(body, "id"), /*or_finished=*/false, [&](SciWorldEpisode& episode) {
    std::string out = "{";
    AppendReply(episode.Step(action), out);
    return out + "}";
  });
}

HttpResponse SciWorldService::Detail(const HttpRequest& request) {
  return InEpisode(IntParameter(request, "id"), /*or_finished=*/false, WholeReply);
}

HttpResponse SciWorldService::Close(const HttpRequest& request) {
  const int64_t id = IntField(ParseObject(request.body), "id");
  return {.body = sessions_.Close(id) ? "true" : "false"};
}

HttpResponse SciWorldService::Gold(const HttpRequest& request) {
  return InEpisode(IntParameter(request, "id"), /*or_finished=*/true,
                   [&](SciWorldEpisode& episode) {
                     std::string out = "{";
                     AppendStrings("gold", SciWorldGold(*source_, episode.task()), out);
                     return out + "}";
                   });
}

HttpResponse SciWorldService::Version() const {
  return {.body = fmt::format(R"({{"server":"agentr","version":"{}","task":"sciworld",)"
                              R"("data_hash":"{}","extensions":["valid_actions","gold"],)"
                              R"("tasks":{}}})",
                              kVersion, data_hash_, SimulatorTaskCount())};
}

template <typename Use>
HttpResponse SciWorldService::With(int64_t id, Use use) {
  auto session = sessions_.Find(id);
  // Ids are given in order, so an id below the count was live once. Calls that waited for a session
  // while its simulator failed also end here.
  if (!session || session->failed) {
    const bool was = id >= 0 && id < static_cast<int64_t>(sessions_.Counts().created);
    if (!was) return NotValid("id", id);
    return {.body = ErrorJson(fmt::format("The task with environment {} has been deleted.", id))};
  }
  try {
    return {.body = use(*session)};
  } catch (const SimulatorError& error) {
    spdlog::warn("environment {} was closed because its simulator failed: {}", id, error.what());
    session->failed = true;
    session->episode.reset();
    sessions_.Close(id);
    return {.body = ErrorJson(fmt::format(
                "The simulator of environment {} failed, so the environment was closed: {}", id,
                error.what()))};
  }
}

template <typename Use>
HttpResponse SciWorldService::InEpisode(int64_t id, bool or_finished, Use use) {
  return With(id, [&](Session& session) {
    if (!session.episode) {
      return ErrorJson(fmt::format("The task with environment {} has not begun: call /reset.", id));
    }
    if (session.episode->last().done && !or_finished) {
      return ErrorJson(fmt::format("The task with environment {} has finished.", id));
    }
    return std::string(use(*session.episode));
  });
}

template <typename Write>
HttpHandler SciWorldService::About(Write write) {
  return [this, write](const HttpRequest& request) {
    return InEpisode(IntParameter(request, "id"), /*or_finished=*/false,
                     [&](SciWorldEpisode& episode) {
                       std::string out;
                       write(episode, out);
                       return out;
                     });
  };
}

void SciWorldService::AppendUse(std::string& out) const {
  AppendSessionMetrics(sessions_.Counts(), out);
  const SimulatorUse use = source_->Use();
  AppendMetric("agentr_simulators_live", "gauge",
               "Java's simulator objects, of sessions and for gold.",
               static_cast<uint64_t>(use.live), out);
  AppendMetric("agentr_simulators_most", "gauge",
               "Number of simulators for which Java's heap has room.",
               static_cast<uint64_t>(use.most), out);
  AppendMetric("agentr_java_heap_bytes", "gauge", "Used part of Java's heap, including garbage.",
               static_cast<uint64_t>(use.heap_bytes), out);
}

}  // namespace agentr
