// One Java virtual machine in this process. Only jvm.cc includes Java's headers.
//
//   Jvm& jvm = StartJvm({.class_path = "simulator.jar"});
//   const JavaObject list = jvm.Class("java/util/ArrayList");
//   const JavaObject one = jvm.New(list, jvm.Method(list, "<init>", "()V"), {});
//
// libjvm.so is opened when the machine starts (libjvm_path.h finds it), so programs also run
// without Java. JNI allows one machine per process, which lives until the process ends.
//
// Threads: any thread may call, many at once; a thread is attached at its first call and detached
// at its end. Java code runs on the stack of the calling thread. Java does not handle SIGINT and
// SIGTERM; the program does.
//
// Errors: FatalError at the start; JavaError if Java code throws.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace agentr {

class JavaObject;

struct JvmOptions {
  std::string class_path;   // a jar
  std::string heap = "4g";  // largest size of Java's heap, in the form of -Xmx
  // Gives every object the same identity hash, so that the order of Java's hash tables is the same
  // in each run.
  bool constant_hash = true;

  bool operator==(const JvmOptions&) const = default;
};

// An exception of Java code: "java.lang.IllegalStateException: why".
class JavaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A method or constructor, looked up once. Valid until the process ends.
struct JavaMethod {
  void* id = nullptr;
};

using JavaArgument = std::variant<std::string_view, int32_t, bool, const JavaObject*>;
using JavaArguments = std::initializer_list<JavaArgument>;

class Jvm {
 public:
  // Defines a class from its bytes; it replaces the class of that name in the class path.
  virtual void Define(const std::string& name, std::string_view bytes) = 0;

  // From now on classes are defined and found by `loader`, a java.lang.ClassLoader.
  virtual void UseLoader(JavaObject loader) = 0;

  // Names are written with slashes, signatures in JNI's form: "(Ljava/lang/String;I)V".
  virtual JavaObject Class(const std::string& name) = 0;
  virtual JavaMethod Method(const JavaObject& of, const char* name, const char* signature) = 0;
  virtual JavaMethod StaticMethod(const JavaObject& of, const char* name,
                                  const char* signature) = 0;
  virtual JavaObject StaticField(const JavaObject& of, const char* name, const char* signature) = 0;
  virtual void SetField(const JavaObject& object, const char* name, const char* signature,
                        const JavaObject& value) = 0;

  virtual JavaObject New(const JavaObject& of, JavaMethod constructor, JavaArguments arguments) = 0;
  virtual void CallStatic(const JavaObject& of, JavaMethod method, JavaArguments arguments) = 0;
  virtual JavaObject CallStaticObject(const JavaObject& of, JavaMethod method,
                                      JavaArguments arguments) = 0;
  virtual std::string CallStaticString(const JavaObject& of, JavaMethod method,
                                       JavaArguments arguments) = 0;
  virtual double CallDouble(const JavaObject& object, JavaMethod method) = 0;
  virtual int64_t CallLong(const JavaObject& object, JavaMethod method) = 0;
  virtual int32_t CallInt(const JavaObject& object, JavaMethod method, JavaArguments arguments) = 0;
  virtual int32_t CallInteger(const JavaObject& object, JavaMethod method) = 0;  // boxed
  virtual bool CallBool(const JavaObject& object, JavaMethod method) = 0;
  // UTF-8; "" for null.
  virtual std::string CallString(const JavaObject& object, JavaMethod method,
                                 JavaArguments arguments) = 0;
  // For a method that returns a java.util.List of strings.
  virtual std::vector<std::string> CallStrings(const JavaObject& object, JavaMethod method) = 0;
  virtual JavaObject CallObject(const JavaObject& object, JavaMethod method) = 0;

  // Called by JavaObject.
  virtual void Release(void* reference) noexcept = 0;

 protected:
  ~Jvm() = default;
};

// Owns one reference that keeps a Java object alive; empty after it was moved from.
class JavaObject {
 public:
  JavaObject() = default;
  JavaObject(Jvm& jvm, void* reference) : jvm_(&jvm), reference_(reference) {}
  JavaObject(JavaObject&& from) noexcept
      : jvm_(from.jvm_), reference_(std::exchange(from.reference_, nullptr)) {}
  JavaObject& operator=(JavaObject&& from) noexcept {
    std::swap(jvm_, from.jvm_);
    std::swap(reference_, from.reference_);
    return *this;
  }
  ~JavaObject() {
    if (reference_ != nullptr) jvm_->Release(reference_);
  }

  void* reference() const { return reference_; }

 private:
  Jvm* jvm_ = nullptr;
  void* reference_ = nullptr;
};

// The process's machine. The first call starts it, and later calls must have the same options.
// Throws FatalError: kFile if Java is missing, kUsage for a heap size that Java refuses, kInternal
// if the options differ.
Jvm& StartJvm(const JvmOptions& options);

}  // namespace agentr
