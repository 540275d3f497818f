"""Usage: use_kernels.py FOLDER [LIBRARY...]

Compiles the header of each kernel in a folder of --emit=kernels as C, as C++
and, where there is one, with CUDA's own header; all files of the index must
exist, and no others. With libraries, the only kernel is launched, by
launch_kernel.c."""

import json
import pathlib
import subprocess
import sys
import tempfile

folder = pathlib.Path(sys.argv[1])
index = json.loads((folder / "index.json").read_text())
cuda = pathlib.Path("/usr/local/cuda/include")


def run(*words) -> None:
    done = subprocess.run([str(word) for word in words])
    if done.returncode != 0:
        sys.exit(f"failed: {words}")


known = {"index.json", "ampc_kernels.h"}
with tempfile.TemporaryDirectory() as made:
    source = pathlib.Path(made) / "use.c"
    for kernel in index["kernels"]:
        files = kernel["files"]
        for entry in files.values():
            known |= set(entry.values()) if isinstance(entry, dict) else {entry}
        name = kernel["name"]
        text = f'#include "{files["header"]}"\n' * 2
        text += f"int main(void) {{ return {name}.num_params != {len(kernel['params'])} || "
        text += f"{name}.num_codes != {len(kernel['codes'])}; }}\n"
        source.write_text(text)
        program = pathlib.Path(made) / "use"
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", folder, source,
            "-o", program)
        run(program)
        run("c++", "-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", folder,
            "-fsyntax-only", source)
        if (cuda / "cuda.h").exists():
            run("cc", "-Wall", "-Werror", "-I", folder, "-isystem", cuda, "-include", "cuda.h",
                "-fsyntax-only", source)
    assert known == {path.name for path in folder.iterdir()}, known
    if len(sys.argv) > 2:
        (kernel,) = index["kernels"]
        name = kernel["name"]
        program = pathlib.Path(made) / "launch"
        here = pathlib.Path(__file__).parent
        run("cc", "-Wall", "-Werror", f'-DKERNEL_HEADER="{name}.h"', f"-DKERNEL={name}",
            f"-DKERNEL_MODULE={name}_sim_module", "-I", folder, here / "launch_kernel.c",
            folder / kernel["files"]["simulator"], *sys.argv[2:], "-lm", "-pthread", "-ldl", "-o",
            program)
        run(program)
