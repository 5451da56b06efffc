package agentr;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

// Makes a class Copyable, and lets Game take some calls of slow methods. To be copyable it gets the interfaces Copyable and Cloneable, a field for the mark and the
// methods, all as straight-line code that needs no stack maps.
// The format is that of "The Java Virtual Machine Specification", chapter 4.
final class CopyablePatch {
  // Fields of which a copy shares the value with its original, because an episode never uses them
  // again after its start: the tables of all tasks, and the record of what was played.
  private static final Set<String> SHARED_FIELDS =
      Set.of(
          "scienceworld/runtime/pythonapi/PythonInterface.taskMaker",
          "scienceworld/runtime/pythonapi/PythonInterface.actionHandler",
          "scienceworld/runtime/pythonapi/PythonInterface.currentHistory");
  // Methods that Game has under the same name, with the object as a further first argument. The
  // jar's own method keeps its body under the name with "$jar" behind it.
  private static final Set<String> HOOKS =
      Set.of(
          "scienceworld/input/InputParser$.tokenize",
          "scienceworld/tasks/goals/GoalSequence.tick",
          "scienceworld/struct/EnvObject.getContainedObjectsAndPortalsRecursive");
  // Of types whose values never change.
  private static final Set<String> SHARED_TYPES =
      Set.of("Ljava/lang/String;", "Ljava/lang/Class;", "Ljava/lang/Integer;", "Ljava/lang/Long;");

  private static final int STATIC = 0x0008;
  private static final int INTERFACE = 0x0200;
  private static final int PUBLIC = 0x0001;
  private static final int TRANSIENT_SYNTHETIC = 0x1080;

  private static final int ALOAD = 0x19;
  private static final int ILOAD = 0x15;
  private static final int ALOAD_0 = 0x2a;
  private static final int ALOAD_1 = 0x2b;
  private static final int ILOAD_1 = 0x1b;
  private static final int GETFIELD = 0xb4;
  private static final int PUTFIELD = 0xb5;
  private static final int INVOKEVIRTUAL = 0xb6;
  private static final int INVOKESTATIC = 0xb8;
  private static final int INVOKESPECIAL = 0xb7;
  private static final int CHECKCAST = 0xc0;
  private static final int IRETURN = 0xac;
  private static final int ARETURN = 0xb0;
  private static final int RETURN = 0xb1;

  private final byte[] bytes;
  private final String[] texts;  // of the constant pool, by index; null: not a text
  private final int[] classes;  // index of the name of a class, by index
  private final ByteArrayOutputStream addedBytes = new ByteArrayOutputStream();
  private final DataOutputStream added = new DataOutputStream(addedBytes);
  private int poolCount;
  private final int poolEnd;
  private final int flags;
  private final String name;
  private final String superName;
  private final int interfacesAt;

  CopyablePatch(byte[] original) throws IOException {
    bytes = original;
    final DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    in.readInt();
    in.readInt();
    poolCount = in.readUnsignedShort();
    texts = new String[poolCount];
    classes = new int[poolCount];
    for (int i = 1; i < poolCount; ++i) {
      final int tag = in.readUnsignedByte();
      switch (tag) {
        case 1: texts[i] = in.readUTF(); break;
        case 3: case 4: case 9: case 10: case 11: case 12: case 17: case 18: in.readInt(); break;
        case 5: case 6: in.readLong(); ++i; break;
        case 7: classes[i] = in.readUnsignedShort(); break;
        case 8: case 16: case 19: case 20: in.readUnsignedShort(); break;
        case 15: in.readUnsignedByte(); in.readUnsignedShort(); break;
        default: throw new IOException("a class with a constant of the unknown kind " + tag);
      }
    }
    poolEnd = bytes.length - in.available();
    flags = in.readUnsignedShort();
    name = texts[classes[in.readUnsignedShort()]];
    final int superIndex = in.readUnsignedShort();
    superName = superIndex == 0 ? null : texts[classes[superIndex]];
    interfacesAt = bytes.length - in.available();
  }

  boolean isInterface() {
    return (flags & INTERFACE) != 0;
  }

  String superName() {
    return superName;
  }

  // `isRoot`: the superclass is java.lang.Object; otherwise it is a class that is patched too.
  byte[] patched(boolean isRoot) throws IOException {
    final List<Integer> hooked = new ArrayList<>();  // places of the names of methods
    final DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    in.skipBytes(interfacesAt);
    final int interfaces = in.readUnsignedShort();
    in.skipBytes(2 * interfaces);
    final int fieldsAt = bytes.length - in.available();
    final List<String[]> references = new ArrayList<>();
    final boolean isSingleton = readFields(in, references);
    final int methodsAt = bytes.length - in.available();
    final int methods = in.readUnsignedShort();
    for (int i = 0; i < methods; ++i) {
      final int at = bytes.length - in.available();
      if (HOOKS.contains(name + "." + texts[shortAt(at + 2)])) hooked.add(at + 2);
      skipMember(in);
    }
    final int attributesAt = bytes.length - in.available();

    final ByteArrayOutputStream newMethods = new ByteArrayOutputStream();
    final DataOutputStream out = new DataOutputStream(newMethods);
    int count = 0;
    if (isRoot) {
      writeMarks(out);
      count += 2;
    }
    if (isRoot || isSingleton) {
      writeClone(out, isSingleton);
      ++count;
    }
    writeFix(out, isRoot, isSingleton ? List.of() : references);
    ++count;

    for (final int at : hooked) {
      final String method = texts[shortAt(at)];
      writeHook(out, method, texts[shortAt(at + 2)]);
      ++count;
      final int renamed = text(method + "$jar");
      bytes[at] = (byte) (renamed >> 8);
      bytes[at + 1] = (byte) renamed;
    }

    final int fields = shortAt(fieldsAt);
    final int markName = isRoot ? text("agentr$marked") : 0;
    final int markType = isRoot ? text("I") : 0;
    final int copyable = isRoot ? type("agentr/Copyable") : 0;
    final int cloneable = isRoot ? type("java/lang/Cloneable") : 0;

    // The constants are complete now.
    final ByteArrayOutputStream resultBytes = new ByteArrayOutputStream(bytes.length + 1024);
    final DataOutputStream result = new DataOutputStream(resultBytes);
    result.write(bytes, 0, 8);
    result.writeShort(poolCount);
    result.write(bytes, 10, poolEnd - 10);
    addedBytes.writeTo(result);
    result.write(bytes, poolEnd, interfacesAt - poolEnd);
    result.writeShort(interfaces + (isRoot ? 2 : 0));
    result.write(bytes, interfacesAt + 2, 2 * interfaces);
    if (isRoot) {
      result.writeShort(copyable);
      result.writeShort(cloneable);
    }
    result.writeShort(fields + (isRoot ? 1 : 0));
    result.write(bytes, fieldsAt + 2, methodsAt - fieldsAt - 2);
    if (isRoot) {
      result.writeShort(PUBLIC | TRANSIENT_SYNTHETIC);
      result.writeShort(markName);
      result.writeShort(markType);
      result.writeShort(0);
    }
    result.writeShort(methods + count);
    result.write(bytes, methodsAt + 2, attributesAt - methodsAt - 2);
    newMethods.writeTo(result);
    result.write(bytes, attributesAt, bytes.length - attributesAt);
    return resultBytes.toByteArray();
  }

  // Adds the name and the type of each field that may refer to something that changes; true for a singleton of Scala.
  private boolean readFields(DataInputStream in, List<String[]> references) throws IOException {
    boolean isSingleton = false;
    final int fields = in.readUnsignedShort();
    for (int i = 0; i < fields; ++i) {
      in.mark(6);
      final int fieldFlags = in.readUnsignedShort();
      final String field = texts[in.readUnsignedShort()];
      final String type = texts[in.readUnsignedShort()];
      in.reset();
      skipMember(in);
      if ((fieldFlags & STATIC) != 0) {
        isSingleton |= field.equals("MODULE$");
        continue;
      }
      final boolean isReference = type.startsWith("L") || type.startsWith("[");
      if (!isReference || SHARED_TYPES.contains(type)) continue;
      if (!SHARED_FIELDS.contains(name + "." + field)) references.add(new String[] {field, type});
    }
    return isSingleton;
  }

  private static void skipMember(DataInputStream in) throws IOException {
    in.skipBytes(6);
    final int attributes = in.readUnsignedShort();
    for (int i = 0; i < attributes; ++i) {
      in.skipBytes(2);
      in.skipBytes(in.readInt());
    }
  }

  private void writeMarks(DataOutputStream out) throws IOException {
    final int mark = member(9, name, "agentr$marked", "I");
    final ByteArrayOutputStream get = new ByteArrayOutputStream();
    op(get, ALOAD_0);
    op(get, GETFIELD, mark);
    op(get, IRETURN);
    writeMethod(out, "agentr$mark", "()I", get);
    final ByteArrayOutputStream set = new ByteArrayOutputStream();
    op(set, ALOAD_0);
    op(set, ILOAD_1);
    op(set, PUTFIELD, mark);
    op(set, RETURN);
    writeMethod(out, "agentr$mark", "(I)V", set);
  }

  private void writeClone(DataOutputStream out, boolean isSingleton) throws IOException {
    final ByteArrayOutputStream code = new ByteArrayOutputStream();
    op(code, ALOAD_0);
    if (!isSingleton) {
      op(code, INVOKESPECIAL, member(10, "java/lang/Object", "clone", "()Ljava/lang/Object;"));
    }
    op(code, ARETURN);
    writeMethod(out, "agentr$clone", "()Ljava/lang/Object;", code);
  }

  private void writeFix(DataOutputStream out, boolean isRoot, List<String[]> fields)
      throws IOException {
    final String of = "(Lagentr/Copier;)V";
    final ByteArrayOutputStream code = new ByteArrayOutputStream();
    if (!isRoot) {
      op(code, ALOAD_0);
      op(code, ALOAD_1);
      op(code, INVOKESPECIAL, member(10, superName, "agentr$fix", of));
    }
    for (final String[] field : fields) {
      final String type = field[1];
      final int reference = member(9, name, field[0], type);
      op(code, ALOAD_0);
      op(code, ALOAD_1);
      op(code, ALOAD_0);
      op(code, GETFIELD, reference);
      op(code, INVOKEVIRTUAL,
          member(10, "agentr/Copier", "of", "(Ljava/lang/Object;)Ljava/lang/Object;"));
      final boolean isClass = type.startsWith("L");
      op(code, CHECKCAST, type(isClass ? type.substring(1, type.length() - 1) : type));
      op(code, PUTFIELD, reference);
    }
    op(code, RETURN);
    writeMethod(out, "agentr$fix", of, code);
  }

  // Calls Game's method of the same name.
  private void writeHook(DataOutputStream out, String method, String signature)
      throws IOException {
    final ByteArrayOutputStream code = new ByteArrayOutputStream();
    final StringBuilder hook = new StringBuilder("(Ljava/lang/Object;");
    final int end = signature.indexOf(')');
    op(code, ALOAD_0);
    int local = 1;
    for (int i = 1; i < end; ++i, ++local) {
      final boolean isReference = signature.charAt(i) == 'L';
      op(code, isReference ? ALOAD : ILOAD);
      op(code, local);
      hook.append(isReference ? "Ljava/lang/Object;" : "Z");
      if (isReference) i = signature.indexOf(';', i);
    }
    final String result = signature.substring(end + 1);
    final boolean isNothing = result.equals("V");
    hook.append(isNothing ? ")V" : ")Ljava/lang/Object;");
    op(code, INVOKESTATIC, member(10, "agentr/Game", method, hook.toString()));
    if (!isNothing) {
      final boolean isArray = result.startsWith("[");
      op(code, CHECKCAST, type(isArray ? result : result.substring(1, result.length() - 1)));
    }
    op(code, isNothing ? RETURN : ARETURN);
    writeMethod(out, method, signature, code);
  }

  private int shortAt(int at) {
    return ((bytes[at] & 0xff) << 8) | (bytes[at + 1] & 0xff);
  }

  private void writeMethod(DataOutputStream out, String method, String signature,
      ByteArrayOutputStream code) throws IOException {
    out.writeShort(PUBLIC);
    out.writeShort(text(method));
    out.writeShort(text(signature));
    out.writeShort(1);
    out.writeShort(text("Code"));
    out.writeInt(12 + code.size());
    out.writeShort(3);  // stack
    out.writeShort(4);  // local variables
    out.writeInt(code.size());
    code.writeTo(out);
    out.writeShort(0);
    out.writeShort(0);
  }

  private static void op(ByteArrayOutputStream code, int opcode) {
    code.write(opcode);
  }

  private static void op(ByteArrayOutputStream code, int opcode, int index) {
    code.write(opcode);
    code.write(index >> 8);
    code.write(index);
  }

  // Indexes of new constants.
  private int text(String value) throws IOException {
    added.writeByte(1);
    added.writeUTF(value);
    return next();
  }

  private int type(String value) throws IOException {
    final int of = text(value);
    added.writeByte(7);
    added.writeShort(of);
    return next();
  }

  // kind: 9 a field, 10 a method.
  private int member(int kind, String owner, String member, String signature) throws IOException {
    final int of = type(owner);
    final int memberName = text(member);
    final int memberType = text(signature);
    added.writeByte(12);
    added.writeShort(memberName);
    added.writeShort(memberType);
    final int both = next();
    added.writeByte(kind);
    added.writeShort(of);
    added.writeShort(both);
    return next();
  }

  private int next() throws IOException {
    if (poolCount == 65535) throw new IOException("too many constants in " + name);
    return poolCount++;
  }
}
