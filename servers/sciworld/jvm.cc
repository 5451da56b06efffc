#include "servers/sciworld/jvm.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <jni.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <type_traits>

#include "common/error.h"
#include "servers/sciworld/java_text.h"
#include "servers/sciworld/libjvm_path.h"

namespace agentr {
namespace {

constexpr jint kVersion = JNI_VERSION_10;
constexpr jint kLocalReferences = 32;

// Detaches the thread when it ends.
struct Attachment {
  JavaVM* machine = nullptr;
  ~Attachment() {
    if (machine != nullptr) machine->DetachCurrentThread();
  }
};

// Java keeps local references of native code until it returns to Java. Our threads never return, so
// each call frees its own.
class LocalFrame {
 public:
  explicit LocalFrame(JNIEnv* env) : env_(env) {
    if (env_->PushLocalFrame(kLocalReferences) != 0) {
      env_->ExceptionClear();
      throw JavaError("java.lang.OutOfMemoryError: no memory for a call's references");
    }
  }
  ~LocalFrame() { env_->PopLocalFrame(nullptr); }
  LocalFrame(const LocalFrame&) = delete;
  LocalFrame& operator=(const LocalFrame&) = delete;

 private:
  JNIEnv* env_;
};

std::string TextOf(JNIEnv* env, jobject object) {
  const auto string = static_cast<jstring>(object);
  if (string == nullptr) return "";
  std::u16string text(static_cast<size_t>(env->GetStringLength(string)), u'\0');
  static_assert(sizeof(jchar) == sizeof(char16_t));
  env->GetStringRegion(string, 0, static_cast<jsize>(text.size()),
                       reinterpret_cast<jchar*>(text.data()));
  return Utf8(text);
}

// Throws the exception of Java code as JavaError. If memory is exhausted, even the text of the
// error may be unavailable.
void Check(JNIEnv* env) {
  const jthrowable thrown = env->ExceptionOccurred();
  if (thrown == nullptr) return;
  env->ExceptionClear();
  const jclass type = env->GetObjectClass(thrown);
  const jmethodID to_string = env->GetMethodID(type, "toString", "()Ljava/lang/String;");
  std::string text;
  if (to_string != nullptr) {
    const jobject described = env->CallObjectMethod(thrown, to_string);
    if (!env->ExceptionCheck()) text = TextOf(env, described);
  }
  env->ExceptionClear();
  throw JavaError(text.empty() ? "a Java error without a text" : text);
}

jstring NewString(JNIEnv* env, std::string_view text) {
  const std::u16string utf16 = Utf16(text);
  const jstring string = env->NewString(reinterpret_cast<const jchar*>(utf16.data()),
                                        static_cast<jsize>(utf16.size()));
  Check(env);
  return string;
}

std::vector<jvalue> ValuesOf(JNIEnv* env, JavaArguments arguments) {
  std::vector<jvalue> values;
  for (const JavaArgument& argument : arguments) {
    jvalue value{};
    if (const auto* text = std::get_if<std::string_view>(&argument)) {
      value.l = NewString(env, *text);
    } else if (const auto* number = std::get_if<int32_t>(&argument)) {
      value.i = *number;
    } else if (const auto* truth = std::get_if<bool>(&argument)) {
      value.z = *truth ? JNI_TRUE : JNI_FALSE;
    } else {
      value.l = static_cast<jobject>(std::get<const JavaObject*>(argument)->reference());
    }
    values.push_back(value);
  }
  return values;
}

jobject At(const JavaObject& object) { return static_cast<jobject>(object.reference()); }
jclass ClassAt(const JavaObject& object) { return static_cast<jclass>(object.reference()); }
jmethodID At(JavaMethod method) { return static_cast<jmethodID>(method.id); }

class JniJvm final : public Jvm {
 public:
  explicit JniJvm(JavaVM* machine) : machine_(machine) {}

  void Define(const std::string& name, std::string_view bytes) override {
    WithEnv([&](JNIEnv* env) {
      Found(env, env->DefineClass(name.c_str(), LoaderOf(env),
                                  reinterpret_cast<const jbyte*>(bytes.data()),
                                  static_cast<jsize>(bytes.size())));
    });
  }

  void UseLoader(JavaObject loader) override { loader_ = std::move(loader); }

  JavaObject Class(const std::string& name) override {
    return WithEnv([&](JNIEnv* env) {
      if (loader_.reference() == nullptr) return Keep(env, env->FindClass(name.c_str()));
      std::string dotted = name;
      std::ranges::replace(dotted, '/', '.');
      const jmethodID load =
          Found(env, env->GetMethodID(env->GetObjectClass(At(loader_)), "loadClass",
                                      "(Ljava/lang/String;)Ljava/lang/Class;"));
      return Keep(env, env->CallObjectMethod(At(loader_), load, NewString(env, dotted)));
    });
  }

  JavaMethod Method(const JavaObject& of, const char* name, const char* signature) override {
    return WithEnv([&](JNIEnv* env) {
      return JavaMethod{Found(env, env->GetMethodID(ClassAt(of), name, signature))};
    });
  }

  JavaMethod StaticMethod(const JavaObject& of, const char* name, const char* signature) override {
    return WithEnv([&](JNIEnv* env) {
      return JavaMethod{Found(env, env->GetStaticMethodID(ClassAt(of), name, signature))};
    });
  }

  JavaObject StaticField(const JavaObject& of, const char* name, const char* signature) override {
    return WithEnv([&](JNIEnv* env) {
      const jfieldID field = Found(env, env->GetStaticFieldID(ClassAt(of), name, signature));
      return Keep(env, env->GetStaticObjectField(ClassAt(of), field));
    });
  }

  void SetField(const JavaObject& object, const char* name, const char* signature,
                const JavaObject& value) override {
    WithEnv([&](JNIEnv* env) {
      const jclass type = env->GetObjectClass(At(object));
      const jfieldID field = Found(env, env->GetFieldID(type, name, signature));
      env->SetObjectField(At(object), field, At(value));
    });
  }

  JavaObject New(const JavaObject& of, JavaMethod constructor, JavaArguments arguments) override {
    return WithEnv([&](JNIEnv* env) {
      const auto values = ValuesOf(env, arguments);
      return Keep(env, env->NewObjectA(ClassAt(of), At(constructor), values.data()));
    });
  }

  void CallStatic(const JavaObject& of, JavaMethod method, JavaArguments arguments) override {
    WithEnv([&](JNIEnv* env) {
      const auto values = ValuesOf(env, arguments);
      env->CallStaticVoidMethodA(ClassAt(of), At(method), values.data());
    });
  }

  JavaObject CallStaticObject(const JavaObject& of, JavaMethod method,
                              JavaArguments arguments) override {
    return WithEnv([&](JNIEnv* env) {
      const auto values = ValuesOf(env, arguments);
      return Keep(env, env->CallStaticObjectMethodA(ClassAt(of), At(method), values.data()));
    });
  }

  std::string CallStaticString(const JavaObject& of, JavaMethod method,
                               JavaArguments arguments) override {
    return WithEnv([&](JNIEnv* env) {
      const auto values = ValuesOf(env, arguments);
      const jobject text = env->CallStaticObjectMethodA(ClassAt(of), At(method), values.data());
      Check(env);
      return TextOf(env, text);
    });
  }

  JavaObject CallObject(const JavaObject& object, JavaMethod method) override {
    return WithEnv(
        [&](JNIEnv* env) { return Keep(env, env->CallObjectMethod(At(object), At(method))); });
  }

  double CallDouble(const JavaObject& object, JavaMethod method) override {
    return WithEnv([&](JNIEnv* env) { return env->CallDoubleMethod(At(object), At(method)); });
  }

  int64_t CallLong(const JavaObject& object, JavaMethod method) override {
    return WithEnv([&](JNIEnv* env) { return env->CallLongMethod(At(object), At(method)); });
  }

  int32_t CallInt(const JavaObject& object, JavaMethod method, JavaArguments arguments) override {
    return WithEnv([&](JNIEnv* env) {
      const auto values = ValuesOf(env, arguments);
      return env->CallIntMethodA(At(object), At(method), values.data());
    });
  }

  int32_t CallInteger(const JavaObject& object, JavaMethod method) override {
    return WithEnv([&](JNIEnv* env) {
      const jobject boxed = Found(env, env->CallObjectMethod(At(object), At(method)));
      const jmethodID value =
          Found(env, env->GetMethodID(env->GetObjectClass(boxed), "intValue", "()I"));
      return env->CallIntMethod(boxed, value);
    });
  }

  bool CallBool(const JavaObject& object, JavaMethod method) override {
    return WithEnv(
        [&](JNIEnv* env) { return env->CallBooleanMethod(At(object), At(method)) == JNI_TRUE; });
  }

  std::string CallString(const JavaObject& object, JavaMethod method,
                         JavaArguments arguments) override {
    return WithEnv([&](JNIEnv* env) {
      const auto values = ValuesOf(env, arguments);
      const jobject text = env->CallObjectMethodA(At(object), At(method), values.data());
      Check(env);
      return TextOf(env, text);
    });
  }

  std::vector<std::string> CallStrings(const JavaObject& object, JavaMethod method) override {
    return WithEnv([&](JNIEnv* env) {
      const jobject list = Found(env, env->CallObjectMethod(At(object), At(method)));
      const jmethodID to_array = Found(
          env, env->GetMethodID(env->GetObjectClass(list), "toArray", "()[Ljava/lang/Object;"));
      const auto array =
          static_cast<jobjectArray>(Found(env, env->CallObjectMethod(list, to_array)));
      std::vector<std::string> texts(static_cast<size_t>(env->GetArrayLength(array)));
      for (size_t i = 0; i < texts.size(); ++i) {
        const jobject text = env->GetObjectArrayElement(array, static_cast<jsize>(i));
        texts[i] = TextOf(env, text);
        env->DeleteLocalRef(text);
      }
      return texts;
    });
  }

  void Release(void* reference) noexcept override {
    // If the thread cannot be attached, the object is not freed; this is only a leak.
    try {
      Env()->DeleteGlobalRef(static_cast<jobject>(reference));
    } catch (const JavaError&) {
    }
  }

 private:
  JNIEnv* Env() {
    thread_local Attachment attachment;
    void* env = nullptr;
    if (machine_->GetEnv(&env, kVersion) == JNI_OK) return static_cast<JNIEnv*>(env);
    // Attached as a daemon, so that the machine never waits for the thread.
    if (machine_->AttachCurrentThreadAsDaemon(&env, nullptr) != JNI_OK) {
      throw JavaError("Java cannot attach another thread");
    }
    attachment.machine = machine_;
    return static_cast<JNIEnv*>(env);
  }

  // The result of `use`, unless Java code threw.
  template <typename Use>
  std::invoke_result_t<Use, JNIEnv*> WithEnv(Use use) {
    JNIEnv* const env = Env();
    const LocalFrame frame(env);
    if constexpr (std::is_void_v<decltype(use(env))>) {
      use(env);
      Check(env);
    } else {
      auto result = use(env);
      Check(env);
      return result;
    }
  }

  // The result of a call that returns null only if it throws.
  template <typename T>
  static T Found(JNIEnv* env, T found) {
    Check(env);
    if (found == nullptr) throw JavaError("a Java call returned null");
    return found;
  }

  JavaObject Keep(JNIEnv* env, jobject local) {
    return {*this, Found(env, env->NewGlobalRef(Found(env, local)))};
  }

  jobject LoaderOf(JNIEnv* env) const {
    if (loader_.reference() != nullptr) return At(loader_);
    const jclass loader = Found(env, env->FindClass("java/lang/ClassLoader"));
    const jmethodID system = Found(
        env, env->GetStaticMethodID(loader, "getSystemClassLoader", "()Ljava/lang/ClassLoader;"));
    return Found(env, env->CallStaticObjectMethod(loader, system));
  }

  JavaVM* const machine_;
  JavaObject loader_;  // empty: Java's own
};

using CreateMachine = jint (*)(JavaVM**, void**, void*);

CreateMachine OpenLibJvm() {
  const auto path = FindLibJvm(JavaPlaces::OfEnvironment());
  if (!path) {
    throw FatalError(ExitCode::kFile,
                     "SciWorld needs Java 11 or later, and there is no libjvm.so below $JAVA_HOME, "
                     "beside the java on $PATH or below /usr/lib/jvm: run scripts/setup.sh "
                     "--sciworld, or set JAVA_HOME");
  }
  void* const library = dlopen(path->c_str(), RTLD_NOW | RTLD_GLOBAL);
  void* const create = library == nullptr ? nullptr : dlsym(library, "JNI_CreateJavaVM");
  if (create == nullptr) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: cannot be opened as a Java virtual machine: {}",
                                 path->string(), dlerror()));
  }
  return reinterpret_cast<CreateMachine>(create);
}

std::vector<std::string> FlagsOf(const JvmOptions& options) {
  std::vector<std::string> flags = {
      "-Djava.class.path=" + options.class_path, "-Xmx" + options.heap,
      "-Xrs",              // the program handles signals
      "-XX:-UsePerfData",  // no file in /tmp
  };
  if (options.constant_hash) {
    flags.insert(flags.end(), {"-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2"});
  }
  return flags;
}

JavaVM* CreateJvm(const JvmOptions& options) {
  const CreateMachine create = OpenLibJvm();
  std::vector<std::string> flags = FlagsOf(options);
  std::vector<JavaVMOption> list;
  for (std::string& flag : flags) list.push_back({flag.data(), nullptr});
  JavaVMInitArgs arguments{};
  arguments.version = kVersion;
  arguments.options = list.data();
  arguments.nOptions = static_cast<jint>(list.size());
  JavaVM* machine = nullptr;
  void* env = nullptr;
  const jint status = create(&machine, &env, &arguments);
  if (status == JNI_OK) return machine;
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("Java did not start (JNI error {}; see its message above). Usual cause: "
                  "--jvm_heap {} exceeds the machine's memory, or is not a size",
                  status, options.heap));
}

}  // namespace

Jvm& StartJvm(const JvmOptions& options) {
  // JNI allows one machine per process, and it cannot be restarted.
  static std::mutex mutex;
  static std::optional<JvmOptions> started_with;
  static JniJvm* machine = nullptr;
  const std::lock_guard lock(mutex);
  if (machine == nullptr) {
    machine = new JniJvm(CreateJvm(options));  // never freed: threads may end after main
    started_with = options;
  }
  if (*started_with != options) {
    throw FatalError(ExitCode::kInternal, "this process already runs Java with other options");
  }
  return *machine;
}

}  // namespace agentr
