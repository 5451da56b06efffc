#include "servers/sciworld/sciworld_service.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "servers/http/http_metrics.h"
#include "servers/http/json_text.h"
#include "servers/http/session_replies.h"

namespace agentr {
namespace {

constexpr std::string_view kRefusal = "No known action matches that input.";

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

std::string NotBegun(int64_t id) {
  return ErrorJson(fmt::format("The task with environment {} has not begun: call /reset.", id));
}

}  // namespace

void SciWorldService::AddTo(HttpService& http) {
  http.Get("/", [](const HttpRequest&) {
    return HttpResponse{.body = R"("This is environment ScienceWorld.")"};
  });
  http.Post("/create", [this](const HttpRequest&) { return Create(); });
  http.Post("/reset", [this](const HttpRequest& request) { return Reset(request); });
  http.Post("/step", [this](const HttpRequest& request) { return Step(request); });
  http.Post("/close", CloseHandler(sessions_, "id"));
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
  http.Post("/expand", [this](const HttpRequest& request) { return Expand(request); });
  http.Get("/gold", [this](const HttpRequest& request) { return Gold(request); });
  http.Get("/version",
           VersionHandler("sciworld", data_hash_, R"(["expand","valid_actions","gold"])",
                          SimulatorTaskCount()));
}

std::string SciWorldService::Summary() const {
  return fmt::format("sciworld: {} tasks of {} types", SimulatorTaskCount(),
                     SimulatorTaskTypes().size());
}

HttpResponse SciWorldService::Create() {
  const int64_t id = OrFull(sessions_.Create([](int64_t) { return Session{}; }));
  return {.body = fmt::format(R"({{"id":{}}})", id)};
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
  if (session.episode) {
    session.episode->Reset(task);
  } else {
    // Refuses early, because Java slows down everything before it reports a full heap.
    const SimulatorUse use = source_->Use();
    if (use.live >= use.most) {
      throw HttpStatusError(503,
                            fmt::format("Java's heap has room for {} environments; close some, or "
                                        "start the server with a larger --jvm_heap.",
                                        use.most));
    }
    session.episode = std::make_unique<SciWorldEpisode>(*source_, task);
  }
  session.path = ForkPath::Begin(forks_, task);
  session.last = session.episode->last();
}

HttpResponse SciWorldService::Step(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const std::string& action = StringField(body, "action");
  return InEpisode(IntField(body, "id"), [&](Session& session, SciWorldEpisode& episode) {
    session.last = episode.Step(action);
    session.path = ForkPath::After(std::move(session.path), action);
    std::string out = "{";
    AppendReply(session.last, out);
    return out + "}";
  });
}

HttpResponse SciWorldService::Expand(const HttpRequest& request) {
  const nlohmann::json body = ParseObject(request.body);
  const int64_t id = IntField(body, "id");
  const std::vector<std::string> actions = ActionsOf(body);
  return InEpisode(id, [&](Session& session, SciWorldEpisode& episode) {
    std::vector<Session> children = Children(session, episode, actions);
    std::vector<std::string> replies(children.size());
    for (size_t i = 0; i < children.size(); ++i) AppendReply(children[i].last, replies[i]);
    const auto ids = OrFull(sessions_.Fork(id, std::move(children)));
    return ChildrenJson("id", ids, [&](size_t i, std::string& out) { out += replies[i]; });
  });
}

std::vector<SciWorldService::Session> SciWorldService::Children(
    const Session& session, SciWorldEpisode& episode, const std::vector<std::string>& actions) {
  std::vector<Session> children;
  // The beginning, from which the pool can make all later states again.
  if (session.episode) session.path->Put(episode.Fork(), ForksAtMost());
  std::optional<SciWorldEpisode> fork;
  for (const std::string& action : actions) {
    if (!fork) fork = episode.Fork();
    Session child;
    child.path = ForkPath::After(session.path, action);
    child.last = fork->Step(action);
    // A refused action changes nothing, so the next one can be taken by the same fork.
    const bool is_refused = child.last.observation == kRefusal;
    if (!is_refused && !child.last.done) child.path->Put(*std::move(fork), ForksAtMost());
    if (!is_refused) fork.reset();
    children.push_back(std::move(child));
  }
  return children;
}

size_t SciWorldService::ForksAtMost() const {
  const SimulatorUse use = source_->Use();
  return static_cast<size_t>(std::max<int64_t>(use.most_forks, 1));
}

HttpResponse SciWorldService::Detail(const HttpRequest& request) {
  return InEpisode(IntParameter(request, "id"),
                   [](Session&, SciWorldEpisode& episode) { return WholeReply(episode); });
}

HttpResponse SciWorldService::Gold(const HttpRequest& request) {
  const int64_t id = IntParameter(request, "id");
  return With(id, [&](Session& session) {
    if (session.path == nullptr) return NotBegun(id);
    std::string out = "{";
    AppendStrings("gold", SciWorldGold(*source_, session.path->task()), out);
    return out + "}";
  });
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
HttpResponse SciWorldService::InEpisode(int64_t id, Use use) {
  return With(id, [&](Session& session) {
    if (session.path == nullptr) return NotBegun(id);
    if (session.last.done) {
      return ErrorJson(fmt::format("The task with environment {} has finished.", id));
    }
    return WithEpisode(session, use);
  });
}

template <typename Use>
std::string SciWorldService::WithEpisode(Session& session, Use use) {
  if (session.episode) return use(session, *session.episode);
  SciWorldEpisode episode = session.path->Take(*source_);
  std::string reply = use(session, episode);
  if (!session.last.done) session.path->Put(std::move(episode), ForksAtMost());
  return reply;
}

template <typename Write>
HttpHandler SciWorldService::About(Write write) {
  return [this, write](const HttpRequest& request) {
    return InEpisode(IntParameter(request, "id"), [&](Session&, SciWorldEpisode& episode) {
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
  AppendMetric("agentr_simulators_forks", "gauge", "Simulators of forks that are kept.",
               static_cast<uint64_t>(forks_.size()), out);
  AppendMetric("agentr_java_heap_bytes", "gauge", "Used part of Java's heap, including garbage.",
               static_cast<uint64_t>(use.heap_bytes), out);
}

}  // namespace agentr
