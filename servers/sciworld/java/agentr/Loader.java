package agentr;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.ConcurrentHashMap;

// Loads the simulator's classes from the jar on the class path and makes their objects Copyable. A
// class that was defined in this loader beforehand takes the place of the jar's.
public final class Loader extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  // Whether objects of a class become Copyable, by name with slashes.
  private final ConcurrentHashMap<String, Boolean> patched = new ConcurrentHashMap<>();

  public Loader() {
    super(ClassLoader.getSystemClassLoader());
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      final Class<?> known = findLoadedClass(name);
      if (known != null) return known;
      final byte[] bytes = read(name.replace('.', '/'));
      if (bytes == null) return super.loadClass(name, resolve);
      try {
        final CopyablePatch patch = new CopyablePatch(bytes);
        final byte[] result =
            isPatched(name.replace('.', '/')) ? patch.patched(isRoot(patch)) : bytes;
        return defineClass(name, result, 0, result.length);
      } catch (IOException error) {
        throw new ClassNotFoundException(name, error);
      }
    }
  }

  private static boolean isRoot(CopyablePatch patch) {
    return "java/lang/Object".equals(patch.superName());
  }

  private boolean isPatched(String name) throws ClassNotFoundException {
    final Boolean known = patched.get(name);
    if (known != null) return known;
    final byte[] bytes = read(name);
    boolean is = false;
    if (bytes != null) {
      try {
        final CopyablePatch patch = new CopyablePatch(bytes);
        is = !patch.isInterface() && (isRoot(patch) || isPatched(patch.superName()));
      } catch (IOException error) {
        throw new ClassNotFoundException(name, error);
      }
    }
    patched.put(name, is);
    return is;
  }

  // The bytes of a class of the jar; null for one of Java itself.
  private byte[] read(String name) throws ClassNotFoundException {
    if (name.startsWith("java/")) return null;
    try (InputStream in = getParent().getResourceAsStream(name + ".class")) {
      // Resources of Java itself are found too, in its modules.
      if (in == null || isOfJava(name)) return null;
      return in.readAllBytes();
    } catch (IOException error) {
      throw new ClassNotFoundException(name, error);
    }
  }

  private static boolean isOfJava(String name) {
    return name.startsWith("javax/") || name.startsWith("jdk/") || name.startsWith("sun/")
        || name.startsWith("com/sun/") || name.startsWith("org/");
  }
}
