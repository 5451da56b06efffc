package agentr;

import java.util.HashMap;

// What the simulator keeps once per process and must be kept once per session: its random stream and
// its counter of object numbers. A thread enters the session before it calls the simulator.
public final class Session {
  private static final ThreadLocal<Session> CURRENT = ThreadLocal.withInitial(Session::new);

  public CopyableRandom random = new CopyableRandom(0);
  public long lastId = 0;
  // What objects contain, while the goals are compared with the state (Game.tick).
  HashMap<Long, Object> contained = null;

  // Of a question, while it is asked: what the session goes on with afterwards.
  private CopyableRandom randomBefore = null;
  private long lastIdBefore = 0;

  // For a copy of the simulator. Of a session that no thread is in.
  public Session copy() {
    endQuestion();
    final Session copy = new Session();
    copy.random = random.copy();
    copy.lastId = lastId;
    return copy;
  }

  public static void enter(Session session) {
    session.endQuestion();
    CURRENT.set(session);
  }

  // For a question about the state, in which the simulator draws names for things that could be
  // confused: the same draws each time, so that the answer depends on the state alone, and the
  // episode goes on as if nobody had asked.
  public static void ask(Session session) {
    session.endQuestion();
    session.randomBefore = session.random;
    session.lastIdBefore = session.lastId;
    session.random = new CopyableRandom(0);
    CURRENT.set(session);
  }

  public static void leave() {
    CURRENT.get().endQuestion();
    CURRENT.remove();
  }

  private void endQuestion() {
    if (randomBefore == null) return;
    random = randomBefore;
    lastId = lastIdBefore;
    randomBefore = null;
  }

  // Outside of any session: one of the thread's own.
  public static Session current() {
    return CURRENT.get();
  }
}
