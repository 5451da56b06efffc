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
  set_property(GLOBAL APPEND PROPERTY AGENTR_PROGRAMS ${name})
endfunction()

# agentr_test(NAME [AS_ONE] SOURCES … [DEPENDS …] [LABELS …]): one GoogleTest binary, each test in
# ctest; AS_ONE: all tests in one process, because most of the time of a process would be loading LibTorch.
function(agentr_test name)
  cmake_parse_arguments(ARG "AS_ONE" "" "SOURCES;DEPENDS;LABELS" ${ARGN})
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
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY "${PROJECT_SOURCE_DIR}/tests"
             OUTPUT_VARIABLE folder)
  list(TRANSFORM ARG_SOURCES PREPEND "${folder}/")
  set_property(GLOBAL APPEND PROPERTY AGENTR_TEST_SOURCES ${ARG_SOURCES})
endfunction()

# agentr_embed(TARGET SYMBOL FILE): the bytes of FILE as the string_view agentr::embedded::SYMBOL,
function(agentr_embed target symbol file)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text HEX)
  string(LENGTH "${text}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," text "${text}")
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
