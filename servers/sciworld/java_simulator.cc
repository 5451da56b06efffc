#include "servers/sciworld/java_simulator.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <type_traits>
#include <utility>

#include "common/error.h"

namespace agentr {
namespace embedded {
extern const std::string_view kJavaCopier, kJavaCopyable, kJavaCopyablePatch, kJavaCopyableRandom,
    kJavaGame, kJavaLoader, kJavaSession, kJavaSessionRandom, kJavaUniqueIdentifier,
    kJavaUniqueTypeId;
}  // namespace embedded

namespace {

// One simulator takes 11 MB (measured for most types of tasks); the rest is for the garbage of
// steps.
constexpr int64_t kSimulatorBytes = 12 << 20;
// A fork takes up to 0.9 MB, since it shares the tables of all tasks with its original.
constexpr int64_t kForkBytes = 1 << 20;

constexpr const char* kGivesText = "()Ljava/lang/String;";
constexpr const char* kGivesList = "()Ljava/util/List;";

// The simulator prints a lot on System.out, but stdout belongs to the program.
void DropOutput(Jvm& jvm) {
  const JavaObject stream = jvm.Class("java/io/OutputStream");
  const JavaObject nowhere = jvm.CallStaticObject(
      stream, jvm.StaticMethod(stream, "nullOutputStream", "()Ljava/io/OutputStream;"), {});
  const JavaObject printer = jvm.Class("java/io/PrintStream");
  const JavaObject out =
      jvm.New(printer, jvm.Method(printer, "<init>", "(Ljava/io/OutputStream;)V"), {&nowhere});
  const JavaObject system = jvm.Class("java/lang/System");
  jvm.CallStatic(system, jvm.StaticMethod(system, "setOut", "(Ljava/io/PrintStream;)V"), {&out});
}

// Must run before any class of the jar is used.
void PutInPlace(Jvm& jvm) {
  jvm.Define("agentr/CopyablePatch", embedded::kJavaCopyablePatch);
  jvm.Define("agentr/Loader", embedded::kJavaLoader);
  const JavaObject loader = jvm.Class("agentr/Loader");
  jvm.UseLoader(jvm.New(loader, jvm.Method(loader, "<init>", "()V"), {}));
  jvm.Define("agentr/Copyable", embedded::kJavaCopyable);
  jvm.Define("agentr/Copier", embedded::kJavaCopier);
  jvm.Define("agentr/CopyableRandom", embedded::kJavaCopyableRandom);
  jvm.Define("agentr/Game", embedded::kJavaGame);
  jvm.Define("agentr/Session", embedded::kJavaSession);
  jvm.Define("agentr/SessionRandom", embedded::kJavaSessionRandom);
  jvm.Define("util/UniqueIdentifier$", embedded::kJavaUniqueIdentifier);
  jvm.Define("util/UniqueTypeID$", embedded::kJavaUniqueTypeId);
  const JavaObject random = jvm.Class("agentr/SessionRandom");
  const JavaObject stream = jvm.New(random, jvm.Method(random, "<init>", "()V"), {});
  const JavaObject of_scala =
      jvm.StaticField(jvm.Class("scala/util/Random$"), "MODULE$", "Lscala/util/Random$;");
  jvm.SetField(of_scala, "self", "Ljava/util/Random;", stream);
}

// Classes and methods, looked up once.
struct Bindings {
  explicit Bindings(Jvm& of)
      : jvm(of),
        session(jvm.Class("agentr/Session")),
        copier(jvm.Class("agentr/Copier")),
        game(jvm.Class("agentr/Game")),
        simulator(jvm.Class("scienceworld/runtime/pythonapi/PythonInterface")) {}

  JavaMethod OfSimulator(const char* name, const char* signature) {
    return jvm.Method(simulator, name, signature);
  }

  Jvm& jvm;
  const JavaObject session;
  const JavaObject copier;
  const JavaObject game;
  const JavaObject simulator;
  const JavaMethod new_session = jvm.Method(session, "<init>", "()V");
  const JavaMethod copy_session = jvm.Method(session, "copy", "()Lagentr/Session;");
  const JavaMethod copy =
      jvm.StaticMethod(copier, "copy", "(Ljava/lang/Object;)Ljava/lang/Object;");
  const JavaMethod enter = jvm.StaticMethod(session, "enter", "(Lagentr/Session;)V");
  const JavaMethod ask = jvm.StaticMethod(session, "ask", "(Lagentr/Session;)V");
  const JavaMethod leave = jvm.StaticMethod(session, "leave", "()V");
  const JavaMethod new_simulator = OfSimulator("<init>", "()V");
  const JavaMethod load =
      OfSimulator("load", "(Ljava/lang/String;ILjava/lang/String;Z)Ljava/lang/String;");
  const JavaMethod error = OfSimulator("errorStr", kGivesText);
  const JavaMethod step =
      jvm.StaticMethod(game, "step", "(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/String;");
  const JavaMethod score = OfSimulator("getScore", "()D");
  const JavaMethod completed = OfSimulator("getCompleted", "()Z");
  const JavaMethod moves = OfSimulator("getNumMoves", "()Ljava/lang/Integer;");
  const JavaMethod description = OfSimulator("getTaskDescription", kGivesText);
  const JavaMethod goals = OfSimulator("getGoalProgressStr", kGivesText);
  const JavaMethod possible_actions = OfSimulator("getPossibleActions", kGivesList);
  const JavaMethod possible_objects = OfSimulator("getPossibleObjects", kGivesList);
  const JavaMethod valid_actions = OfSimulator("getValidActionObjectCombinations", kGivesList);
  const JavaMethod gold_actions = OfSimulator("getGoldActionSequence", kGivesList);
  const JavaMethod variations = OfSimulator("getTaskMaxVariations", "(Ljava/lang/String;)I");

  std::atomic<int64_t> live = 0;  // simulators that are no forks
  std::mutex planning;            // the jar's planner stores paths in one table for all simulators
};

class JavaSimulator final : public Simulator {
 public:
  explicit JavaSimulator(Bindings& to)
      : to_(to), session_(to.jvm.New(to.session, to.new_session, {})) {
    object_ = In([&] { return to_.jvm.New(to_.simulator, to_.new_simulator, {}); });
    ++to_.live;
  }
  JavaSimulator(Bindings& to, JavaObject session, JavaObject object)
      : to_(to), is_fork_(true), session_(std::move(session)), object_(std::move(object)) {}
  ~JavaSimulator() override {
    if (!is_fork_) --to_.live;
  }

  void Load(std::string_view task, int variation, bool gold) override {
    std::unique_lock lock(to_.planning, std::defer_lock);
    if (gold) lock.lock();
    const std::string error = In([&] {
      to_.jvm.CallString(object_, to_.load, {task, variation, std::string_view(), gold});
      return to_.jvm.CallString(object_, to_.error, {});
    });
    if (!error.empty()) throw SimulatorError(error);
  }

  std::unique_ptr<Simulator> Fork() override {
    return In([&] {
      return std::make_unique<JavaSimulator>(
          to_, to_.jvm.CallObject(session_, to_.copy_session),
          to_.jvm.CallStaticObject(to_.copier, to_.copy, {&object_}));
    });
  }

  std::string Step(std::string_view action) override {
    return In([&] { return to_.jvm.CallStaticString(to_.game, to_.step, {&object_, action}); });
  }
  double Score() override {
    return In([&] { return to_.jvm.CallDouble(object_, to_.score); });
  }
  bool Completed() override {
    return In([&] { return to_.jvm.CallBool(object_, to_.completed); });
  }
  int Moves() override {
    return In([&] { return to_.jvm.CallInteger(object_, to_.moves); });
  }
  std::string TaskDescription() override { return Text(to_.description, {}); }
  std::string Goals() override { return Text(to_.goals, {}); }
  std::vector<std::string> PossibleActions() override { return List(to_.possible_actions); }
  std::vector<std::string> PossibleObjects() override { return List(to_.possible_objects); }
  std::vector<std::string> ValidActions() override { return List(to_.valid_actions); }
  std::vector<std::string> GoldActions() override { return List(to_.gold_actions); }

  int Variations(std::string_view task) {
    return In([&] { return to_.jvm.CallInt(object_, to_.variations, {task}); });
  }

 private:
  // Runs `call` with this simulator's random stream and counter.
  template <typename Call>
  std::invoke_result_t<Call> In(Call call) {
    return Within(to_.enter, call);
  }

  // `enter` selects playing or querying.
  template <typename Call>
  std::invoke_result_t<Call> Within(JavaMethod enter, Call call) {
    struct Leave {
      Bindings& from;
      ~Leave() {
        try {
          from.jvm.CallStatic(from.session, from.leave, {});
        } catch (const JavaError&) {  // out of memory; the next call enters again
        }
      }
    };
    try {
      to_.jvm.CallStatic(to_.session, enter, {&session_});
      const Leave leave{to_};
      return call();
    } catch (const JavaError& error) {
      throw SimulatorError(error.what());
    }
  }

  std::string Text(JavaMethod method, JavaArguments arguments) {
    return In([&] { return to_.jvm.CallString(object_, method, arguments); });
  }
  std::vector<std::string> List(JavaMethod method) {
    return Within(to_.ask, [&] { return to_.jvm.CallStrings(object_, method); });
  }

  Bindings& to_;
  const bool is_fork_ = false;
  const JavaObject session_;
  JavaObject object_;
};

class JavaSource final : public SimulatorSource {
 public:
  explicit JavaSource(Jvm& jvm) : bindings_(jvm), memory_(jvm) {}

  std::unique_ptr<Simulator> New() override {
    try {
      return std::make_unique<JavaSimulator>(bindings_);
    } catch (const JavaError& error) {
      throw SimulatorError(error.what());
    }
  }

  int Variations(std::string_view task) override {
    const std::lock_guard lock(asking_);
    if (!asked_) asked_ = std::make_unique<JavaSimulator>(bindings_);
    return asked_->Variations(task);
  }

  SimulatorUse Use() override {
    const std::lock_guard lock(asking_);
    const int64_t live = bindings_.live - (asked_ ? 1 : 0);
    const int64_t heap = memory_.Most();
    const int64_t for_forks = (heap - heap / 4) - live * kSimulatorBytes;
    return {live, heap / kSimulatorBytes, for_forks / kForkBytes, memory_.InUse()};
  }

 private:
  struct Memory {
    explicit Memory(Jvm& of)
        : jvm(of),
          type(jvm.Class("java/lang/Runtime")),
          runtime(jvm.CallStaticObject(
              type, jvm.StaticMethod(type, "getRuntime", "()Ljava/lang/Runtime;"), {})) {}
    int64_t InUse() { return jvm.CallLong(runtime, total) - jvm.CallLong(runtime, free); }
    int64_t Most() { return jvm.CallLong(runtime, most); }

    Jvm& jvm;
    const JavaObject type;
    const JavaObject runtime;
    const JavaMethod total = jvm.Method(type, "totalMemory", "()J");
    const JavaMethod most = jvm.Method(type, "maxMemory", "()J");
    const JavaMethod free = jvm.Method(type, "freeMemory", "()J");
  };

  Bindings bindings_;
  Memory memory_;
  std::mutex asking_;
  std::unique_ptr<JavaSimulator> asked_;  // for queries that belong to no session
};

}  // namespace

std::unique_ptr<SimulatorSource> StartScienceWorld(const JvmOptions& options) {
  Jvm& jvm = StartJvm(options);
  // Classes are replaced once, when the machine starts.
  static std::once_flag once;
  try {
    std::call_once(once, [&] {
      DropOutput(jvm);
      PutInPlace(jvm);
    });
    return std::make_unique<JavaSource>(jvm);
  } catch (const JavaError& error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: not ScienceWorld's simulator, or Java is older than 11: {}",
                                 options.class_path, error.what()));
  }
}

}  // namespace agentr
