#===- external_cases.py - weights that reach outside the model's folder ---===#
"""External data: paths that escape, links, and offsets beyond the file."""

import os
import pathlib

from onnx import TensorProto, helper

from case import CASES, FLOAT, Case, model, node, save, weight

_BYTES = 8 * 4 * 4


def external(name: str, dims=(8, 4), **entries) -> TensorProto:
    """An initializer stored outside; `entries` are its key-value pairs."""
    tensor = TensorProto(name=name, data_type=FLOAT, dims=dims)
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def with_weight(tensor: TensorProto):
    nodes = [node("MatMul", ["x", tensor.name], ["y"], "matmul_0")]
    return model(nodes, [("x", [2, 8])], [("y", [2, 4])], [tensor])


def _case(name: str, prepare=None, tensor=None, **entries) -> None:
    """`prepare(folder)` lays the files around the model; the model stands in a
    sub-folder, a readable file `secret.bin` beside that."""
    def make(folder: pathlib.Path) -> list[str]:
        inner = folder / "model"
        inner.mkdir()
        (folder / "secret.bin").write_bytes(bytes(_BYTES))
        (inner / "w.bin").write_bytes(bytes(_BYTES))
        if prepare is not None:
            prepare(inner)
        values = {key: value(inner) if callable(value) else value
                  for key, value in entries.items()}
        return save(inner, with_weight(tensor(values) if tensor else external("w", **values)))

    CASES.append(Case(f"external-{name}", make, ("w",)))


_case("parent", location="../secret.bin")
_case("parent-inside", location="sub/../../secret.bin", prepare=lambda d: (d / "sub").mkdir())
_case("parent-backslash", location="..\\secret.bin")
_case("absolute", location=lambda d: d.parent / "secret.bin")
_case("absolute-system", location="/etc/passwd")
_case("proc", location="/proc/self/mem")
_case("symlink", location="link.bin",
      prepare=lambda d: os.symlink(d.parent / "secret.bin", d / "link.bin"))
_case("symlink-inside", location="link.bin", prepare=lambda d: os.symlink("w.bin", d / "link.bin"))
_case("symlink-folder", location="up/secret.bin",
      prepare=lambda d: os.symlink(d.parent, d / "up"))
_case("hardlink", location="hard.bin",
      prepare=lambda d: os.link(d.parent / "secret.bin", d / "hard.bin"))
_case("fifo", location="pipe.bin", prepare=lambda d: os.mkfifo(d / "pipe.bin"))
_case("directory", location=".")
_case("missing-file", location="absent.bin")
_case("empty-location", location="")
_case("no-location", offset=0)
_case("long-location", location="a" * 5000)
_case("nul-in-location", location="w.bin\0/../../secret.bin")
_case("offset-beyond", location="w.bin", offset=_BYTES * 100)
_case("offset-negative", location="w.bin", offset=-4)
_case("offset-no-number", location="w.bin", offset="12abc")
_case("offset-overflow", location="w.bin", offset=2**63 - 2, length=_BYTES)
_case("offset-wraps", location="w.bin", offset=2**64 - 4, length=_BYTES)
_case("length-beyond", location="w.bin", offset=64, length=_BYTES)
_case("length-negative", location="w.bin", length=-1)
_case("length-petabyte", location="w.bin", length=2**50)
_case("length-wrong", location="w.bin", length=_BYTES // 2)
_case("dims-beyond-file", location="w.bin", tensor=lambda e: external("w", (2**20, 2**20), **e))


def _twice(entries: dict) -> TensorProto:
    tensor = external("w", location="w.bin")
    tensor.external_data.add(key="location", value="../secret.bin")
    return tensor


_case("location-twice", tensor=_twice)


def _raw_too(entries: dict) -> TensorProto:
    tensor = external("w", location="w.bin")
    tensor.raw_data = bytes(_BYTES)
    return tensor


_case("raw-data-too", tensor=_raw_too)


def _elsewhere(name: str, build) -> None:
    """The escape in a tensor that is no initializer of the main graph."""
    def make(folder: pathlib.Path) -> list[str]:
        inner = folder / "model"
        inner.mkdir()
        (folder / "secret.bin").write_bytes(bytes(_BYTES))
        return save(inner, build(external("w", location="../secret.bin")))

    CASES.append(Case(f"external-{name}", make, ("w", "constant_0")))


def _in_constant(tensor):
    nodes = [node("Constant", [], ["w"], "constant_0", value=tensor),
             node("MatMul", ["x", "w"], ["y"])]
    return model(nodes, [("x", [2, 8])], [("y", [2, 4])])


def _in_branch(tensor):
    branch = helper.make_graph(
        [node("MatMul", ["x", "w"], ["r"])], "branch", [],
        [helper.make_tensor_value_info("r", FLOAT, [2, 4])], [tensor])
    nodes = [node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
    return model(nodes, [("x", [2, 8]), ("c", [], TensorProto.BOOL)], [("y", [2, 4])])


def _in_function(tensor):
    body = [node("Constant", [], ["w"], "constant_0", value=tensor),
            node("MatMul", ["a", "w"], ["r"])]
    function = helper.make_function("local", "F", ["a"], ["r"], body,
                                    [helper.make_opsetid("", 17)])
    call = node("F", ["x"], ["y"], domain="local")
    return model([call], [("x", [2, 8])], [("y", [2, 4])], functions=[function],
                 imports=[helper.make_opsetid("local", 1)])


def _in_sparse(tensor):
    del tensor.dims[:]
    tensor.dims.append(32)
    sparse = helper.make_sparse_tensor(
        tensor, weight("i", [32], list(range(32)), TensorProto.INT64), [8, 4])
    return model([node("MatMul", ["x", "w"], ["y"])], [("x", [2, 8])], [("y", [2, 4])],
                 sparse=[sparse])


_elsewhere("in-constant", _in_constant)
_elsewhere("in-branch", _in_branch)
_elsewhere("in-function", _in_function)
_elsewhere("in-sparse", _in_sparse)
