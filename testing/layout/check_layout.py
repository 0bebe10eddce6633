#!/usr/bin/env python3
"""House rules as a test: who may include whom, how long things may get, what is banned.

    check_layout.py ROOT

Prints one line a problem, `path:line: [rule] what is wrong; what to do`, and exits 1 when
there is any. `rooms.txt` beside this file is the map of the house, `waivers.txt` the short
list of exceptions (`rule path reason`, a line each; one that waives nothing is a problem
too). check_layout_test.py proves of each rule that it can fail.
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from cpp_text import blank_comments_and_strings, comments_only, functions

MAP = "testing/layout/rooms.txt"
WAIVERS = "testing/layout/waivers.txt"
CODE_FOLDERS = ("src", "testing", "bench")
TEXT_SUFFIXES = {".cc", ".h", ".py", ".sh", ".md", ".txt", ".yaml", ".yml", ".sql", ".cmake",
                 ".lock", ".json", ".ci", ""}
SKIPPED_FOLDERS = {".git", ".deps", "build", "__pycache__"}

HEADER_LINES, SOURCE_LINES, TEST_LINES, FUNCTION_LINES = 400, 800, 1500, 70

# Outside libraries and the one place that may see their headers (.cc files only).
ADAPTERS = [
    (r"sqlite3(ext)?\.h", "src/db/"),
    (r"libpq-fe\.h|libpq/.*", "src/db/"),
    (r"duckdb(\.h|\.hpp|/.*)", "src/duck/"),
    (r"libdeflate\.h", "src/iceberg/"),
    (r"openssl/.*", "src/base/"),
    (r"CLI/.*", "src/cli/"),
    (r"yaml-cpp/.*", "src/project/"),
]
# Libraries that any room may use. Google style writes them in quotes or brackets alike.
LIBRARIES = re.compile(r"(gtest|gmock|rapidcheck|benchmark|fmt|nlohmann|tl|date)/.*|"
                       r"(rapidcheck|xxhash)\.h")
# The operating system: Env's real implementation only. Tests need temp folders, processes.
OS_HEADERS = re.compile(
    r"(fcntl|unistd|dirent|sys/(stat|file|mman|types|resource|wait)|ftw|glob)\.h|fstream|"
    r"filesystem")
REAL_ENV = "src/base/real_env.cc"

# rule, pattern over code without comments and strings, what to do, where it holds.
BANNED_CODE = [
    ("using-namespace", r"\busing\s+namespace\b", "name what is used", "all"),
    ("disabled", r"\bDISABLED_\w", "a test that does not run is no test: mend or delete it", "all"),
    ("skip", r"\bGTEST_SKIP\b", "a test runs or does not exist", "all"),
    ("sleep", r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\(",
     "wait for an event, or turn a fake clock", "tests"),
    ("rand", r"\b(std::rand|srand|rand)\s*\(|\brandom_device\b", "use Env, or a printed seed", "all"),
    ("clock", r"\b(system_clock|steady_clock|high_resolution_clock|utc_clock)\b|"
              r"\b(gettimeofday|clock_gettime)\s*\(|\bstd::time\s*\(", "ask Env for the time", "os"),
    ("files", r"\b(fopen|freopen|tmpfile|mkstemp|std::remove|std::rename)\s*\(",
     "Env is the only door to files", "os"),
]
# rule, pattern over whole text of every file, what to do.
BANNED_TEXT = [
    ("machine-path", r"(?<![\w.$}~/-])/(work|home|root|Users)/\w", "no path of one machine"),
    ("registry", r"(?i)\b(registry\.npmjs\.org|(files\.)?pythonhosted\.org|pypi\.org|"
                 r"proxy\.golang\.org|crates\.io|repo1?\.maven\.org|artifactory|"
                 r"deb\.debian\.org)\b|--(extra-)?index-url|--registry[ =]",
     "package clients know their own servers"),
]


class Problem(NamedTuple):
    path: str
    line: int
    rule: str
    text: str

    def __str__(self):
        return f"{self.path}:{self.line}: [{self.rule}] {self.text}"


class SourceFile:
    """One C++ file, with the views of it that rules look at."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.code = blank_comments_and_strings(self.text)
        self.is_header = self.path.endswith(".h")
        self.is_test = self.path.endswith("_test.cc")
        parts = self.path.split("/")
        self.room = parts[1] if parts[0] == "src" and len(parts) > 2 else None
        # Tests of rooms and everything under testing/ and bench/ may do what tests do.
        self.is_for_tests = self.is_test or parts[0] != "src"

    def includes(self):
        """(line, header, is quoted) of each include directive."""
        for number, line in enumerate(self.text.splitlines(), 1):
            found = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', line)
            if found:
                yield number, found[1] or found[2], found[1] is not None


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def read_rooms(root):
    """rooms.txt as {room: [rooms of its arrows]}, and its problems."""
    rooms, problems = {}, []
    for number, line in enumerate((root / MAP).read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        found = re.fullmatch(r"(\w+):((?:\s+\w+)*)", line)
        if not found or found[1] in rooms:
            problems.append(Problem(MAP, number, "map", f"not `room: rooms…`, or twice: {line}"))
            continue
        rooms[found[1]] = found[2].split()
    for room, arrows in rooms.items():
        for arrow in arrows:
            if arrow not in rooms:
                problems.append(Problem(MAP, 1, "map", f"{room} points at unknown room {arrow}"))
    return rooms, problems


def reach_of(rooms):
    """{room: every room its arrows reach, itself included}, and a problem per cycle."""
    reach, problems = {}, []

    def visit(room, path):
        if room in path:
            cycle = " -> ".join(path[path.index(room):] + [room])
            problems.append(Problem(MAP, 1, "cycle", f"rooms form a cycle: {cycle}"))
            return {room}
        if room not in reach:
            found = {room}
            for arrow in rooms.get(room, []):
                found |= visit(arrow, path + [room])
            reach[room] = found
        return reach[room]

    for room in rooms:
        visit(room, [])
    return reach, problems


def check_edges(root, file, reach):
    """Quoted includes: rooms by the map, never testing/ from what ships."""
    for number, header, quoted in file.includes():
        outside = LIBRARIES.fullmatch(header) or any(
            re.fullmatch(pattern, header) for pattern, _ in ADAPTERS)
        if not quoted or outside:
            continue
        top = header.split("/")[0]
        if "/" not in header:
            yield Problem(file.path, number, "include", f'write "room/{header}"')
        elif top in ("testing", "bench"):
            if not file.is_for_tests:
                yield Problem(file.path, number, "edge", f"what ships may not include {header}")
            elif not (root / header).is_file():
                yield Problem(file.path, number, "include", f"no such file: {header}")
        elif top not in reach:
            yield Problem(file.path, number, "edge", f"no room {top} in {MAP}")
        elif not (root / "src" / header).is_file():
            yield Problem(file.path, number, "include", f"no such file: src/{header}")
        elif file.room and top not in reach.get(file.room, set()):
            yield Problem(file.path, number, "edge",
                          f"{file.room} may not include {top}: no arrow of {MAP} leads there")


def check_adapters(file):
    """Headers of outside libraries and of the operating system stay in their room."""
    for number, header, _ in file.includes():
        for pattern, home in ADAPTERS:
            if not re.fullmatch(pattern, header):
                continue
            if not file.path.startswith(home):
                yield Problem(file.path, number, "adapter", f"<{header}> belongs to {home} alone")
            elif file.is_header:
                yield Problem(file.path, number, "adapter",
                              f"<{header}> belongs in a .cc file: others include this header")
        if OS_HEADERS.fullmatch(header) and not file.is_for_tests and file.path != REAL_ENV:
            yield Problem(file.path, number, "os", f"<{header}> belongs to {REAL_ENV}: use Env")


def check_budgets(file):
    lines = file.text.count("\n")
    what, limit = (("header", HEADER_LINES) if file.is_header else
                   ("test", TEST_LINES) if file.is_for_tests else ("source", SOURCE_LINES))
    if lines > limit:
        yield Problem(file.path, limit + 1, "length", f"{lines} lines; a {what} has {limit} at most")
    for name, first, last in functions(file.code):
        if last - first + 1 > FUNCTION_LINES:
            yield Problem(file.path, first, "function",
                          f"{name} has {last - first + 1} lines; {FUNCTION_LINES} at most")


def check_banned_code(file):
    for rule, pattern, advice, where in BANNED_CODE:
        if where == "tests" and not file.is_for_tests:
            continue
        if where == "os" and (file.is_for_tests or file.path == REAL_ENV):
            continue
        for found in re.finditer(pattern, file.code):
            if where == "os" or file.path != REAL_ENV:
                yield Problem(file.path, line_of(file.code, found.start()), rule,
                              f"{found[0]}: {advice}")
    for found in re.finditer(r"(?m)//.*?\b(TEST|TEST_F|TEST_P|TYPED_TEST)\s*\(\s*\w+\s*,",
                             comments_only(file.text)):
        yield Problem(file.path, line_of(file.text, found.start()), "commented-test",
                      "a commented-out test: mend or delete it")
    if file.is_header and not re.search(r"(?m)^#pragma once$", file.text):
        yield Problem(file.path, 1, "pragma-once", "a header starts with #pragma once")


def check_listed(root, file):
    """A .cc that no CMakeLists.txt names is never built, a test never run."""
    if file.is_header:
        return
    path = root / file.path
    for folder in path.parents:
        lists = folder / "CMakeLists.txt"
        if lists.is_file():
            text = re.sub(r"#.*", "", lists.read_text())
            name = re.escape(path.relative_to(folder).as_posix())
            if re.search(rf"(?<![\w/.-]){name}(?![\w.-])", text):
                return
        if folder == root:
            break
    yield Problem(file.path, 1, "unlisted", "no CMakeLists.txt names it, so it is never built")


def check_text(root, path):
    """What holds for every file, whatever its language."""
    name = path.relative_to(root).as_posix()
    if name.startswith("testing/layout/check_layout"):
        return  # they spell the banned words
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for rule, pattern, advice in BANNED_TEXT:
        for found in re.finditer(pattern, text):
            yield Problem(name, line_of(text, found.start()), rule, f"{found[0]}: {advice}")
    for found in re.finditer(r"\b(TODO|FIXME|XXX|HACK)\b[^\n]*", text):
        if not re.search(r"#\d+", found[0]):
            yield Problem(name, line_of(text, found.start()), "todo",
                          f"{found[1]} without the number of its issue, as in {found[1]}(#12)")


def files_below(folder):
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if path.name not in SKIPPED_FOLDERS:
                yield from files_below(path)
        elif path.suffix in TEXT_SUFFIXES:
            yield path


def read_waivers(root):
    """{(rule, path): line} of the exceptions, and problems of lines without a reason."""
    waivers, problems = {}, []
    path = root / WAIVERS
    if not path.is_file():
        return waivers, problems
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) < 3:
            problems.append(Problem(WAIVERS, number, "waiver", "write `rule path reason`"))
        else:
            waivers[words[0], words[1]] = number
    return waivers, problems


def check(root):
    """Every problem of the tree at `root`, by path and line."""
    rooms, problems = read_rooms(root)
    reach, cycles = reach_of(rooms)
    problems += cycles
    for folder in sorted((root / "src").iterdir()):
        if folder.is_dir() and folder.name not in rooms:
            problems.append(Problem(f"src/{folder.name}", 1, "map", f"no such room in {MAP}"))
    for path in files_below(root):
        problems += check_text(root, path)
        name = path.relative_to(root).as_posix()
        if path.suffix in (".cc", ".h") and name.split("/")[0] in CODE_FOLDERS:
            file = SourceFile(root, path)
            problems += check_edges(root, file, reach)
            problems += check_adapters(file)
            problems += check_budgets(file)
            problems += check_banned_code(file)
            problems += check_listed(root, file)
    waivers, bad = read_waivers(root)
    used = {(p.rule, p.path) for p in problems}
    bad += [Problem(WAIVERS, number, "waiver", f"waives nothing: {rule} {path}")
            for (rule, path), number in waivers.items() if (rule, path) not in used]
    return sorted([p for p in problems if (p.rule, p.path) not in waivers] + bad)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    problems = check(root)
    for problem in problems:
        print(problem)
    print(f"layout: {len(problems)} problems" if problems else "layout: the house is in order")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
