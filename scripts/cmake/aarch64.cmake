# A toolchain for 64-bit ARM on a machine of another kind: Debian's cross compiler, and a folder with
# Debian's packages for it, which `scripts/setup.sh --aarch64 DIR` makes. What is built runs under
# qemu-user, the tests too.
#   cmake --preset release -B build/aarch64 -DCMAKE_TOOLCHAIN_FILE=$PWD/scripts/cmake/aarch64.cmake -DAGENTR_SYSROOT=DIR

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(AGENTR_SYSROOT "" CACHE PATH "The folder of scripts/setup.sh --aarch64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES AGENTR_SYSROOT)
set(CMAKE_SYSROOT "${AGENTR_SYSROOT}")

set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${AGENTR_SYSROOT}")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
