package util;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

// In place of the simulator's own: numbers of object types, for many threads. The original keeps
// them in a file in the working folder, written anew at each new type.
public final class UniqueTypeID$ {
  public static final UniqueTypeID$ MODULE$ = new UniqueTypeID$();

  private final ConcurrentHashMap<String, Long> ids = new ConcurrentHashMap<>();
  private final AtomicLong last = new AtomicLong();

  public long getID(String type) {
    return ids.computeIfAbsent(type, unused -> last.getAndIncrement());
  }

  public long add(String type) {
    return getID(type);
  }
}
