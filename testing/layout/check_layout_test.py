#!/usr/bin/env python3
"""Proves of each house rule that it fails where it should and passes where it should."""

import tempfile
import unittest
from pathlib import Path

import check_layout
from cpp_text import blank_comments_and_strings, functions

ROOMS = "base:\ndb: base\nduck: base\ncli: db\n"
LISTED = "amend_room(x SOURCES a.cc b.cc real_env.cc TESTS a_test.cc)\n"


class LayoutTest(unittest.TestCase):
    """Each test writes a small house and says which rules it breaks."""

    def rules(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            house = {"testing/layout/rooms.txt": ROOMS}
            house |= {f"src/{room}/CMakeLists.txt": LISTED for room in ("base", "db", "cli")}
            house |= {"src/base/a.h": "#pragma once\n", "src/db/a.h": "#pragma once\n"}
            for name, text in (house | files).items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return [(p.rule, p.path, p.line) for p in check_layout.check(root)]

    def assert_breaks(self, rule, files, line=1):
        name = next(iter(files))
        self.assertEqual(self.rules(files), [(rule, name, line)])

    def assert_fine(self, files):
        self.assertEqual(self.rules(files), [])

    def test_arrows_are_followed(self):
        self.assert_fine({"src/cli/a.cc": '#include "db/a.h"\n#include "base/a.h"\n'})
        self.assert_breaks("edge", {"src/base/a.cc": '#include "db/a.h"\n'})
        self.assert_breaks("edge", {"src/base/a_test.cc": '#include "db/a.h"\n'})
        self.assert_breaks("edge", {"src/base/a.cc": '// why\n#include "attic/a.h"\n'}, line=2)

    def test_only_tests_include_testing(self):
        fake = {"testing/fake.h": "#pragma once\n"}
        edge = '#include "testing/fake.h"\n'
        self.assert_fine({"src/base/a_test.cc": edge} | fake)
        self.assert_fine({"bench/b.cc": edge, "bench/CMakeLists.txt": "b.cc"} | fake)
        self.assert_breaks("edge", {"src/base/a.cc": edge} | fake)
        self.assert_breaks("edge", {"src/base/b.h": "#pragma once\n" + edge} | fake, line=2)

    def test_testing_may_include_every_room(self):
        self.assert_fine({"testing/fake.h": '#pragma once\n#include "db/a.h"\n'})
        self.assert_breaks("edge", {"testing/fake.h": '#pragma once\n#include "attic/a.h"\n'}, 2)

    def test_includes_name_an_existing_file_of_a_room(self):
        self.assert_breaks("include", {"src/db/a.cc": '#include "a.h"\n'})
        self.assert_breaks("include", {"src/db/a.cc": '#include "base/gone.h"\n'})
        self.assert_breaks("include", {"src/db/a_test.cc": '#include "testing/gone.h"\n'})

    def test_the_map_has_no_cycle_and_no_unknown_room(self):
        name = "testing/layout/rooms.txt"
        self.assert_breaks("cycle", {name: "base: cli\ndb: base\ncli: db\n"})
        self.assert_breaks("map", {name: ROOMS + "plan: state\n"})
        self.assert_breaks("map", {name: ROOMS + "base: db\n"}, line=5)
        self.assertEqual(self.rules({"src/attic/a.h": "#pragma once\n"}),
                         [("map", "src/attic", 1)])

    def test_adapter_headers_stay_in_their_room(self):
        for header, home in [("sqlite3.h", "db"), ("libpq-fe.h", "db"), ("duckdb.h", "duck"),
                             ("libdeflate.h", "iceberg"), ("openssl/evp.h", "base"),
                             ("CLI/CLI.hpp", "cli"), ("yaml-cpp/yaml.h", "project")]:
            house = {"testing/layout/rooms.txt": ROOMS + "iceberg: db\nproject: base\n",
                     f"src/{home}/CMakeLists.txt": "a.cc", "src/db/CMakeLists.txt": "b.cc a.cc"}
            elsewhere = "db" if home != "db" else "base"
            for include in (f"#include <{header}>\n", f'#include "{header}"\n'):
                self.assert_fine({f"src/{home}/a.cc": include} | house)
                self.assert_breaks("adapter", {f"src/{elsewhere}/b.cc": include} | house)
                self.assert_breaks(
                    "adapter", {f"src/{home}/b.h": "#pragma once\n" + include} | house, line=2)

    def test_only_env_opens_files_and_reads_clocks(self):
        for line, rule in [("#include <fcntl.h>\n", "os"), ("#include <unistd.h>\n", "os"),
                           ("#include <fstream>\n", "os"), ("#include <filesystem>\n", "os"),
                           ("auto t = std::chrono::system_clock::now();\n", "clock"),
                           ("auto t = std::chrono::steady_clock::now();\n", "clock"),
                           ('auto* f = fopen("x", "r");\n', "files")]:
            self.assert_breaks(rule, {"src/db/a.cc": line})
            self.assert_fine({"src/base/real_env.cc": line})
            self.assert_fine({"src/db/a_test.cc": line})

    def test_files_have_a_length(self):
        def lines(count, first=""):
            return first + "\n" * count
        self.assert_fine({"src/db/a.cc": lines(800)})
        self.assert_breaks("length", {"src/db/a.cc": lines(801)}, line=801)
        self.assert_fine({"src/db/b.h": lines(400, "#pragma once")})
        self.assert_breaks("length", {"src/db/b.h": lines(401, "#pragma once")}, line=401)
        self.assert_fine({"src/db/a_test.cc": lines(1500)})
        self.assert_breaks("length", {"src/db/a_test.cc": lines(1501)}, line=1501)

    def test_functions_have_a_length(self):
        def function(lines):
            return "// one\nvoid F() {\n" + "  g();\n" * (lines - 2) + "}\n"
        self.assert_fine({"src/db/a.cc": function(70)})
        self.assert_breaks("function", {"src/db/a.cc": function(71)}, line=2)

    def test_banned_things(self):
        for line, rule in [("using namespace std;\n", "using-namespace"),
                           ("TEST(A, DISABLED_b) {}\n", "disabled"),
                           ("GTEST_SKIP();\n", "skip"),
                           ("int x = std::rand();\n", "rand"),
                           ("std::random_device d;\n", "rand"),
                           ("std::this_thread::sleep_for(t);\n", "sleep"),
                           ("  // TEST(A, b) {\n", "commented-test"),
                           ("/* gone\n// TEST_F(A, b) { */\n", "commented-test")]:
            self.assert_breaks(rule, {"src/db/a_test.cc": line},
                               line=1 + line.startswith("/*"))

    def test_banned_things_may_be_spoken_of(self):
        self.assert_fine({"src/db/a.cc": "// using namespace std is banned; no std::rand()\n"
                                         'const char* s = "GTEST_SKIP";\n'})

    def test_todo_names_its_issue(self):
        self.assert_fine({"src/db/a.cc": "// TODO(#12): later\n"})
        self.assert_breaks("todo", {"src/db/a.cc": "// TODO(me): later\n"})
        self.assert_breaks("todo", {"docs/a.md": "FIXME soon\n"})

    def test_no_machine_and_no_registry(self):
        self.assert_breaks("machine-path", {"docs/a.md": "see /home/me/x\n"})
        self.assert_breaks("machine-path", {"src/db/a.cc": 'const char* p = "/work/x";\n'})
        self.assert_breaks("registry", {"scripts/a.sh": "curl https://pypi.org/simple\n"})
        self.assert_breaks("registry", {"scripts/a.sh": "pip install --index-url X\n"})
        self.assert_fine({"docs/a.md": "run `src/home/x`, /tmp/x, ~/work/x\n"})

    def test_every_source_is_built(self):
        self.assert_breaks("unlisted", {"src/db/new_test.cc": ""})
        self.assert_breaks("unlisted", {"src/db/c.cc": "", "src/db/CMakeLists.txt": "# c.cc\n"})
        self.assert_breaks("unlisted", {"src/db/c.cc": "", "src/db/CMakeLists.txt": "abc.cc\n"})
        self.assert_fine({"testing/crash/c_test.cc": "",
                          "testing/CMakeLists.txt": "amend_test(c SOURCES crash/c_test.cc)\n"})

    def test_headers_are_included_once(self):
        self.assert_breaks("pragma-once", {"src/db/b.h": "int F();\n"})

    def test_waivers_are_few_and_used(self):
        name = "testing/layout/waivers.txt"
        bad = {"src/db/a.cc": "using namespace std;\n"}
        self.assert_fine(bad | {name: "# why\nusing-namespace src/db/a.cc literals only\n"})
        self.assert_breaks("waiver", {name: "using-namespace src/db/a.cc literals only\n"})
        self.assert_breaks("waiver", {name: "sleep src/db/a.cc\n"})


class FunctionsTest(unittest.TestCase):
    """The measure itself, on the shapes that fool a naive count of braces."""

    def measured(self, text):
        return [(name, first, last)
                for name, first, last in functions(blank_comments_and_strings(text))]

    def test_plain_member_and_nested(self):
        self.assertEqual(self.measured("namespace a {\nclass C : public B {\n public:\n  int F()"
                                       " const {\n    if (x) { y(); }\n    return 1;\n  }\n"
                                       "  int x_ = 3;\n  int y_{4};\n};\n}\nint G() { return 1; }"),
                         [("F", 4, 7), ("G", 12, 12)])

    def test_constructor_with_braced_members(self):
        self.assertEqual(self.measured("A::A(int x)\n    : B(x),\n      a_{x},\n      b_{1} {\n"
                                       "  F();\n}\nint G() {\n}\n"),
                         [("A::A", 1, 6), ("G", 7, 8)])

    def test_templates_lambdas_and_trailing_types(self):
        self.assertEqual(self.measured("template <class T>\nT F(T t) {\n  return t;\n}\n"
                                       "auto G(int x) -> std::vector<int> {\n}\n"
                                       "const auto kH = [](int x) {\n};\n"),
                         [("F", 1, 4), ("G", 5, 6), ("function", 7, 8)])

    def test_tables_are_not_functions(self):
        self.assertEqual(self.measured("constexpr X kTable[] = {\n  {1, F(2)},\n};\n"
                                       "enum class E {\n  kA,\n};\nstruct S {\n  int a = F();\n"
                                       "};\n"), [])

    def test_literals_and_comments_hold_no_braces(self):
        self.assertEqual(self.measured("int F() {  // {\n  G(R\"x({\" {)x\", '{', \"\\\"{\");\n"
                                       "  int n = 1'000'000;  /* { */\n}\nint G() {}\n"),
                         [("F", 1, 4), ("G", 5, 5)])

    def test_macros_are_not_counted(self):
        self.assertEqual(self.measured("#define M(x) \\\n  do { \\\n    x;\nint F() {\n}\n"),
                         [("F", 4, 5)])


if __name__ == "__main__":
    unittest.main()
