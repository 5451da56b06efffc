package agentr;

// Copies a graph of objects. References to one object become references to its one copy. Shared
// between the graphs: text, numbers, classes, the singletons of Scala, and what was marked with
// share.
//
// One thread uses a copier at a time. An object that cannot be copied raises an
// IllegalStateException that names its class.
public final class Copier {
  private static final int SHARED = -1;
  private static final ThreadLocal<Copier> OF_THREAD = ThreadLocal.withInitial(Copier::new);

  // An object is known as the i-th if its mark is i and originals[i] is the object itself, so marks
  // of earlier copies need not be removed.
  private Copyable[] originals = new Copyable[1 << 14];
  private Copyable[] copies = new Copyable[1 << 14];
  private int count = 0;

  // A copy of `root` and of everything that it refers to.
  public static Object copy(Object root) {
    final Copier copier = OF_THREAD.get();
    try {
      final Object copy = copier.of(root);
      // Without recursion: lists are too long for the stack.
      for (int i = 0; i < copier.count; ++i) copier.copies[i].agentr$fix(copier);
      return copy;
    } finally {
      copier.forget();
    }
  }

  // The number of objects that a copy of `root` would copy, without arrays.
  public static int size(Object root) {
    final Copier copier = OF_THREAD.get();
    try {
      copier.of(root);
      for (int i = 0; i < copier.count; ++i) copier.copies[i].agentr$fix(copier);
      return copier.count;
    } finally {
      copier.forget();
    }
  }

  // Called by agentr$fix.
  public Object of(Object object) {
    if (object == null) return null;
    if (object instanceof Copyable) return ofCopyable((Copyable) object);
    if (object instanceof Object[]) return ofArray((Object[]) object);
    final Class<?> type = object.getClass();
    if (type.isArray()) return ofNumbers(object, type);
    if (isShared(object)) return object;
    throw new IllegalStateException("an object of " + type.getName() + " cannot be copied");
  }

  private Copyable ofCopyable(Copyable object) {
    final int mark = object.agentr$mark();
    if (mark == SHARED) return object;
    if (mark < count && originals[mark] == object) return copies[mark];
    final Copyable copy = (Copyable) object.agentr$clone();
    if (copy == object) return object;
    if (count == originals.length) grow();
    object.agentr$mark(count);
    originals[count] = object;
    copies[count++] = copy;
    return copy;
  }

  // An array belongs to one object, so it is met once.
  private Object ofArray(Object[] array) {
    final Object[] copy = array.clone();
    for (int i = 0; i < copy.length; ++i) {
      if (copy[i] != null) copy[i] = of(copy[i]);
    }
    return copy;
  }

  private static Object ofNumbers(Object array, Class<?> type) {
    final Class<?> element = type.getComponentType();
    if (element == int.class) return ((int[]) array).clone();
    if (element == boolean.class) return ((boolean[]) array).clone();
    if (element == double.class) return ((double[]) array).clone();
    if (element == long.class) return ((long[]) array).clone();
    if (element == char.class) return ((char[]) array).clone();
    if (element == byte.class) return ((byte[]) array).clone();
    throw new IllegalStateException("an array of " + element + " cannot be copied");
  }

  private static boolean isShared(Object object) {
    return object instanceof String
        || object instanceof Number
        || object instanceof Boolean
        || object instanceof Character
        || object instanceof Class
        || object instanceof Enum;
  }

  private void grow() {
    originals = java.util.Arrays.copyOf(originals, 2 * count);
    copies = java.util.Arrays.copyOf(copies, 2 * count);
  }

  private void forget() {
    java.util.Arrays.fill(originals, 0, count, null);
    java.util.Arrays.fill(copies, 0, count, null);
    count = 0;
  }
}
