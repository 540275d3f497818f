"""Usage: check_device_memory.py REPORT PROGRAM DRIVER_FOLDER

A program runs on a GPU that has exactly the bytes that the report of its kernels
names, and with one less says that it needs these."""

import json
import os
import subprocess
import sys

report, program, driver = sys.argv[1:]
found = json.load(open(report))
memory = found["memory"]
(totals,) = [row for row in found["totals"] if row["architecture"] == "sm_80"]
needed = totals["device_bytes"]
parts = [memory["weights"], memory["activations"], totals["workspace_bytes"],
         memory["inputs"], memory["outputs"]]
assert needed == sum(parts) and all(parts), (found["totals"], memory)


def run(room: int) -> subprocess.CompletedProcess:
    env = dict(os.environ, LD_LIBRARY_PATH=driver, FAKE_CUDA_MEMORY=str(room))
    return subprocess.run([program, "bench", "--iterations=1", "--warm-up=0", "--duration=0"],
                          env=env, capture_output=True, text=True)


enough = run(needed)
assert enough.returncode == 0, enough.stderr
less = run(needed - 1)
wanted = (f"needs {needed} bytes of GPU memory (weights {parts[0]}, activations {parts[1]}, "
          f"workspace {parts[2]}, inputs and outputs {parts[3] + parts[4]}); GPU 0 has {needed - 1} free of {needed - 1}")
assert less.returncode == 8 and wanted in less.stderr, less.stderr
print("device bytes are as reported")
