#===- export.py - trained parameters in the original model ----------------===#
"""Exactly the bytes of the initializers change, and to the values of the states."""

import hashlib
import json
import shutil

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from loop import toy
from loop.reference import crc32c

TRAIN = ("train", "--data=d.npz", "--epochs=2", "--lr=0.1", "--checkpoint-dir=c", "--export-onnx=out/e.onnx")
W = np.array([0.1, -0.2, 0.3, 0.05, 0.25, -0.15, -0.3, 0.2, 0.1], np.float32).reshape(3, 3)


def make_model(folder, w_type: int, external: bool) -> None:
    w = helper.make_tensor("w", w_type, W.shape, W.ravel()) if w_type == TensorProto.BFLOAT16 else \
        numpy_helper.from_array(W.astype(helper.tensor_dtype_to_np_dtype(w_type)), "w")
    if w_type == TensorProto.BFLOAT16:
        bits = (W.ravel().view(np.uint32) >> 16).astype(np.uint16)
        w = TensorProto(name="w", data_type=w_type, dims=W.shape, raw_data=bits.tobytes())
    graph = helper.make_graph(
        [helper.make_node("Cast", ["w"], ["wide"], to=TensorProto.FLOAT),
         helper.make_node("Gemm", ["x", "wide", "b"], ["logits"])], "toy",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 3])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [4, 3])],
        [w, numpy_helper.from_array(np.zeros(3, np.float32), "b"),
         numpy_helper.from_array(np.arange(5.0), "unused")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save_model(model, str(folder / "m.onnx"), save_as_external_data=external, location="m.data", size_threshold=0)


def places(folder, w_type: int, external: bool) -> list[dict]:
    """Where the bytes lie, found by looking for them."""
    kind = {TensorProto.FLOAT: "f32", TensorProto.FLOAT16: "f16", TensorProto.BFLOAT16: "bf16", TensorProto.DOUBLE: "f64"}
    model = onnx.load(str(folder / "m.onnx"), load_external_data=False)
    data = (folder / "m.onnx").read_bytes()
    found = []
    for tensor in model.graph.initializer[:2]:
        place = {"name": tensor.name, "file": "", "dtype": kind[tensor.data_type]}
        if external:
            where = {entry.key: entry.value for entry in tensor.external_data}
            place |= {"file": where["location"], "offset": int(where.get("offset", 0)), "bytes": int(where["length"])}
        else:
            message = tensor.SerializeToString()
            at = data.index(message) + message.index(tensor.raw_data)
            place |= {"offset": at, "bytes": len(tensor.raw_data)}
        found.append(place)
    return found


def build(folder, initializers, **changes) -> toy.Toy:
    data = (folder / "m.onnx").read_bytes()
    facts = {"amp": "off", "training": {"label": "labels", "classes": 3}, "model_file": str(folder / "m.onnx"),
             "model_bytes": len(data), "model_sha256": hashlib.sha256(data).hexdigest(), "initializers": initializers}
    text = json.dumps({key: value for key, value in (facts | changes).items() if value is not None})
    return toy.Toy(folder, "exporter", f"-DTOY_METADATA={json.dumps(text)}")


def check(tally, folder, programs) -> None:
    np.savez(folder / "d.npz", **dict(zip(("x", "labels"), toy.samples(40))))
    for name, w_type in (("f32", TensorProto.FLOAT), ("f16", TensorProto.FLOAT16), ("bf16", TensorProto.BFLOAT16),
                         ("f64", TensorProto.DOUBLE)):
        for external in (False, True):
            tally.report(f"export {name}{' external' if external else ''}", exported(folder, w_type, external))
    make_model(folder, TensorProto.FLOAT, False)
    refused(tally, folder)


def exported(folder, w_type: int, external: bool) -> list[str]:
    for stale in ("out", "c"):
        shutil.rmtree(folder / stale, ignore_errors=True)
    for stale in ("m.onnx", "m.data"):
        (folder / stale).unlink(missing_ok=True)
    (folder / "out").mkdir()
    make_model(folder, w_type, external)
    found = places(folder, w_type, external)
    done = build(folder, found).run(*TRAIN, cwd=folder)
    if done.code:
        return [f"exit {done.code}: {done.err}"]
    _, states = toy.read_checkpoint(folder / "c" / toy.checkpoints(folder / "c")[-1])
    onnx.checker.check_model(str(folder / "out" / "e.onnx"))
    problems = []
    for tensor in onnx.load(str(folder / "out" / "e.onnx")).graph.initializer[:2]:
        state = states[tensor.name]
        if tensor.data_type == TensorProto.BFLOAT16:
            got = (np.frombuffer(tensor.raw_data, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(3, 3)
            bits = state.view(np.uint32)  # to nearest, ties to even
            wanted = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
        else:
            got = numpy_helper.to_array(tensor)
            wanted = state.astype(got.dtype)
        if not np.array_equal(got, wanted) or np.array_equal(state, W):
            problems.append(f"{tensor.name}: {got}, expected {wanted}")
    for name, copy in (("m.onnx", "e.onnx"), *([("m.data", "m.data")] if external else [])):
        before, after = bytearray((folder / name).read_bytes()), bytearray((folder / "out" / copy).read_bytes())
        for place in found:
            if (place["file"] or "m.onnx") == name:
                span = slice(place["offset"], place["offset"] + place["bytes"])
                before[span] = after[span] = bytes(place["bytes"])
        if before != after:
            problems.append(f"{name} differs elsewhere")
    return problems


def refused(tally, folder) -> None:
    good = places(folder, TensorProto.FLOAT, False)

    def case(name: str, code: int, text: str, *words, initializers=good, **changes) -> None:
        shutil.rmtree(folder / "c", ignore_errors=True)
        done = build(folder, initializers, **changes).run(*TRAIN, *words, cwd=folder)
        # Before any training.
        fine = done.code == code and text in done.err and "step" not in done.out
        tally.report(f"export {name}", [] if fine else [f"exit {done.code}: {done.err}"])

    shutil.copy(folder / "m.onnx", folder / "moved.onnx")
    case("moved", 5, "cannot open", model_file="gone.onnx")
    other = bytearray((folder / "m.onnx").read_bytes())
    other[5] ^= 1
    (folder / "other.onnx").write_bytes(other)
    case("other model", 3, "is not the model that the program was compiled from", "--model=other.onnx")
    (folder / "other.onnx").write_bytes(other + b"\0")
    case("longer model", 3, "is not the model", "--model=other.onnx", model_sha256=None)
    case("wrong crc", 3, "is not the model", model_sha256=None, model_crc32c=1)
    case("onto itself", 2, "would overwrite the original", "--export-onnx=m.onnx")
    case("external onto itself", 2, "would overwrite the original; choose another folder", "--export-onnx=e.onnx",
         initializers=[good[0] | {"file": "d.npz", "offset": 0}])
    case("in pieces", 4, "'w' does not lie in one piece",
         initializers=[{key: value for key, value in good[0].items() if key != "offset"}])
    case("outside", 3, "does not lie where", initializers=[good[0] | {"offset": 2**62}])
    case("size", 3, "does not lie where", initializers=[good[0] | {"bytes": 8}])
    case("overlap", 3, "overlap", initializers=[good[0], good[1] | {"offset": good[0]["offset"] + 4}])
    case("no state", 3, "no state 'v'", initializers=[good[0] | {"name": "v"}])
    case("leaves the folder", 4, "only files beside the model", initializers=[good[0] | {"file": "../m.data"}])
    case("integers", 3, "expected i64, got f32", initializers=[good[0] | {"dtype": "i64"}])
    case("no folder", 5, "", "--export-onnx=nowhere/e.onnx")
    shutil.rmtree(folder / "c", ignore_errors=True)
    crc = crc32c((folder / "m.onnx").read_bytes())
    done = build(folder, good, model_file="gone.onnx", model_sha256=None, model_crc32c=crc).run(
        *TRAIN, "--model=moved.onnx", cwd=folder)
    tally.report("export of a moved model", [] if done.code == 0 else [done.err])
