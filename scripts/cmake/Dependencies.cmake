# The packages that scripts/setup.sh installs. Each find_package also looks in CMAKE_PREFIX_PATH,
# so a folder made by `scripts/setup.sh --prefix DIR` can be used instead of the system.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
find_package(TBB REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(GTest REQUIRED)

# cpp-httplib is packaged without a CMake config. The class layouts depend on the macros that the
# library was built with, which are in its pkg-config file.
find_path(AGENTR_HTTPLIB_INCLUDE httplib.h REQUIRED)
find_library(AGENTR_HTTPLIB_LIBRARY cpp-httplib REQUIRED)
cmake_path(GET AGENTR_HTTPLIB_LIBRARY PARENT_PATH _httplib_dir)
file(STRINGS "${_httplib_dir}/pkgconfig/cpp-httplib.pc" _httplib_cflags REGEX "^Cflags:")
string(REGEX MATCHALL "-D[A-Z_]+" _httplib_definitions "${_httplib_cflags}")
add_library(agentr_httplib INTERFACE)
target_compile_options(agentr_httplib INTERFACE ${_httplib_definitions})
target_include_directories(agentr_httplib SYSTEM INTERFACE "${AGENTR_HTTPLIB_INCLUDE}")
target_link_libraries(agentr_httplib INTERFACE "${AGENTR_HTTPLIB_LIBRARY}" OpenSSL::SSL
                                               Threads::Threads)
# servers/http overrides functions that are no part of the documented interface.
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
try_compile(AGENTR_HTTPLIB_FITS "${CMAKE_BINARY_DIR}/httplib_probe"
            "${PROJECT_SOURCE_DIR}/scripts/cmake/httplib_probe.cc"
            COMPILE_DEFINITIONS ${_httplib_definitions} "-I${AGENTR_HTTPLIB_INCLUDE}"
                                "-I${PROJECT_SOURCE_DIR}"
            CXX_STANDARD 20 OUTPUT_VARIABLE _httplib_errors)
unset(CMAKE_TRY_COMPILE_TARGET_TYPE)
if(NOT AGENTR_HTTPLIB_FITS)
  message(FATAL_ERROR
    "cpp-httplib (${AGENTR_HTTPLIB_INCLUDE}/httplib.h) has not the inner functions that "
    "servers/http/httplib_inner.h names; versions 0.11 to 0.53 do. Install one of them "
    "(scripts/setup.sh does):\n${_httplib_errors}")
endif()

# Unicode, for WebShop's search and texts, and for tokenizers.
find_package(ICU REQUIRED COMPONENTS uc)

# Regular expressions of tokenizers, on UTF-8.
find_path(AGENTR_PCRE2_INCLUDE pcre2.h REQUIRED)
find_library(AGENTR_PCRE2_LIBRARY pcre2-8 REQUIRED)
add_library(agentr_pcre2 INTERFACE)
target_include_directories(agentr_pcre2 SYSTEM INTERFACE "${AGENTR_PCRE2_INCLUDE}")
target_link_libraries(agentr_pcre2 INTERFACE "${AGENTR_PCRE2_LIBRARY}")

# Compression of reports and of results in a database.
find_package(ZLIB REQUIRED)

# The client of PostgreSQL, for results in a database. CMake's own module also wants the server's headers.
find_path(AGENTR_LIBPQ_INCLUDE libpq-fe.h PATH_SUFFIXES postgresql REQUIRED)
find_library(AGENTR_LIBPQ_LIBRARY pq REQUIRED)
add_library(agentr_libpq INTERFACE)
target_include_directories(agentr_libpq SYSTEM INTERFACE "${AGENTR_LIBPQ_INCLUDE}")
target_link_libraries(agentr_libpq INTERFACE "${AGENTR_LIBPQ_LIBRARY}")

# Option files. The header alone: common/toml.cc compiles the implementation in.
find_path(AGENTR_TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
add_library(agentr_tomlplusplus INTERFACE)
target_include_directories(agentr_tomlplusplus SYSTEM INTERFACE "${AGENTR_TOMLPLUSPLUS_INCLUDE}")

# WebSocket, of OpenEnv's servers: Boost.Beast, headers alone.
find_path(AGENTR_BOOST_INCLUDE boost/beast/websocket.hpp REQUIRED)

# Only the tests compare with libstemmer's Porter stemmer.
find_path(AGENTR_STEMMER_INCLUDE libstemmer.h REQUIRED)
find_library(AGENTR_STEMMER_LIBRARY stemmer REQUIRED)
add_library(agentr_stemmer INTERFACE)
target_include_directories(agentr_stemmer SYSTEM INTERFACE "${AGENTR_STEMMER_INCLUDE}")
target_link_libraries(agentr_stemmer INTERFACE "${AGENTR_STEMMER_LIBRARY}")

# SciWorld's simulator runs on the JVM, whose library is opened at run time: the build needs JNI's
# headers and javac. Without them everything else is built, and SciWorld reports the cure.
# SciWorld is also left out with sanitizers, because they report faults that the JVM causes on purpose.
option(AGENTR_JAVA "Build SciWorld's server where a JDK is found" ON)
if(AGENTR_JAVA AND (NOT AGENTR_JNI_INCLUDE OR NOT AGENTR_JAVAC))
  file(GLOB _jdks "/usr/lib/jvm/*")
  list(PREPEND _jdks "$ENV{JAVA_HOME}")
  foreach(_jdk ${_jdks})
    if(EXISTS "${_jdk}/include/jni.h" AND EXISTS "${_jdk}/bin/javac")
      set(AGENTR_JNI_INCLUDE "${_jdk}/include" CACHE PATH "Folder of jni.h")
      set(AGENTR_JAVAC "${_jdk}/bin/javac" CACHE FILEPATH "Java's compiler")
      break()
    endif()
  endforeach()
endif()
set(AGENTR_JNI_FOUND OFF)
if(AGENTR_JAVA AND AGENTR_JNI_INCLUDE AND AGENTR_JAVAC AND NOT AGENTR_SANITIZE)
  set(AGENTR_JNI_FOUND ON)
  set(AGENTR_JNI_INCLUDES "${AGENTR_JNI_INCLUDE}" "${AGENTR_JNI_INCLUDE}/linux")
else()
  message(STATUS "SciWorld's server is left out: no JDK (scripts/setup.sh --sciworld), or sanitizers")
endif()
