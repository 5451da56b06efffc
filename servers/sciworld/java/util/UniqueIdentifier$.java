package util;

import agentr.Session;

// In place of the simulator's own: numbers of objects, counted for each session by itself. The
// original counts for the whole process and starts again with every task that is loaded, so that
// objects of other sessions would get the same number twice.
public final class UniqueIdentifier$ {
  public static final UniqueIdentifier$ MODULE$ = new UniqueIdentifier$();

  public long count() {
    return Session.current().lastId;
  }

  public void count_$eq(long count) {
    Session.current().lastId = count;
  }

  public long getNextID() {
    return ++Session.current().lastId;
  }

  public void reset() {
    count_$eq(0);
  }
}
