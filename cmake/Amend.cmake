# Build rules of the house: how a room is compiled, what it may be linked with.

macro(amend_toolchain)
  set(CMAKE_CXX_STANDARD 20)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
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
                      -Wno-missing-field-initializers  # `{.threads = 2}` is meant so
                      -fno-omit-frame-pointer "-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=")
  if(AMEND_SANITIZE)
    # g++ 12 reports false maybe-uninitialized under sanitizers: no -Werror there.
    add_compile_options(-fsanitize=${AMEND_SANITIZE} -fno-sanitize-recover=undefined -O1 -g1
                        -Wno-maybe-uninitialized)
    add_link_options(-fsanitize=${AMEND_SANITIZE})
  else()
    add_compile_options(-Werror)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # g++ 12 sees overlaps in std::string that are not there (its bug 105651).
      add_compile_options(-Wno-restrict)
    endif()
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
  find_package(date REQUIRED)
  find_package(Threads REQUIRED)
  find_package(tl-expected REQUIRED)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(libdeflate REQUIRED IMPORTED_TARGET libdeflate)
  pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
  set(duckdb_dir "${AMEND_DUCKDB_DIR}")
  if(NOT duckdb_dir)
    set(duckdb_dir "${AMEND_DEPS_DIR}/duckdb")
  endif()
  if(NOT EXISTS "${duckdb_dir}/include/duckdb.h")
    message(FATAL_ERROR "No DuckDB in ${duckdb_dir}: run scripts/bootstrap build")
  endif()
  add_library(duckdb::duckdb SHARED IMPORTED)
  set_target_properties(duckdb::duckdb PROPERTIES
    IMPORTED_LOCATION "${duckdb_dir}/lib/libduckdb.so"
    IMPORTED_SONAME libduckdb.so
    INTERFACE_INCLUDE_DIRECTORIES "${duckdb_dir}/include")
  if(AMEND_TESTS)
    find_package(GTest REQUIRED)
    find_package(rapidcheck REQUIRED)
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

# amend_program(NAME SOURCES … DEPS rooms… LIBS libraries…): what `make install` installs, with
# libduckdb.so beside it so that the installed tree can be moved.
function(amend_program name)
  cmake_parse_arguments(P "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  add_executable(${name} ${P_SOURCES})
  list(TRANSFORM P_DEPS PREPEND amend_)
  target_link_libraries(${name} PRIVATE ${P_DEPS} ${P_LIBS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${AMEND_OUTPUT_DIR}"
    INSTALL_RPATH "$ORIGIN/../lib")
  install(TARGETS ${name} RUNTIME DESTINATION bin)
  install(PROGRAMS "$<TARGET_PROPERTY:duckdb::duckdb,IMPORTED_LOCATION>" DESTINATION lib)
endfunction()

# amend_test(NAME SOURCES … DEPS rooms… LIBS … LABELS …): a GoogleTest binary. Tests see
# src/ and testing/ and find the project's root, the fetched data and the peers through
# the environment variables set here.
function(amend_test name)
  cmake_parse_arguments(T "" "" "SOURCES;DEPS;LIBS;LABELS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  list(TRANSFORM T_DEPS PREPEND amend_)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${T_DEPS} ${T_LIBS} GTest::gmock GTest::gtest_main
                        rapidcheck)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60)
  if("threads" IN_LIST T_LABELS)
    add_dependencies(threads ${name})
  endif()
  # Its PROPERTIES flatten lists, so what every case gets is said in a file of our own.
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake CONTENT [[
foreach(case IN LISTS @name@_TESTS)
  set_tests_properties("${case}" PROPERTIES LABELS "@T_LABELS@" ENVIRONMENT
    "AMEND_SOURCE_DIR=@CMAKE_SOURCE_DIR@;AMEND_DEPS_DIR=@AMEND_DEPS_DIR@;AMEND_BINARY=@AMEND_OUTPUT_DIR@/amend")
endforeach()
]] @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
               ${CMAKE_CURRENT_BINARY_DIR}/${name}_properties.cmake)
endfunction()
include(GoogleTest)
