#===- expectations.py - the strict lists of tests that do not pass --------===#
"""test/backend/MODE.txt: one line `NAME<TAB>STATUS<TAB>REASON` for each test that
is not expected to pass, sorted by name.

The lists are strict both ways: an unlisted test that does not pass is a
failure, and so is a listed test that passes or fails in another way.
"""

import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent


def path_of(mode: str) -> pathlib.Path:
    return FOLDER / f"{mode}.txt"


def load(mode: str) -> dict[str, tuple[str, str]]:
    """Name -> (status, reason)."""
    path = path_of(mode)
    listed = {}
    if path.exists():
        for number, text in enumerate(path.read_text().splitlines(), 1):
            if not text or text.startswith("#"):
                continue
            fields = text.split("\t")
            if len(fields) != 3 or not fields[2]:
                raise ValueError(f"{path}:{number}: expected NAME<TAB>STATUS<TAB>REASON")
            listed[fields[0]] = (fields[1], fields[2])
    return listed


def reason_of(message: str) -> str:
    """A diagnostic as a reason: one line without paths and locations."""
    text = re.sub(r"^\S*\.onnx:(\S*:)? *", "", message.strip())
    text = re.sub(r"^error: *", "", text)
    text = re.sub(r"/[\w./-]*/", "", text)
    text = re.sub(r"0x[0-9a-f]+", "0x...", text)
    return text[:160].rstrip() or "no message"


def update(mode: str, results: dict, known: set[str]) -> None:
    """Rewrite the list from `results`; tests not run keep their line.

    A reason written by hand stays while the status does not change.
    """
    listed = {name: entry for name, entry in load(mode).items() if name in known}
    for name, result in results.items():
        if result.status == "pass":
            listed.pop(name, None)
        elif name not in listed or listed[name][0] != result.status:
            listed[name] = (result.status, reason_of(result.message))
    lines = [f"{name}\t{status}\t{reason}\n" for name, (status, reason) in sorted(listed.items())]
    path_of(mode).write_text("".join(lines))
