#!/usr/bin/env python3
"""Runs the commands that a page shows and compares what they print with what the page says.

    tour_test.py PROGRAM PAGE [--write]

Blocks fenced as ```console belong to one session in one empty folder: a line that starts
with `$ ` is run by bash, the lines after it are its output. What differs from run to run
(ids, times, snapshot numbers, durations) is masked on both sides before comparing; --write
puts the real output into the page instead.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MASKS = [
    (re.compile(r"\bp[0-9a-f]{12}\b"), "PLAN"),
    (re.compile(r"\br[0-9a-f]{12}\b"), "RUN"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\b\d{15,19}\b"), "SNAPSHOT"),
    (re.compile(r"definition [0-9a-f]{12}"), "definition ID"),
    (re.compile(r"\d+\.\d s, \d+\.\d CPU s"), "SECONDS"),
    (re.compile(r"\b(\d+(\.\d+)?) (B|kB|MB)\b"), "BYTES"),
    (re.compile(r" by \S+$", re.M), " by SOMEBODY"),
    (re.compile(r"(?<=Made a project in )\S+"), "FOLDER"),
    (re.compile(r" +"), " "),
]


def mask(text):
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text.strip()


def steps_of(block):
    """[(command, output)] of one block's lines."""
    steps = []
    for line in block:
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps:
            steps[-1][1].append(line)
    return [(command, "\n".join(output)) for command, output in steps]


def blocks_of(lines):
    """(first line, end line) of the console blocks, fences left out."""
    start = None
    for number, line in enumerate(lines):
        if line == "```console":
            start = number + 1
        elif line == "```" and start is not None:
            yield start, number
            start = None


def run(command, folder, program):
    environment = dict(os.environ, AMEND_USER="ada",
                       PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=120)
    return done.stdout.rstrip("\n")


def main():
    program, page = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    write = "--write" in sys.argv
    lines = page.read_text().splitlines()
    wrong, count, written = [], 0, list(lines)
    with tempfile.TemporaryDirectory() as above:
        # What a page shows should not name a folder of the machine that wrote it.
        folder = pathlib.Path(above, "shop")
        folder.mkdir()
        shift = 0
        for start, end in list(blocks_of(lines)):
            block = []
            for command, expected in steps_of(lines[start:end]):
                count += 1
                found = run(command, folder, program).replace(str(folder), "~/shop")
                block += ["$ " + command] + found.splitlines()
                if mask(found) != mask(expected):
                    wrong.append(f"$ {command}\n--- the page says\n{expected}\n"
                                 f"--- the program prints\n{found}")
            written[start + shift:end + shift] = block
            shift += len(block) - (end - start)
    if write:
        page.write_text("\n".join(written) + "\n")
        return 0
    if count == 0:
        wrong.append(f"{page} shows no command")
    print("\n\n".join(wrong) or f"{page.name}: {count} commands print what the page says")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
