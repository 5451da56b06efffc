package agentr;

// What CopyablePatch adds to every class of the simulator's jar, so that Copier can copy its objects.
public interface Copyable {
  // A number that Copier stores with the object, in place of a table by identity: the machine runs
  // with a constant identity hash, in which such a table is a list.
  int agentr$mark();

  void agentr$mark(int mark);

  // A copy that refers to what the original refers to; a singleton returns itself.
  Object agentr$clone();

  // Replaces what a copy refers to by its copies.
  void agentr$fix(Copier copier);
}
