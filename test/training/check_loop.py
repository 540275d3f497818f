#!/usr/bin/env python3
#===- check_loop.py - the training loop of produced programs --------------===#
"""Train a small program, written by hand, and compiled ones by their command lines.

  test/training/check_loop.py [PART ...]

Parts: numbers (against NumPy), usage, data, resume (also after kills), faults (of
disks and of files), logs, health (values that are not finite), export, compiled (on
trainers from the compiler). The last line is `N passed, N failed`.
"""

import pathlib
import signal
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "training")]
from ampctest import env

env.enter()

from ampctest.report import Tally
from loop import compiled, data, export, faults, health, logs, numbers, resume, toy, usage

PARTS = {"numbers": numbers, "usage": usage, "data": data, "resume": resume, "faults": faults, "logs": logs,
         "health": health, "export": export, "compiled": compiled}
VARIANTS = {"toy": (), "toy16": ("-DTOY_F16",), "statistic": ("-DTOY_STATISTIC",), "other": ('-DTOY_NAME="v"',),
            "bare": ("-DTOY_NO_STATS",), "weighted": ("-DTOY_CLASS_WEIGHTS",)}


def main() -> int:
    chosen = sys.argv[1:] or list(PARTS)
    if set(chosen) - set(PARTS):
        print(__doc__, file=sys.stderr)
        return 2
    # A shell's background job ignores SIGINT, and so would the programs it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tally = Tally()
    with tempfile.TemporaryDirectory() as made:
        folder = pathlib.Path(made)
        programs = {name: toy.Toy(folder, name, *flags) for name, flags in VARIANTS.items()}
        for name in chosen:
            (folder / f"in-{name}").mkdir()
            PARTS[name].check(tally, folder / f"in-{name}", programs)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
