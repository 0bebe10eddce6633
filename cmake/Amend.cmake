include(GNUInstallDirs)
# Build rules of the house: how a room is compiled, what it may be linked with.

macro(amend_toolchain)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(AMEND_CCACHE ccache)
  if(AMEND_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
        ${AMEND_CCACHE})
  endif()
  find_program(AMEND_MOLD mold)
  if(AMEND_MOLD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_link_options(-fuse-ld=mold)
  endif()
  add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                      -Wunused -Woverloaded-virtual -Wconversion -Wno-sign-conversion
                      -fno-omit-frame-pointer "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
  if(AMEND_SANITIZE)
    # g++ 12 reports false maybe-uninitialized under sanitizers: no -Werror there.
    add_compile_options(-fsanitize=${AMEND_SANITIZE} -fno-sanitize-recover=undefined -O1 -g1
                        -Wno-maybe-uninitialized)
    add_link_options(-fsanitize=${AMEND_SANITIZE})
  else()
    add_compile_options(-Werror)
  endif()
  enable_testing()
endmacro()

macro(amend_dependencies)
  find_package(nlohmann_json REQUIRED)
  find_package(fmt REQUIRED)
  find_package(yaml-cpp REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(SQLite3 REQUIRED)
  find_package(OpenSSL REQUIRED COMPONENTS Crypto)
  find_package(ZLIB REQUIRED)
  find_package(date REQUIRED)
  find_package(Threads REQUIRED)
  find_package(tl-expected REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
  add_library(duckdb::duckdb SHARED IMPORTED)
  set_target_properties(duckdb::duckdb PROPERTIES
    IMPORTED_LOCATION "${AMEND_DUCKDB_DIR}/lib/libduckdb.so"
    IMPORTED_SONAME libduckdb.so
    INTERFACE_INCLUDE_DIRECTORIES "${AMEND_DUCKDB_DIR}/include")
  if(NOT EXISTS "${AMEND_DUCKDB_DIR}/include/duckdb.h")
    message(FATAL_ERROR "No DuckDB in ${AMEND_DUCKDB_DIR}: run scripts/bootstrap build")
  endif()
  if(AMEND_TESTS)
    find_package(GTest REQUIRED)
    find_package(rapidcheck QUIET)
  endif()
endmacro()

# amend_room(NAME SOURCES … DEPS rooms… LIBS libraries… [PUBLIC_LIBS …] TESTS … TEST_DEPS …)
#   NAME   a folder below src/; its sources become the library amend_NAME.
#   DEPS   rooms whose headers it includes; LIBS outside libraries only its .cc files see.
#   TESTS  *_test.cc beside the sources: one binary NAME_test, one ctest entry per case.
#   TEST_LABELS  e.g. `threads`: the tests that SANITIZE=thread runs.
function(amend_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPS;LIBS;PUBLIC_LIBS;TESTS;TEST_DEPS;TEST_LABELS"
                        ${ARGN})
  add_library(amend_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(amend_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  list(TRANSFORM ROOM_DEPS PREPEND amend_)
  target_link_libraries(amend_${name} PUBLIC ${ROOM_DEPS} ${ROOM_PUBLIC_LIBS}
                        PRIVATE ${ROOM_LIBS})
  if(AMEND_TESTS AND ROOM_TESTS)
    amend_test(${name}_test SOURCES ${ROOM_TESTS} DEPS ${name} ${ROOM_TEST_DEPS}
               LABELS ${ROOM_TEST_LABELS})
  endif()
endfunction()

# amend_test(NAME SOURCES … DEPS rooms… LIBS … LABELS …): a GoogleTest binary. Tests see
# src/ and testing/ and find the project's root, the fetched data and the peers through
# the environment variables set here.
function(amend_test name)
  cmake_parse_arguments(T "" "" "SOURCES;DEPS;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  list(TRANSFORM T_DEPS PREPEND amend_)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${T_DEPS} ${T_LIBS} GTest::gmock GTest::gtest_main)
  if(TARGET rapidcheck)
    target_link_libraries(${name} PRIVATE rapidcheck)
  endif()
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    PROPERTIES
      LABELS "${T_LABELS}"
      ENVIRONMENT "AMEND_SOURCE_DIR=${CMAKE_SOURCE_DIR};AMEND_DEPS_DIR=${AMEND_DEPS_DIR};AMEND_BINARY=${CMAKE_BINARY_DIR}/amend")
endfunction()
include(GoogleTest)
