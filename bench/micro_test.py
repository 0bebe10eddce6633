#!/usr/bin/env python3
"""The *_bench programs at tiny sizes: that they run, and print what bench/run reads.

    micro_test.py PROGRAM FIGURE[,FIGURE…] SIZE…

No figure is judged: speed is measured by `make bench`, never asserted here.
"""

import json
import subprocess
import sys


def main():
    program, names, *sizes = sys.argv[1:]
    done = subprocess.run([program, *sizes], check=True, stdout=subprocess.PIPE)
    results = json.loads(done.stdout)
    for result in results:
        assert list(result) == ["name", "value", "unit", "limit", "holds"], result
        assert isinstance(result["value"], (int, float)) and result["value"] >= 0, result
        assert isinstance(result["unit"], str) and result["unit"], result
        assert (result["holds"] is None) == (result["limit"] is None), result
    missing = set(names.split(",")) - {result["name"] for result in results}
    assert not missing, f"{program} says nothing of {missing}"

    wrong = subprocess.run([program, "--no-such-size", "1"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    assert wrong.returncode == 1 and "usage:" in wrong.stderr, wrong


if __name__ == "__main__":
    main()
