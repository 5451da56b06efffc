#include "tasks/task_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>

#include "clients/env/dialect_protocol.h"
#include "clients/env/openenv_protocol.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/json_depth.h"
#include "common/nearest_name.h"
#include "common/text.h"
#include "common/toml.h"
#include "common/toml_library.h"
#include "tasks/file_family.h"
#include "tasks/task_section.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using TomlJson = nlohmann::ordered_json;

void ReadBody(Section& section, HttpDialect::Call& call,
              std::initializer_list<std::string_view> needed) {
  const toml::node* const body = section.Find("body");
  if (body == nullptr) return;
  if (body->is_string() && body->as_string()->get().empty()) {
    call.body = nullptr;
    return;
  }
  if (!body->is_table())
    section.Refuse(*body, "body", "needs a table, such as {id = \"{id}\"}, or \"\" for none");
  std::optional<TomlJson> value = ToJson(*body);
  if (!value) section.Refuse(*body, "body", "JSON has no dates and times; put them into quotes");
  call.body = std::move(*value);
  const std::string text = call.body.dump();
  for (const std::string_view name : needed) {
    if (text.find(name) == std::string::npos) {
      section.Refuse(*body, "body",
                     fmt::format("{} is missing in it, so the server would not know it", name));
    }
  }
}

void ReadCall(Section& section, HttpDialect::Call& call, const std::string& base,
              std::initializer_list<std::string_view> needed) {
  section.ReadPath("path", call.path, base);
  ReadBody(section, call, needed);
}

void ReadText(Section& section, const std::string& key, HttpDialect::Text& text) {
  // The first of these pointers at which there is something.
  std::vector<std::string> pointers = {text.pointer};
  section.Read(key, pointers);
  if (pointers.empty()) section.Refuse(key, "needs at least one pointer");
  for (const std::string& pointer : pointers) {
    if (section.Has(key)) section.CheckPointer(*section.Find(key), key, pointer);
  }
  text.pointer = pointers.front();
  text.or_else.assign(pointers.begin() + 1, pointers.end());
  section.Read("extract", text.extract);
  section.Read("template", text.shape);
  const toml::node* const list = section.Find("list_suffix");
  if (list == nullptr) return;
  if (!list->is_table())
    section.Refuse(*list, "list_suffix", "needs {pointer = …, head = …, join = …}");
  Section inner = Section::Within(*list->as_table(), "list_suffix", section.place());
  inner.ReadPointer("pointer", text.list);
  inner.ReadPointer("item", text.list_item);
  inner.ReadWhole("last", text.list_last, 0);
  inner.Read("head", text.list_head);
  inner.Read("join", text.list_join);
  inner.Read("tail", text.list_tail);
  inner.End();
}

// A step's body names the action, or the tool that it calls.
void RequireAction(Section& step, const HttpDialect::Call& call) {
  const std::string text = DumpJson(call.body);
  if (text.find("{action}") != std::string::npos || text.find("{tool}") != std::string::npos)
    return;
  step.Refuse("body", "{action} is missing in it, so the server would not know it");
}

// What the steps of both transports have in common.
void ReadStep(Section& step, HttpDialect& dialect, const toml::table& file) {
  dialect.calls_tools = DumpJson(dialect.step.body).find("{tool}") != std::string::npos;
  ReadText(step, "observation", dialect.observation);
  step.ReadPointer("reward", dialect.reward);
  step.Read("done", dialect.done);
  if (dialect.done.empty()) step.Refuse("done", "needs at least one pointer");
  for (const std::string& pointer : dialect.done) {
    step.CheckPointer(step.Has("done") ? *step.Find("done") : static_cast<const toml::node&>(file),
                      "done", pointer);
  }
  step.End();
}

// Where a session's id is: "body", "cookie" or "header:NAME".
void ReadIdIn(Section& session, HttpDialect& dialect) {
  constexpr std::string_view kHeader = "header:";
  std::string place = "body";
  session.Read("id_in", place);
  if (place == "cookie") {
    dialect.session_header = kCookieHeader;
  } else if (place.starts_with(kHeader)) {
    dialect.session_header = place.substr(kHeader.size());
  }
  const bool is_name = std::ranges::all_of(dialect.session_header, [](char c) {
    return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '-' || c == '_';
  });
  if (!is_name || (dialect.session_header.empty() && place != "body")) {
    session.Refuse("id_in", "is \"body\", \"cookie\", or \"header:\" and the header's name");
  }
}

std::string ReadBase(Section& session) {
  std::string base;
  session.Read("base_path", base);
  if (!base.empty() && (!base.starts_with('/') || base.ends_with('/'))) {
    session.Refuse("base_path", "begins with \"/\" and does not end with it");
  }
  return base;
}

void ReadFaults(Section& session, HttpDialect& dialect) {
  session.ReadPointer("fault", dialect.fault);
  session.Read("fault_patterns", dialect.faults);
  session.Read("lost_patterns", dialect.lost);
  session.End();
}

// The number of a task on the server.
void ReadTaskNumber(Section& reset, HttpDialect& dialect) {
  reset.ReadWhole("task_offset", dialect.task_offset, 0);
  reset.ReadWhole("task_modulo", dialect.task_modulo, 0);
  reset.End();
}

HttpDialect ReadHttpDialect(const toml::table& file, const std::string& place) {
  HttpDialect dialect;
  Section session(file, "session", place);
  const std::string base = ReadBase(session);
  dialect.expand = base + dialect.expand;
  session.Read("id_field", dialect.id_field);
  ReadIdIn(session, dialect);
  session.ReadWhole("sessions_per_server", dialect.sessions_per_server, 0);
  ReadFaults(session, dialect);

  Section create(file, "create", place);
  ReadCall(create, dialect.create, base, {});
  create.ReadPointer("id", dialect.id);
  create.End();

  Section reset(file, "reset", place);
  // A header that names the session leaves nothing to say in the bodies.
  const bool in_bodies = dialect.session_header.empty();
  if (!in_bodies) {
    for (HttpDialect::Call* call : {&dialect.reset, &dialect.step, &dialect.close})
      call->body.erase("id");
    dialect.observe = "/observation";
  }
  const std::string_view id = in_bodies ? "{id}" : "";
  ReadCall(reset, dialect.reset, base, {id, "{task}"});
  const toml::node* const first = reset.Find("observation");
  dialect.observes_after_reset =
      first != nullptr && first->is_string() && first->as_string()->get() == "@observe";
  if (!dialect.observes_after_reset) ReadText(reset, "observation", dialect.first);
  ReadTaskNumber(reset, dialect);

  Section step(file, "step", place);
  ReadCall(step, dialect.step, base, {id});
  RequireAction(step, dialect.step);
  ReadStep(step, dialect, file);

  Section observe(file, "observe", place);
  observe.ReadPath("path", dialect.observe, base);
  ReadText(observe, "observation", dialect.observed);
  observe.End();

  Section close(file, "close", place);
  ReadCall(close, dialect.close, base, {id});
  close.End();
  return dialect;
}

// The bodies in the file are the data of the texts on the connection.
HttpDialect ReadOpenEnvDialect(const toml::table& file, const std::string& place, bool tools) {
  for (const char* section : {"create", "observe", "close"}) {
    if (file.get(section) == nullptr) continue;
    Section(file, section, place)
        .Refuse(*file.get(section), "",
                "an OpenEnv server has no such call: a session is a connection");
  }
  HttpDialect dialect;
  dialect.fault.clear();
  dialect.sessions_per_server = 1;  // as servers do unless they are told otherwise
  dialect.observe.clear();
  dialect.null_keeps_reward = true;
  dialect.close.body = {{"type", "close"}};
  Section session(file, "session", place);
  dialect.socket = ReadBase(session) + "/ws";
  session.ReadWhole("sessions_per_server", dialect.sessions_per_server, 1);
  ReadFaults(session, dialect);

  Section reset(file, "reset", place);
  dialect.reset.body = {{"seed", "{task}"}};
  ReadBody(reset, dialect.reset, {"{task}"});
  ReadText(reset, "observation", dialect.first);
  ReadTaskNumber(reset, dialect);

  Section step(file, "step", place);
  dialect.step.body = {{"message", "{action}"}};
  if (tools) {
    dialect.step.body = {
        {"type", "call_tool"}, {"tool_name", "{tool}"}, {"arguments", "{arguments}"}};
  }
  ReadBody(step, dialect.step, {});
  RequireAction(step, dialect.step);
  ReadStep(step, dialect, file);

  for (auto [type, call] : {std::pair{"reset", &dialect.reset}, {"step", &dialect.step}}) {
    if (call->body.is_null()) call->body = TomlJson::object();
    call->body = {{"type", type}, {"data", std::move(call->body)}};
  }
  return dialect;
}

void ReadReward(const toml::table& file, const std::string& place, HttpDialect& dialect) {
  Section reward(file, "reward", place);
  reward.Read("mode", dialect.mode, kRewardModes);
  reward.Read("scale", dialect.scale);
  reward.Read("offset", dialect.offset);
  reward.Read("only_when_done", dialect.only_when_done);
  if (const toml::node* clip = reward.Find("clip")) {
    const toml::array* const bounds = clip->as_array();
    const auto low =
        bounds != nullptr && bounds->size() == 2 ? (*bounds)[0].value<double>() : std::nullopt;
    const auto high = low ? (*bounds)[1].value<double>() : std::nullopt;
    if (!high || *low >= *high)
      reward.Refuse(*clip, "clip", "needs two numbers, the lower one first: [0, 1]");
    dialect.least = low;
    dialect.most = high;
  }
  reward.End();
}

// Ids as "0-373", "7" or 7.
std::vector<int> ReadIds(Section& section, const std::string& key) {
  std::vector<int> ids;
  const toml::node* const node = section.Find(key);
  if (node == nullptr) return ids;
  const auto add = [&](const toml::node& item) {
    constexpr int kMost = 10'000'000;
    if (const auto number = item.is_integer() ? item.value<int64_t>() : std::nullopt;
        number && *number >= 0 && *number < kMost) {
      ids.push_back(static_cast<int>(*number));
      return;
    }
    const std::string text = item.is_string() ? item.as_string()->get() : "";
    const size_t dash = text.find('-');
    const auto first = ParseNumber<int>(std::string_view(text).substr(0, dash));
    const auto last = dash == std::string::npos
                          ? first
                          : ParseNumber<int>(std::string_view(text).substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMost) {
      section.Refuse(item, key, "needs ids: numbers, or ranges such as \"0-373\"");
    }
    for (int id = *first; id <= *last; ++id) ids.push_back(id);
  };
  if (node->is_array()) {
    for (const toml::node& item : *node->as_array()) add(item);
  } else {
    add(*node);
  }
  return ids;
}

// True for OpenEnv, over WebSocket.
bool ReadTransport(const toml::table& file, const std::string& place) {
  Section task(file, "task", place);
  std::string transport = "http";
  task.Read("transport", transport);
  if (transport != "http" && transport != "openenv") {
    task.Refuse("transport", "is \"http\" or \"openenv\"");
  }
  return transport == "openenv";
}

void ReadTask(const toml::table& file, const std::string& place, FileRules& rules, TaskKind& kind,
              HttpDialect& dialect) {
  Section task(file, "task", place);
  task.Read("name", rules.name);
  if (rules.name.empty()) task.Miss("name", "it names the folders of results");
  const bool plain = std::ranges::all_of(rules.name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!plain) {
    task.Refuse("name", "a name has small letters, digits and \"_\" only, as it names folders");
  }
  kind.name = kind.title = rules.name;
  task.Read("title", kind.title);
  std::string instruction, acknowledgement = "Ok.";
  task.Read("instruction", instruction);
  if (instruction.empty()) {
    task.Miss("instruction",
              "what the agent is told before the first observation, with the form of an answer");
  }
  task.Read("acknowledgement", acknowledgement);
  task.Find("transport");  // ReadTransport
  rules.instruction = {{"user", instruction}, {"assistant", acknowledgement}};
  task.ReadWhole("max_depth", rules.depth, 1);
  task.Read("success_reward", rules.success);
  if (rules.success <= 0 || rules.success > 1) {
    task.Refuse("success_reward", "rewards lie from 0 to 1, and this one is a success");
  }
  task.ReadWhole("tasks", dialect.tasks, 0);
  task.Read("ids_of", kind.style_of);
  if (!kind.style_of.empty() && FindTaskKind(kind.style_of) == nullptr) {
    task.Refuse("ids_of", fmt::format("\"{}\" is none of {}", kind.style_of, TaskNames()));
  }
  task.End();
}

void ReadAction(const toml::table& file, const std::string& place, FileRules& rules) {
  Section action(file, "action", place);
  action.Read("format", rules.format, kActionFormats);
  action.Read("pattern", rules.pattern);
  if ((rules.format == ActionFormat::kRegex) != rules.pattern.has_value()) {
    const std::string reason = "format = \"regex\" and pattern = '…' belong together";
    if (!action.Has("pattern")) action.Miss("pattern", reason);
    action.Refuse("pattern", reason);
  }
  std::string match = rules.last ? "last" : "first";
  action.Read("match", match);
  if (match != "last" && match != "first") {
    action.Refuse("match", "is \"first\" or \"last\"");
  }
  rules.last = match == "last";
  action.Read("argument", rules.argument);
  action.Read("remove", rules.removed);
  action.Read("one_line", rules.one_line);
  action.Read("lower", rules.lower);
  action.Read("examples", rules.actions);
  action.Read("offered", rules.offers);
  action.Read("offered_between", rules.between);
  action.Read("offered_as", rules.offered_as);
  if (action.Has("offered_as") && !rules.offers) {
    action.Refuse("offered_as", "needs offered = '…', a pattern of what is offered");
  }
  if (action.Has("offered_as") && rules.offered_as.find(kOfferedPlace) == std::string::npos) {
    action.Refuse("offered_as",
                  fmt::format("{} is missing in it, the place of what is offered", kOfferedPlace));
  }
  action.End();
}

void ReadOffers(Section& judgement, FileRules& rules) {
  judgement.Read("must_be_offered", rules.must_be_offered);
  judgement.Read("need_not_be_offered", rules.need_not_be_offered);
  judgement.Read("labels", rules.labels);
  judgement.Read("offered_ignore_case", rules.offered_ignore_case);
  if (judgement.Has("must_be_offered") && !rules.offers) {
    judgement.Refuse("must_be_offered",
                     "needs [action] offered, which says where an observation has what it offers");
  }
  for (const char* const key : {"need_not_be_offered", "labels", "offered_ignore_case"}) {
    if (!judgement.Has(key) || !rules.must_be_offered.empty()) continue;
    judgement.Refuse(key,
                     "needs must_be_offered, the patterns of actions whose first group is offered");
  }
}

void ReadJudgement(const toml::table& file, const std::string& place, FileRules& rules,
                   TaskKind& kind) {
  Section judgement(file, "judgement", place);
  judgement.Read("refused", rules.refused);
  judgement.Read("unchanged", rules.unchanged);
  judgement.Read("informing", rules.informing);
  judgement.Read("readings", rules.readings);
  judgement.Read("refusal_is_unchanged", rules.refusal_is_unchanged);
  judgement.Read("same_observation_is_unchanged", rules.same_is_unchanged);
  judgement.Read("same_observation_is_same_state", rules.observation_is_state);
  judgement.Read("revision_action", rules.revision_action);
  judgement.Read("verifier_prompt", kind.judge);
  ReadOffers(judgement, rules);
  if (const toml::node* mistakes = judgement.Find("mistakes")) {
    if (!mistakes->is_array()) {
      judgement.Refuse(*mistakes, "mistakes", "needs a list of {name = …, pattern = …}");
    }
    for (const toml::node& item : *mistakes->as_array()) {
      if (!item.is_table()) judgement.Refuse(item, "mistakes", "needs {name = …, pattern = …}");
      Section mistake = Section::Within(*item.as_table(), "judgement", place);
      std::string name;
      std::optional<Pattern> pattern;
      mistake.Read("name", name);
      mistake.Read("pattern", pattern);
      if (name.empty() || !pattern)
        judgement.Refuse(item, "mistakes", "needs a name and a pattern");
      mistake.End();
      rules.mistakes.emplace_back(std::move(name), std::move(*pattern));
    }
  }
  judgement.End();
}

void ReadSplits(const toml::table& file, const std::string& place, int64_t tasks, TaskKind& kind) {
  Section splits(file, "splits", place);
  const std::vector<int> test = ReadIds(splits, "test"), train = ReadIds(splits, "train");
  const std::unordered_set<int> tests(test.begin(), test.end());
  for (const int id : train) {
    if (!tests.contains(id)) continue;
    splits.Refuse("train",
                  fmt::format("task {} is a test task too, so that tests would tell nothing", id));
  }
  for (const auto& [key, ids] : {std::pair("test", &test), {"train", &train}}) {
    const auto highest = std::ranges::max_element(*ids);
    if (tasks == 0 || highest == ids->end() || *highest < tasks) continue;
    splits.Refuse(key, fmt::format("there is no task {}: [task] tasks = {} means 0 to {}", *highest,
                                   tasks, tasks - 1));
  }
  splits.End();
  if (!test.empty() || !train.empty()) kind.split = Split(test, train);
}

toml::table Parse(std::string_view text, const std::string& place) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{}, line {}: {}. In TOML a text needs quotes, a pattern best "
                    "single ones, a list its \"]\", and a key stands once in a section",
                    place, error.source().begin.line, error.description()));
  }
}

}  // namespace

TaskKind ReadTaskFile(std::string_view text, const std::string& name) {
  const toml::table file = Parse(text, name);
  const std::vector<std::string> sections = {"task",   "session",   "create", "reset",
                                             "step",   "observe",   "close",  "reward",
                                             "action", "judgement", "splits"};
  for (const auto& [key, node] : file) {
    const std::string section(key.str());
    if (std::ranges::find(sections, section) != sections.end()) continue;
    if (!node.is_table()) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("{}, line {}: {} stands in no section; most likely [task] is "
                                   "missing above it",
                                   name, key.source().begin.line, section));
    }
    throw FatalError(ExitCode::kUsage,
                     fmt::format("{}, line {}: there is no section [{}]; the sections are {}{}",
                                 name, key.source().begin.line, section, fmt::join(sections, ", "),
                                 DidYouMean(section, sections)));
  }
  auto rules = std::make_shared<FileRules>();
  TaskKind kind;
  const bool openenv = ReadTransport(file, name);
  ReadAction(file, name, *rules);
  auto dialect = std::make_shared<HttpDialect>(
      openenv ? ReadOpenEnvDialect(file, name, rules->format == ActionFormat::kToolJson)
              : ReadHttpDialect(file, name));
  ReadReward(file, name, *dialect);
  ReadTask(file, name, *rules, kind, *dialect);
  ReadJudgement(file, name, *rules, kind);
  if (openenv) rules->refused.emplace_back("^" + std::string(OpenEnvProtocol::kRefusal));
  ReadSplits(file, name, dialect->tasks, kind);
  dialect->name = kind.name;
  dialect->hash = Sha256(text).substr(0, 16);
  kind.file = text;
  kind.family = [rules] { return std::make_unique<FileFamily>(rules); };
  kind.protocol = [dialect, openenv]() -> std::unique_ptr<Protocol> {
    if (openenv) return std::make_unique<OpenEnvProtocol>(*dialect);
    return std::make_unique<DialectProtocol>(*dialect);
  };
  if (!rules->actions.empty() || rules->offers) {
    kind.policy = [rules](std::span<const Message> shown, int, GoldSource*) {
      return Result<std::unique_ptr<PolicyState>>(ReadFilePolicy(*rules, shown));
    };
  }
  return kind;
}

std::string UseTaskFile(const fs::path& file) {
  const std::string text = ReadFile(file);
  TaskKind kind = ReadTaskFile(text, file.string());
  const TaskKind* known = FindTaskKind(kind.name);
  if (known != nullptr && known->file == text) return kind.name;
  if (known != nullptr) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format(
            "{}: [task] name: there is already a kind of task \"{}\"{}; choose another name",
            file.string(), kind.name, known->file.empty() ? ", which is built in" : ""));
  }
  std::string name = kind.name;
  RegisterTaskKind(std::move(kind));
  return name;
}

void UseTaskFileBeside(const fs::path& folder, std::string_view task) {
  if (FindTaskKind(task) != nullptr) return;
  for (const fs::path& place : {folder, folder.parent_path()}) {
    const fs::path file = place / kTaskFileCopy;
    if (fs::exists(file)) return void(UseTaskFile(file));
  }
}

void KeepTaskFile(const fs::path& folder, std::string_view task) {
  const TaskKind* kind = FindTaskKind(task);
  if (kind == nullptr || kind->file.empty()) return;
  WriteFileAtomically(folder / kTaskFileCopy, kind->file);
}

}  // namespace agentr
