# One helper per kind of target. All paths are relative to the calling folder.

add_custom_target(programs COMMENT "Every program, without the tests")

# agentr_library(NAME SOURCES … [DEPENDS …]): the library agentr_NAME of folder NAME.
function(agentr_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(agentr_${name} STATIC ${ARG_SOURCES})
  target_include_directories(agentr_${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                                   "$<INSTALL_INTERFACE:include/agentr>")
  target_link_libraries(agentr_${name} PUBLIC ${ARG_DEPENDS})
endfunction()

# agentr_program(NAME [DEPENDS …]): the program NAME from NAME_main.cc.
function(agentr_program name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_executable(${name} ${name}_main.cc)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  add_dependencies(programs ${name})
  # Its man page and completions, which the program itself prints (common/option_docs.h).
  set(docs "${PROJECT_BINARY_DIR}/docs")
  add_custom_command(
    TARGET ${name} POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E make_directory "${docs}/man" "${docs}/bash" "${docs}/zsh"
    COMMAND ${name} --help_as=man > "${docs}/man/${name}.1"
    COMMAND ${name} --help_as=bash > "${docs}/bash/${name}"
    COMMAND ${name} --help_as=zsh > "${docs}/zsh/_${name}"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY AGENTR_PROGRAMS ${name})
endfunction()

# The instruction-set levels below this processor's (common/simd.h).
set(AGENTR_LOWER_SIMD "")
if(CMAKE_CROSSCOMPILING)
  set(AGENTR_LOWER_SIMD portable)
elseif(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo flags REGEX "^(flags|Features)" LIMIT_COUNT 1)
  if(flags MATCHES " avx2 " OR flags MATCHES " asimd ")
    list(APPEND AGENTR_LOWER_SIMD portable)
  endif()
  if(flags MATCHES " avx512vl ")
    list(APPEND AGENTR_LOWER_SIMD avx2)
  endif()
  if(flags MATCHES " avx512_bf16 ")
    list(APPEND AGENTR_LOWER_SIMD avx512)
  endif()
  if(flags MATCHES " amx_int8( |$)")
    list(APPEND AGENTR_LOWER_SIMD avx512bf16)
  endif()
endif()

# agentr_test(NAME [AS_ONE] [EACH_LEVEL] SOURCES … [DEPENDS …] [LABELS …]): one GoogleTest binary, each
# test in ctest; AS_ONE: all tests in one process, because most of the time of a process would be loading
# LibTorch. EACH_LEVEL: all of it once more at each lower level of instruction sets, as NAME@LEVEL.
function(agentr_test name)
  cmake_parse_arguments(ARG "AS_ONE;EACH_LEVEL" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  # Optimising the tests themselves would take half of the whole build.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O0>)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE AGENTR_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             AGENTR_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
  set(timeout 300)
  if(AGENTR_SANITIZE)  # which makes a test several times slower
    set(timeout 1200)
  endif()
  if(ARG_AS_ONE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABELS}")
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABELS}")
  endif()
  if(ARG_EACH_LEVEL)
    foreach(level IN LISTS AGENTR_LOWER_SIMD)
      add_test(NAME ${name}@${level} COMMAND ${name})
      set_tests_properties(${name}@${level} PROPERTIES TIMEOUT ${timeout} LABELS "${ARG_LABELS};simd"
                           ENVIRONMENT AGENTR_SIMD=${level})
    endforeach()
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests"
             OUTPUT_VARIABLE folder)
  list(TRANSFORM ARG_SOURCES PREPEND "${folder}/")
  set_property(GLOBAL APPEND PROPERTY AGENTR_TEST_SOURCES ${ARG_SOURCES})
endfunction()

# agentr_embed(target symbol file): the bytes of the file as the string_view agentr::embedded::SYMBOL.
function(agentr_embed target symbol file)
  agentr_read_bytes("${file}" text length)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc" @ONLY CONTENT
"#include <string_view>
namespace agentr::embedded {
static constexpr char @symbol@Bytes[] = {@text@0};
extern const std::string_view @symbol@;
constinit const std::string_view @symbol@(@symbol@Bytes, @length@);
}  // namespace agentr::embedded
")
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc")
endfunction()

# agentr_embed_folder(target symbol folder extension): the same for all files of a folder with this
# extension, as pairs of a file's name without the extension and its content:
#   extern const std::span<const NamedValue<std::string_view>> symbol;
function(agentr_embed_folder target symbol folder extension)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.${extension}")
  set(bytes "")
  set(entries "")
  foreach(file IN LISTS files)
    agentr_read_bytes("${file}" text length)
    cmake_path(GET file STEM name)
    string(APPEND bytes "static constexpr char ${symbol}_${name}[] = {${text}0};\n")
    string(APPEND entries "    {\"${name}\", {${symbol}_${name}, ${length}}},\n")
  endforeach()
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc" @ONLY CONTENT
"#include <span>
#include <string_view>
#include <utility>
namespace agentr::embedded {
using File = std::pair<std::string_view, std::string_view>;
@bytes@static constexpr File @symbol@Files[] = {
@entries@};
extern const std::span<const File> @symbol@;
constinit const std::span<const File> @symbol@(@symbol@Files);
}  // namespace agentr::embedded
")
  target_sources(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc")
endfunction()

# The bytes of a file as the elements of an array of characters, and their number. CMake runs again
# when the file changes.
function(agentr_read_bytes file text length)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR count "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
  set(${text} "${bytes}" PARENT_SCOPE)
  set(${length} "${count}" PARENT_SCOPE)
endfunction()
