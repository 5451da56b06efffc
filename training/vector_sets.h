// An attribute for functions with plain loops: the compiler vectorises them once per instruction
// set, and the version is chosen when the program starts.
#pragma once

// The sanitizers do not support such functions.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define AGENTR_EACH_SET \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define AGENTR_EACH_SET
#endif
