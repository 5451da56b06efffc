#include "rollout/openenv_draft.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <vector>

#include "clients/env/openenv_client.h"
#include "common/error.h"
#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {
namespace {

using DraftJson = nlohmann::ordered_json;

constexpr int kMostSlots = 8;  // counted; each makes an environment on the server

const DraftJson& Member(const DraftJson& object, const std::string& name) {
  static const DraftJson kNothing;
  return object.is_object() && object.contains(name) ? object.at(name) : kNothing;
}

std::string TextMember(const DraftJson& object, const std::string& name) {
  const DraftJson& value = Member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

// A text as TOML has it, whose escapes are those of JSON.
std::string Quoted(const std::string& text) { return DumpJson(DraftJson(text)); }

// For a remark.
std::string Remark(const std::string& text) { return EscapeControls(Trim(OneLine(text))); }

// "GridWorldEnvironment" -> "grid_world".
std::string TaskNameOf(const std::string& title) {
  std::string name;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isupper(byte) != 0 && !name.empty() && name.back() != '_' &&
        std::islower(static_cast<unsigned char>(name.back())) != 0) {
      name += '_';
    }
    const bool plain = byte < 0x80 && std::isalnum(byte) != 0;
    if (plain) name += static_cast<char>(std::tolower(byte));
    if (!plain && !name.empty() && name.back() != '_') name += '_';
  }
  for (const std::string_view end : {"_environment", "_env", "_"}) {
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  }
  return name.empty() ? "my_environment" : name;
}

// The schema of a property, with what it refers to.
const DraftJson& Resolved(const DraftJson& schema, const DraftJson& property) {
  const DraftJson* at = &property;
  if (const DraftJson& all = Member(*at, "allOf"); all.is_array() && !all.empty()) at = &all[0];
  const std::string reference = TextMember(*at, "$ref");
  constexpr std::string_view kDefinitions = "#/$defs/";
  if (reference.starts_with(kDefinitions)) {
    at = &Member(Member(schema, "$defs"), reference.substr(kDefinitions.size()));
  }
  return *at;
}

struct Property {
  std::string name;
  std::string type;                 // "string", …; "" if it has several
  std::string description;          // on one line
  std::vector<std::string> values;  // of an enumeration
  bool required = false;
  DraftJson constant;  // null: none
};

std::vector<Property> PropertiesOf(const DraftJson& schema) {
  std::vector<Property> all;
  for (const auto& [name, property] : Member(schema, "properties").items()) {
    if (name == "metadata" || name == "done" || name == "reward") continue;
    const DraftJson& resolved = Resolved(schema, property);
    Property next{.name = name,
                  .type = TextMember(resolved, "type"),
                  .description = Remark(TextMember(property, "description")),
                  .values = {},
                  .constant = Member(resolved, "const")};
    for (const DraftJson& value : Member(resolved, "enum")) {
      next.values.push_back(value.is_string() ? value.get<std::string>() : DumpJson(value));
    }
    for (const DraftJson& needed : Member(schema, "required")) {
      next.required = next.required || needed == name;
    }
    all.push_back(std::move(next));
  }
  return all;
}

std::string Described(const Property& p) {
  std::string text = fmt::format("{} ({}{})", p.name, p.type.empty() ? "any" : p.type,
                                 p.required ? ", required" : "");
  if (!p.values.empty()) text += fmt::format(", one of {}", fmt::join(p.values, ", "));
  if (!p.description.empty()) text += ": " + p.description;
  return text;
}

bool IsMcp(const std::vector<Property>& action) {
  return std::ranges::any_of(action, [](const Property& p) { return p.name == "tool_name"; });
}

// A call of a tool, with a value of the right type for each argument that it needs.
std::string ExampleCall(const DraftJson& tool) {
  DraftJson arguments = DraftJson::object();
  for (const Property& p : PropertiesOf(Member(tool, "input_schema"))) {
    if (!p.required) continue;
    if (!p.values.empty()) {
      arguments[p.name] = p.values.front();
    } else if (p.type == "integer" || p.type == "number") {
      arguments[p.name] = 1;
    } else if (p.type == "boolean") {
      arguments[p.name] = true;
    } else if (p.type == "array") {
      arguments[p.name] = DraftJson::array();
    } else if (p.type == "object") {
      arguments[p.name] = DraftJson::object();
    } else {
      arguments[p.name] = "text";
    }
  }
  return DumpJson(DraftJson{{"name", TextMember(tool, "name")}, {"arguments", arguments}});
}

// The lines of a file, in order.
class Draft {
 public:
  explicit Draft(const OpenEnvFacts& facts)
      : facts_(facts),
        action_(PropertiesOf(Member(facts.schema, "action"))),
        observation_(PropertiesOf(Member(facts.schema, "observation"))),
        mcp_(IsMcp(action_)) {}

  std::string Text() {
    Task();
    Session();
    Reset();
    Step();
    Reward();
    Action();
    Judgement();
    return std::move(text_);
  }

 private:
  template <typename... Values>
  void Line(fmt::format_string<Values...> form, Values&&... values) {
    text_ += fmt::format(form, std::forward<Values>(values)...) + "\n";
  }

  void Task() {
    const std::string title = TextMember(facts_.metadata, "name");
    Line("# A first task file for the OpenEnv server {}, from what it says about itself.",
         Remark(facts_.url));
    Line("# Lines with DECIDE are for you; then try it: env_check FILE.toml --base URL");
    Line("[task]");
    Line("name = {}  # DECIDE: names the folders of results", Quoted(TaskNameOf(title)));
    Line("title = {}", Quoted(Remark(title.empty() ? "my environment" : title)));
    Line("transport = \"openenv\"");
    Line("tasks = 16      # DECIDE: how many there are; OpenEnv does not tell");
    Line("max_depth = 20  # DECIDE: the most turns of a searched path");
    Line("success_reward = 1");
    Line(
        "# DECIDE: what the agent is told before the first observation, with the form of an "
        "answer.");
    Line("instruction = {}", Quoted(Instruction()));
    Line("");
  }

  std::string Instruction() const {
    std::string told = Remark(TextMember(facts_.metadata, "description"));
    told += told.empty() || told.ends_with('.') ? "" : ".";
    if (mcp_) {
      told += " You act by calling tools, one in each answer. The tools are:\n";
      for (const DraftJson& tool : facts_.tools) {
        told += fmt::format("{}: {} Arguments: {}\n", TextMember(tool, "name"),
                            Remark(TextMember(tool, "description")),
                            DumpJson(Member(Member(tool, "input_schema"), "properties")));
      }
      return told +
             "Think first, then end your answer with a call, such as:\n"
             "Action: " +
             Examples().front();
    }
    return told +
           "\nThink first, then end your answer with one action on a line of its own:\nAction: " +
           (Examples().empty() ? "…" : Examples().front());
  }

  void Session() {
    Line("[session]");
    Line("# {} at once: counted, each by a connection.",
         facts_.more_slots ? fmt::format("The server makes {} environments or more", facts_.slots)
                           : fmt::format("The server makes {} environment(s)", facts_.slots));
    Line("sessions_per_server = {}", facts_.slots);
    Line("");
  }

  void Reset() {
    Line("[reset]");
    Line(
        "# DECIDE: the arguments of reset, with {{task}} in one of them. OpenEnv drops silently "
        "what an");
    Line("# environment does not know, so that all tasks would be the same.");
    Line("body = {{seed = \"{{task}}\"}}");
    if (mcp_) {
      Line("observation = [\"/observation/metadata/message\", \"/observation\"]");
    } else {
      Observation();
    }
    Line("");
  }

  void Step() {
    Line("[step]");
    Line("# The fields of an action:");
    for (const Property& p : action_) Line("#   {}", Described(p));
    Line("body = {}", Body());
    if (mcp_) {
      Line(
          "observation = [\"/observation/result/data\", \"/observation/result\", "
          "\"/observation/error/message\", \"/observation/tools\", \"/observation\"]");
    } else {
      Observation();
    }
    Line("");
  }

  // The field that the agent's words fill: the first that is needed, or else the first.
  const Property* Spoken() const {
    const Property* spoken = nullptr;
    for (const Property& p : action_) {
      if (!p.constant.is_null()) continue;
      if (spoken == nullptr || (p.required && !spoken->required)) spoken = &p;
    }
    return spoken;
  }

  std::string Body() const {
    if (mcp_) {
      return R"({type = "call_tool", tool_name = "{tool}", arguments = "{arguments}"})";
    }
    std::vector<std::string> fields;
    for (const Property& p : action_) {
      std::string value;
      if (&p == Spoken()) {
        value = "\"{action}\"";
      } else if (!p.constant.is_null()) {
        value = DumpJson(p.constant);
      } else if (!p.required) {
        continue;
      } else if (!p.values.empty()) {
        value = Quoted(p.values.front());
      } else {
        value = p.type == "integer" || p.type == "number" ? "0"
                : p.type == "boolean"                     ? "false"
                : p.type == "array"                       ? "[]"
                : p.type == "object"                      ? "{}"
                                                          : "\"\"";
      }
      fields.push_back(fmt::format("{} = {}", Quoted(p.name), value));
    }
    if (fields.empty()) return "{message = \"{action}\"}";
    return fmt::format("{{{}}}", fmt::join(fields, ", "));
  }

  // What the first answer shows and the schema has as a text, a number or a truth.
  void Observation() {
    Line("# DECIDE: what the agent reads. The fields of an observation:");
    std::vector<std::string> shown;
    const DraftJson& first = Member(facts_.first, "observation");
    for (const Property& p : observation_) {
      Line("#   {}", Described(p));
      const DraftJson& value = Member(first, p.name);
      if (!value.is_primitive() || value.is_null()) continue;
      if (value.is_string() && value.get<std::string>().empty()) continue;
      if (p.name.find_first_of("~/{}") == std::string::npos) shown.push_back(p.name);
    }
    if (shown.empty()) {
      Line("observation = \"/observation\"");
    } else if (shown.size() == 1) {
      Line("observation = \"/observation/{}\"", shown.front());
    } else {
      std::string form;
      for (const std::string& name : shown) {
        form += fmt::format("{}{}: {{/observation/{}}}", form.empty() ? "" : "\n", name, name);
      }
      Line("template = {}", Quoted(form));
    }
  }

  void Reward() {
    Line("[reward]");
    Line(
        "# DECIDE: rewards of OpenEnv are those of single steps. \"last\" is right if only the end "
        "is");
    Line("# rewarded, \"sum\" if every step earns a part; then scale them to 0 … 1.");
    Line("mode = \"last\"");
    Line("clip = [0, 1]");
    Line("");
  }

  std::vector<std::string> Examples() const {
    std::vector<std::string> examples;
    if (mcp_) {
      for (const DraftJson& tool : facts_.tools) examples.push_back(ExampleCall(tool));
      examples.emplace_back("list_tools");
      return examples;
    }
    const Property* const spoken = Spoken();
    return spoken == nullptr ? examples : spoken->values;
  }

  void Action() {
    Line("[action]");
    if (mcp_) Line("format = \"tool_json\"");
    std::vector<std::string> quoted;
    for (const std::string& example : Examples()) quoted.push_back(Quoted(example));
    Line("# DECIDE: actions that a scripted player and env_check may take.");
    Line("examples = [{}]", fmt::join(quoted, ", "));
    Line("");
  }

  void Judgement() {
    Line("[judgement]");
    Line(
        "# DECIDE: patterns of observations that refuse an action and leave all as it was. An "
        "action");
    Line("# whose form the server does not accept is refused without a pattern.");
    Line("refused = []");
    Line("# DECIDE: an action that changes nothing, by which a revision notices its mistake.");
    Line("revision_action = {}", Quoted(mcp_ ? "list_tools" : "wait"));
  }

  const OpenEnvFacts& facts_;
  const std::vector<Property> action_, observation_;
  const bool mcp_;
  std::string text_;
};

}  // namespace

OpenEnvFacts AskOpenEnv(const Secret& base, const HttpOptions& options) {
  const auto stats = std::make_shared<CallStats>();
  HttpClient client(base, options, stats);
  OpenEnvFacts facts;
  facts.url = client.base_url();
  const auto fail = [&](const std::string& why) {
    throw FatalError(
        ExitCode::kUnavailable,
        fmt::format("{} is no OpenEnv server, or does not answer: {}", facts.url, why));
  };
  const auto get = [&](const char* path) {
    const HttpResult reply = client.Get(path);
    if (!reply) fail(reply.error().message);
    return ParseJson<DraftJson>(reply->body);
  };
  facts.schema = get("/schema");
  if (!Member(Member(facts.schema, "action"), "properties").is_object()) {
    fail("its /schema has no properties of an action");
  }
  facts.metadata = get("/metadata");
  OpenEnvClient server(client, "/ws", options, stats);
  const HttpResult session = server.Create();
  if (!session) fail(session.error().message);
  const auto ask = [&](const std::string& frame) -> DraftJson {
    const HttpResult reply = server.Ask(frame, session->instance);
    const DraftJson answer = reply ? ParseJson<DraftJson>(reply->body) : DraftJson();
    return TextMember(answer, "type") == "observation" ? Member(answer, "data") : DraftJson();
  };
  facts.first = ask(R"({"type":"reset","data":{"seed":0}})");
  if (IsMcp(PropertiesOf(Member(facts.schema, "action")))) {
    const DraftJson told = ask(R"({"type":"step","data":{"type":"list_tools"}})");
    facts.tools = Member(Member(told, "observation"), "tools");
  }
  server.Close(R"({"type":"close"})", session->instance);
  facts.slots = std::max(1, server.CountSlots(kMostSlots));
  facts.more_slots = facts.slots == kMostSlots;
  return facts;
}

std::string OpenEnvDraft(const OpenEnvFacts& facts) { return Draft(facts).Text(); }

}  // namespace agentr
