package agentr;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.HashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

// Plays a scienceworld.runtime.pythonapi.PythonInterface without the work of its step() that nobody
// asked for: a look around, the inventory and all names of objects, for a record and for the
// discarded output. Some answers that the jar finds again and again are kept.
public final class Game {
  // What step() answers by itself.
  private static final Set<String> QUESTIONS = Set.of("help", "objects", "task");
  private static final String UNKNOWN =
      "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible "
          + "object referents. ";

  private static final String AGENT = "scienceworld.objects.agent.Agent";
  private static final String MONITOR = "scienceworld.tasks.goals.ObjMonitor";
  private static final String OBJECT = "scienceworld.struct.EnvObject";
  private static final String SIMULATOR = "scienceworld.runtime.pythonapi.PythonInterface";
  private static final MethodHandle AGENT_INTERFACE = find(SIMULATOR, "agentInterface");
  private static final MethodHandle SET_SCORE = find(SIMULATOR, "score_$eq", double.class);
  private static final MethodHandle SET_COMPLETE = find(SIMULATOR, "isComplete_$eq", boolean.class);
  private static final MethodHandle STEP_WITH_RECORD = find(SIMULATOR, "step", String.class);
  private static final MethodHandle STEP =
      find("scienceworld.runtime.AgentInterface", "step", String.class);
  private static final MethodHandle VALUE = find("scala.Option", "get");
  private static final MethodHandle OBSERVATION = find("scala.Tuple3", "_1");
  private static final MethodHandle SCORE = find("scala.Tuple3", "_2");
  private static final MethodHandle COMPLETE = find("scala.Tuple3", "_3");

  private static final MethodHandle TOKENIZE =
      find("scienceworld.input.InputParser$", "tokenize$jar", String.class);
  private static final MethodHandle TICK =
      find("scienceworld.tasks.goals.GoalSequence", "tick$jar", type(MONITOR), type(AGENT));
  private static final MethodHandle CONTAINED =
      find(OBJECT, "getContainedObjectsAndPortalsRecursive$jar", boolean.class, boolean.class);
  private static final MethodHandle UUID = find(OBJECT, "uuid");

  // The words of names of objects: few names are parsed again and again.
  private static final ConcurrentHashMap<String, String[]> TOKENS = new ConcurrentHashMap<>();
  private static final int MOST_TOKENS = 100_000;

  private Game() {}

  // The hooks of CopyablePatch: they answer as the jar's methods do.

  public static Object tokenize(Object parser, Object text) throws Throwable {
    final String[] known = TOKENS.get((String) text);
    if (known != null) return known.clone();
    final String[] tokens = (String[]) TOKENIZE.invoke(parser, text);
    if (TOKENS.size() >= MOST_TOKENS) TOKENS.clear();  // of invented names
    TOKENS.put((String) text, tokens);
    return tokens.clone();
  }

  // Whether the goals are reached. This changes no object, so what they ask for is the same each
  // time.
  public static void tick(Object goals, Object monitor, Object agent) throws Throwable {
    final Session session = Session.current();
    session.contained = new HashMap<>();
    try {
      TICK.invoke(goals, monitor, agent);
    } finally {
      session.contained = null;
    }
  }

  public static Object getContainedObjectsAndPortalsRecursive(
      Object object, boolean hidden, boolean portals) throws Throwable {
    final HashMap<Long, Object> known = Session.current().contained;
    if (known == null) return CONTAINED.invoke(object, hidden, portals);
    final long key = ((long) UUID.invoke(object)) * 4 + (hidden ? 2 : 0) + (portals ? 1 : 0);
    Object contained = known.get(key);
    if (contained == null) {
      contained = CONTAINED.invoke(object, hidden, portals);
      known.put(key, contained);
    }
    return contained;
  }

  public static String step(Object simulator, String action) throws Throwable {
    if (QUESTIONS.contains(action.trim().toLowerCase())) {
      return (String) STEP_WITH_RECORD.invoke(simulator, action);
    }
    final Object game = VALUE.invoke(AGENT_INTERFACE.invoke(simulator));
    final Object result = STEP.invoke(game, action);
    final String observation = (String) OBSERVATION.invoke(result);
    SET_SCORE.invoke(simulator, (double) SCORE.invoke(result));
    SET_COMPLETE.invoke(simulator, (boolean) COMPLETE.invoke(result));
    return observation.isEmpty() ? UNKNOWN : observation;
  }

  private static Class<?> type(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException error) {
      throw new IllegalStateException("the simulator has no " + name, error);
    }
  }

  private static MethodHandle find(String type, String name, Class<?>... arguments) {
    try {
      return MethodHandles.publicLookup().unreflect(type(type).getMethod(name, arguments));
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException("the simulator has no " + type + "." + name, error);
    }
  }
}
