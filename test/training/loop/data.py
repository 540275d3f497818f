#===- data.py - data sets of all forms, and hostile ones ------------------===#
"""Which files and types a trainer takes, and how it refuses the others."""

import io
import struct
import zipfile

import numpy as np

from loop import toy

TRAIN = ("train", "--epochs=2", "--lr=0.1", "--seed=3")


def losses(program, folder, data: str) -> tuple[int, str, list]:
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    done = program.run(*TRAIN, f"--data={data}", f"--log={log}", cwd=folder)
    return done.code, done.err, toy.events(log) if done.code == 0 else []


def npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def check(tally, folder, programs) -> None:
    program = programs["toy"]
    x, labels = toy.samples(22)
    np.savez(folder / "plain.npz", x=x, labels=labels)
    _, _, expected = losses(program, folder, "plain.npz")

    def same(name: str, data: str, note: str = "") -> None:
        code, err, got = losses(program, folder, data)
        good = code == 0 and got == expected and len(got) == 10 and note in err
        tally.report(f"data {name}", [] if good else [f"exit {code}: {err or 'other losses'}"])

    forms(folder, x, labels, same)
    for kind in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        np.savez(folder / "t.npz", x=x, labels=labels.astype(kind))
        same(f"labels {kind}", "t.npz")
    np.savez(folder / "t.npz", x=x.astype(np.float64), labels=labels)
    same("x f64", "t.npz", "note: input 'x': rounded from f64 to f32")
    refused(tally, folder, program, x, labels)


def forms(folder, x, labels, same) -> None:
    """The same samples in other files give the same run."""
    np.savez_compressed(folder / "c.npz", x=x, labels=labels)
    same("compressed", "c.npz")
    np.savez(folder / "o.npz", labels=labels, other=np.zeros(3), x=np.asfortranarray(x))
    same("fortran, unused array", "o.npz", "'other' is no input and is not used")
    np.save(folder / "x.npy", x)
    np.save(folder / "l,1.npy", labels)
    same("npy", "labels=@l,1.npy,x=@x.npy")
    same("mixed", "labels=@plain.npz,x=@x.npy")
    same("at", "@plain.npz")
    header = (b'{"x":{"dtype":"F32","shape":[22,3],"data_offsets":[0,264]},'
              b'"labels":{"dtype":"I32","shape":[22],"data_offsets":[264,352]}}')
    (folder / "s.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + x.tobytes() + labels.tobytes())
    same("safetensors", "s.safetensors")


def refused(tally, folder, program, x, labels) -> None:
    def case(name: str, code: int, text: str, data="t.npz", **arrays) -> None:
        if arrays:
            np.savez(folder / "t.npz", **arrays)
        got, err, _ = losses(program, folder, data)
        good = got == code and text in err
        tally.report(f"data {name}", [] if good else [f"exit {got}: {err}"])

    case("no file", 5, "cannot open", data="none.npz")
    case("no array", 3, "expected an array 'labels', got 'x'", x=x)
    case("rows", 3, "disagree: 22 and 21 samples", x=x, labels=labels[1:])
    case("shape", 3, "expected data like f32 [4, 3] with any first dimension, got f32 [22, 2]", x=x[:, :2], labels=labels)
    case("rank", 3, "got i32 [22, 1]", x=x, labels=labels[:, None])
    case("pixels", 3, "scale images as the model expects them", x=(x * 10).astype(np.uint8), labels=labels)
    case("integers", 3, "store it as floats", x=(x * 10).astype(np.int32), labels=labels)
    case("float labels", 3, "expected i64, got f32", x=x, labels=labels.astype(np.float32))
    case("empty", 3, "the data set is empty", x=x[:0], labels=labels[:0])
    case("few", 3, "3 samples, fewer than a batch of 4", x=x[:3], labels=labels[:3])
    case("objects", 4, "t.npz", x=x, labels=np.array([None] * 22))
    for name, value in (("high", 3), ("low", -2), ("huge", 2**62)):
        wild = labels.astype(np.int64)
        wild[13] = value
        case(f"label {name}", 3, f"sample 13: expected a label from 0 to 2, got {value}", x=x, labels=wild)
    wild = labels.astype(np.uint64)
    wild[5] = 2**64 - 1
    case("label u64", 3, "expected numbers of type i64, got 18446744073709551615", x=x, labels=wild)
    case("name", 2, "expected NAME=@FILE of an input", data="y=@x.npy")
    case("twice", 2, "expected each input once", data="x=@x.npy,x=@x.npy")
    case("missing", 3, "missing input 'labels' (i64 [4])", data="x=@x.npy")
    case("extension", 2, "expected a file named", data="data.csv")
    damaged(folder, x, labels, case)


def damaged(folder, x, labels, case) -> None:
    good = (folder / "plain.npz").read_bytes()
    for cut in (0, 1, 21, 100, len(good) // 2, len(good) - 1):
        (folder / "t.npz").write_bytes(good[:cut])
        case(f"cut at {cut}", 3, "t.npz")
    flipped = bytearray(good)
    flipped[200] ^= 1
    (folder / "t.npz").write_bytes(flipped)
    case("flipped bit", 3, "checksum")
    # More rows in the header than bytes in the file.
    bomb = npy(x).replace(b"(22, 3)", b"(2200000000000, 3)"[:18]).replace(b"}", b"}", 1)
    with zipfile.ZipFile(folder / "t.npz", "w") as archive:
        archive.writestr("x.npy", bomb)
        archive.writestr("labels.npy", npy(labels))
    case("false shape", 3, "t.npz")
    with zipfile.ZipFile(folder / "t.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", npy(np.zeros((40_000_000, 3), np.float32)))
        archive.writestr("labels.npy", npy(labels))
    case("bomb", 6, "unpacks to more than")
    (folder / "link.npy").symlink_to("/dev/zero")
    case("device", 5, "expected a regular file", data="x=@link.npy,labels=@plain.npz")
