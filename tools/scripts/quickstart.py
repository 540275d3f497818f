#===- quickstart.py - run trained models and show the results -------------===#
"""The second half of tools/quickstart: inside build/venv, with ampc built."""

import argparse
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models")]

import numpy as np

import trained
from ampctest import env

FOLDER = env.BUILD / "quickstart"


def shown(path) -> str:
    """A path as a person would type it here."""
    path = pathlib.Path(path)
    return str(path.relative_to(ROOT)) if ROOT in path.parents else str(path)


def execute(*command: str, show: bool = True) -> float:
    """Run a command, printed if `show`; its seconds. Ends the process when it fails."""
    words = [shown(word) if word.startswith(str(ROOT)) else word.replace(f"{ROOT}/", "")
             for word in command]
    if show:
        print(f"\n  $ {' '.join(words)}", flush=True)
    start = time.monotonic()
    code = subprocess.run(command, cwd=ROOT).returncode
    if code != 0:
        print(f"error: that ended with exit code {code}", file=sys.stderr)
        sys.exit(code)
    return time.monotonic() - start


def compile_model(model: pathlib.Path, name: str, shapes: str) -> pathlib.Path:
    """The program that ampc makes of a model with its free dimensions bound."""
    program = FOLDER / name
    seconds = execute(str(env.ampc_path()), str(model), "-o", str(program), f"--shapes={shapes}")
    size = program.stat().st_size / 1e6
    print(f"  compiled {model.name} in {seconds:.1f} s to a program of {size:.1f} MB")
    return program


def run_program(program: pathlib.Path, name: str, value: np.ndarray, output: str,
                show: bool = True) -> np.ndarray:
    """The result `output` of a program on one input."""
    file = FOLDER / f"{program.name}-{name}.npy"
    result = FOLDER / f"{program.name}-result.npy"
    np.save(file, value)
    execute(str(program), "run", f"--input={name}=@{file}", f"--output={output}=@{result}",
            show=show)
    return np.load(result, allow_pickle=False)


def art(image, columns: int = 110) -> str:
    """A picture in Braille characters, each two dots wide and four high."""
    rows = max(4, round(2 * image.height * columns / image.width / 4) * 4)
    dark = np.asarray(image.convert("L").resize((2 * columns, rows), 1)) < 170
    # Unicode numbers a cell's dots 1-8 in this order of (row, column).
    order = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (3, 0), (3, 1)]
    lines = []
    for y in range(0, rows, 4):
        cells = (sum(int(dark[y + dy, x + dx]) << bit for bit, (dy, dx) in enumerate(order))
                 for x in range(0, 2 * columns, 2))
        lines.append("    " + "".join(chr(0x2800 + cell) for cell in cells).rstrip("\u2800"))
    return "\n".join(line for line in lines if line.strip())


def read_text(text: str) -> bool:
    print("1. A network that reads text (PP-OCRv4, trained, from the package rapidocr)")
    image = trained.render_line(text, width=max(160, 16 * len(text) // 8 * 8))
    image.save(FOLDER / "line.png")
    model = trained.ocr_path("rec")
    pixels = trained.image_tensor(image)
    program = compile_model(model, "ocr", f"x:{'x'.join(map(str, pixels.shape))}")
    scores = run_program(program, "x", pixels, "softmax_11.tmp_0")
    seen, confidence = trained.decode_text(scores, trained.characters(model))
    print(f"\n  The picture, {shown(FOLDER / 'line.png')}:\n\n{art(image)}\n")
    print(f"  What the program read:  {seen.strip()!r}  ({confidence:.0%} sure)\n")
    return bool(seen.strip())


def tell_kinds(files: list[pathlib.Path]) -> bool:
    print("2. A network that tells what a file holds (magika, trained)")
    kinds = trained.magika_labels()
    program = compile_model(trained.magika_path(), "magika", "bytes:1x2048")
    lines = []
    for file in files:
        features = trained.magika_features(file.read_bytes())
        scores = run_program(program, "bytes", features, "target_label", show=not lines)[0]
        lines.append(f"  {shown(file):42} {kinds[scores.argmax()]:10} {scores.max():7.2%}")
    print("\n" + "\n".join(lines) + "\n")
    return bool(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools/quickstart")
    parser.add_argument("--text", default=trained.TEXT)
    parser.add_argument("--file", action="append", type=pathlib.Path, default=[])
    args = parser.parse_args()
    files = args.file or [ROOT / "CMakeLists.txt", ROOT / "tools" / "check",
                          ROOT / "runtime" / "include" / "ampc" / "abi.h", env.ampc_path()]
    for file in files:
        if not file.is_file():
            parser.error(f"{file}: no such file")
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not (read_text(args.text) and tell_kinds([file.resolve() for file in files])):
        print("error: the programs ran, but gave nothing", file=sys.stderr)
        return 1
    print("Both programs stand on their own in build/quickstart. Next:")
    print("  build/bin/ampc --help                     what else there is")
    print("  build/bin/ampc explain MODEL --amp=fp16   why each node has its precision")
    return 0


if __name__ == "__main__":
    sys.exit(main())
