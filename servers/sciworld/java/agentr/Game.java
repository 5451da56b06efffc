package agentr;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Set;

// Plays a scienceworld.runtime.pythonapi.PythonInterface without the work of its step() that nobody
// asked for: a look around, the inventory and all names of objects, for a record and for the
// discarded output.
public final class Game {
  // What step() answers by itself.
  private static final Set<String> QUESTIONS = Set.of("help", "objects", "task");
  private static final String UNKNOWN =
      "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible "
          + "object referents. ";

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

  private Game() {}

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

  private static MethodHandle find(String type, String name, Class<?>... arguments) {
    try {
      return MethodHandles.publicLookup().unreflect(Class.forName(type).getMethod(name, arguments));
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException("the simulator has no " + type + "." + name, error);
    }
  }
}
