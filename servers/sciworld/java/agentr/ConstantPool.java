package agentr;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

// The constants of a class file, to which more can be added ("The Java Virtual Machine
// Specification", 4.4).
final class ConstantPool {
  private final String[] texts;  // by index; null: not a text
  private final int[] classes;  // index of the name of a class, by index
  private final ByteArrayOutputStream addedBytes = new ByteArrayOutputStream();
  private final DataOutputStream added = new DataOutputStream(addedBytes);
  private int count;

  // Reads the count and the constants.
  ConstantPool(DataInputStream in) throws IOException {
    count = in.readUnsignedShort();
    texts = new String[count];
    classes = new int[count];
    for (int i = 1; i < count; ++i) {
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
  }

  // The number of constants, as a class file has it.
  int count() {
    return count;
  }

  String text(int index) {
    return texts[index];
  }

  // The name of a class; null for index 0.
  String className(int index) {
    return index == 0 ? null : texts[classes[index]];
  }

  // The constants that were added.
  void writeAdded(DataOutputStream out) throws IOException {
    addedBytes.writeTo(out);
  }

  // The functions below add a constant and return its index.

  int add(String value) throws IOException {
    added.writeByte(1);
    added.writeUTF(value);
    return next();
  }

  int addClass(String name) throws IOException {
    final int of = add(name);
    added.writeByte(7);
    added.writeShort(of);
    return next();
  }

  int addField(String owner, String name, String type) throws IOException {
    return addMember(9, owner, name, type);
  }

  int addMethod(String owner, String name, String signature) throws IOException {
    return addMember(10, owner, name, signature);
  }

  private int addMember(int kind, String owner, String name, String type) throws IOException {
    final int of = addClass(owner);
    final int memberName = add(name);
    final int memberType = add(type);
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
    if (count == 65535) throw new IOException("too many constants");
    return count++;
  }
}
