package agentr;

import java.util.Random;

// What the simulator keeps once per process and must be kept once per session: its random stream and
// its counter of object numbers. A thread enters the session before it calls the simulator.
public final class Session {
  private static final ThreadLocal<Session> CURRENT = ThreadLocal.withInitial(Session::new);

  public final Random random = new Random(0);
  public long lastId = 0;

  public static void enter(Session session) {
    CURRENT.set(session);
  }

  public static void leave() {
    CURRENT.remove();
  }

  // Outside of any session: one of the thread's own.
  public static Session current() {
    return CURRENT.get();
  }
}
