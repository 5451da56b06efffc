# How everything is compiled: language level, warnings, sanitizers, and faster tools if present.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

find_program(AGENTR_CCACHE ccache)
if(AGENTR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${AGENTR_CCACHE}")
endif()

find_program(AGENTR_MOLD mold)
if(AGENTR_MOLD AND NOT CMAKE_CROSSCOMPILING)  # which would ask for a mold of the other processor
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict)  # false alarms on std::string operator+ (GCC bug 105651)
endif()
if(AGENTR_WERROR)
  add_compile_options(-Werror)
endif()

if(AGENTR_SANITIZE)
  add_compile_options(-fsanitize=${AGENTR_SANITIZE} -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${AGENTR_SANITIZE})
  if(AGENTR_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
