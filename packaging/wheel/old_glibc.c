// What a wheel's programs and libraries use of the C library and glibc 2.28 does not have. They are
// compiled against a newer one; scripts/wheel.sh takes the version off such names
// (packaging/wheel/old_glibc.py), and this library, which every program of the wheel needs first,
// gives those that glibc 2.28 lacks.
//
// What the running C library has itself is used from there, so that on a newer system nothing
// changes but the way to it. The rest is written by the manual pages and the documentation of the
// kernel.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// `name` of the running C library, or null. This library's own definition stands before it.
#ifdef AGENTR_TEST_FALLBACKS
#define NEXT(name) NULL  // as if the running C library were an old one
#else
#define NEXT(name) dlsym(RTLD_NEXT, #name)
#endif

// --- files: before 2.33 these were functions of the program itself -------------------------------

// The kernel's struct stat is the C library's on 64-bit x86 and ARM.
int fstatat(int folder, const char* path, struct stat* result, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, result, flags);
}
int stat(const char* path, struct stat* result) { return fstatat(AT_FDCWD, path, result, 0); }
int lstat(const char* path, struct stat* result) {
  return fstatat(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* result) { return (int)syscall(SYS_fstat, file, result); }

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one layout for both");
int fstatat64(int folder, const char* path, struct stat64* result, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, result, flags);
}
int stat64(const char* path, struct stat64* result) { return fstatat64(AT_FDCWD, path, result, 0); }
int lstat64(const char* path, struct stat64* result) {
  return fstatat64(AT_FDCWD, path, result, AT_SYMLINK_NOFOLLOW);
}
int fstat64(int file, struct stat64* result) { return (int)syscall(SYS_fstat, file, result); }

// --- threads -------------------------------------------------------------------------------------

// Whether there is certainly one thread only (2.32). Libraries spare atomic operations by it; 0 is
// always right.
char __libc_single_threaded = 0;

// `moment` of `clock` on the clock that a condition has by default. If that clock is set meanwhile,
// the wait ends early or late, as it did in every program before 2.30.
static struct timespec OnRealTime(clockid_t clock, const struct timespec* moment) {
  struct timespec here;
  struct timespec there;
  clock_gettime(clock, &here);
  clock_gettime(CLOCK_REALTIME, &there);
  int64_t nanoseconds = (int64_t)there.tv_nsec + moment->tv_nsec - here.tv_nsec;
  struct timespec result = {.tv_sec = there.tv_sec + moment->tv_sec - here.tv_sec};
  for (; nanoseconds < 0; nanoseconds += 1000000000) --result.tv_sec;
  for (; nanoseconds >= 1000000000; nanoseconds -= 1000000000) ++result.tv_sec;
  result.tv_nsec = nanoseconds;
  return result;
}

static __typeof__(&pthread_cond_clockwait) cond_clockwait;
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const struct timespec* moment) {
  if (cond_clockwait) return cond_clockwait(condition, mutex, clock, moment);
  if (clock == CLOCK_REALTIME) return pthread_cond_timedwait(condition, mutex, moment);
  const struct timespec real = OnRealTime(clock, moment);
  return pthread_cond_timedwait(condition, mutex, &real);
}

// --- random numbers (2.36) -----------------------------------------------------------------------

uint32_t arc4random(void) {
  uint32_t result = 0;
  // Four bytes come whole or, before the kernel has gathered enough of them, after a wait.
  while (getrandom(&result, sizeof result, 0) != (ssize_t)sizeof result) {
  }
  return result;
}

// --- names of hosts: before 2.34 they were in a library of their own and began with two underscores 

#define OF_RESOLVER(type, name, parameters, arguments)         \
  type name parameters {                                       \
    type(*function) parameters = NEXT(name);                   \
    if (!function) function = dlsym(RTLD_DEFAULT, "__" #name); \
    if (function) return function arguments;                   \
    errno = ENOSYS;                                            \
    return (type)-1;                                           \
  }
OF_RESOLVER(int, dn_expand,
            (const unsigned char* begin, const unsigned char* end, const unsigned char* from,
             char* to, int size),
            (begin, end, from, to, size))
OF_RESOLVER(int, dn_skipname, (const unsigned char* from, const unsigned char* end), (from, end))
OF_RESOLVER(int, res_dnok, (const char* name), (name))
OF_RESOLVER(int, res_hnok, (const char* name), (name))
OF_RESOLVER(int, res_nsearch,
            (void* state, const char* name, int class, int type, unsigned char* answer, int size),
            (state, name, class, type, answer, size))
OF_RESOLVER(int, res_query,
            (const char* name, int class, int type, unsigned char* answer, int size),
            (name, class, type, answer, size))

// --- exceptions: where the tables of the function at an address are (2.35) -----------------------

struct Wanted {
  uintptr_t address;
  struct dl_find_object* found;
};

static int FindIn(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct Wanted* wanted = data;
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  void* eh_frame = NULL;
  int holds = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    const uintptr_t from = info->dlpi_addr + part->p_vaddr;
    const uintptr_t to = from + part->p_memsz;
    if (part->p_type == PT_GNU_EH_FRAME) eh_frame = (void*)from;
    if (part->p_type != PT_LOAD) continue;
    if (from < begin) begin = from;
    if (to > end) end = to;
    if (wanted->address >= from && wanted->address < to) holds = 1;
  }
  if (!holds || !eh_frame) return 0;
  wanted->found->dlfo_flags = 0;
  wanted->found->dlfo_map_start = (void*)begin;
  wanted->found->dlfo_map_end = (void*)end;
  wanted->found->dlfo_link_map = NULL;  // the unwinder does not ask for it
  wanted->found->dlfo_eh_frame = eh_frame;
  return 1;
}

static int (*find_object)(void*, struct dl_find_object*);
int _dl_find_object(void* address, struct dl_find_object* found) {
  if (find_object) return find_object(address, found);
  struct Wanted wanted = {(uintptr_t)address, found};
  return dl_iterate_phdr(FindIn, &wanted) ? 0 : -1;
}

// --- the beginning of a program ------------------------------------------------------------------

// Looked up before any other code of the program runs, since neither a wait nor an exception may do
// it.
__attribute__((constructor)) static void LookUp(void) {
  cond_clockwait = NEXT(pthread_cond_clockwait);
  find_object = NEXT(_dl_find_object);
}

typedef int (*MainFunction)(int, char**, char**);
typedef void (*InitFunction)(int, char**, char**);

// The constructors of the program itself. Until 2.33 the program had a function that calls them and
// told the C library of it; one that was linked with a newer C library leaves them to that. Every
// version calls such a function where it is given one, and nothing else then.
static int RunConstructors(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  const void* const* all = data;
  const ElfW(Dyn)* entry = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = (void*)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  }
  InitFunction first = NULL;
  const InitFunction* functions = NULL;
  size_t count = 0;
  for (; entry && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_INIT) first = (InitFunction)(info->dlpi_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_INIT_ARRAY) functions = (void*)(info->dlpi_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_INIT_ARRAYSZ) count = entry->d_un.d_val / sizeof(InitFunction);
  }
  const int arguments = *(const int*)all[0];
  if (first) first(arguments, (char**)all[1], (char**)all[2]);
  for (size_t i = 0; i < count; ++i) functions[i](arguments, (char**)all[1], (char**)all[2]);
  return 1;  // the program comes first, and its libraries' have run
}

static void Construct(int count, char** arguments, char** environment) {
  const void* all[] = {&count, arguments, environment};
  dl_iterate_phdr(RunConstructors, all);
}

typedef int (*StartFunction)(MainFunction, int, char**, InitFunction, void (*)(void),
                             void (*)(void), void*);
int __libc_start_main(MainFunction main, int count, char** arguments, InitFunction init,
                      void (*fini)(void), void (*loader_fini)(void), void* stack) {
  const StartFunction start = (StartFunction)dlsym(RTLD_NEXT, "__libc_start_main");
  return start(main, count, arguments, init ? init : Construct, fini, loader_fini, stack);
}
