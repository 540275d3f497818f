#===- data_cases.py - hostile tensor files for a program ------------------===#
"""`.npy`, `.npz`, `.pb` and `.safetensors` files fed to a compiled program.

The program is that of protobuf_cases.good(): input x, float32 [2, 8].
"""

import io
import json
import pathlib
import struct
import zipfile

import numpy as np
from onnx import TensorProto, numpy_helper

from case import CASES, Case

_X = np.ones((2, 8), np.float32)


def _npy(header: str, data: bytes = bytes(64), version=(1, 0), length=None) -> bytes:
    text = header.encode("latin1") + b"\n"
    size = len(text) if length is None else length
    form = "<H" if version[0] == 1 else "<I"
    return b"\x93NUMPY" + bytes(version) + struct.pack(form, size) + text + data


def _good_npy(array=_X) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _header(descr="'<f4'", order="False", shape="(2, 8)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def _data(name: str, suffix: str, content) -> None:
    """Register a tensor file; `content` is bytes or a function of none."""
    def make(folder: pathlib.Path) -> list[str]:
        path = folder / f"x{suffix}"
        path.write_bytes(content() if callable(content) else content)
        return ["run", f"--input=x=@{path}", f"--output-dir={folder}"]

    CASES.append(Case(f"data-{name}", make, (f"x{suffix}", "x"), on_program=True))


_data("npy-empty", ".npy", b"")
_data("npy-magic", ".npy", b"NUMPYxxxxxxxxxxxxxx" * 10)
_data("npy-header-cut", ".npy", _good_npy()[:40])
_data("npy-data-cut", ".npy", _good_npy()[:-5])
_data("npy-data-extra", ".npy", _good_npy() + bytes(100))
_data("npy-version", ".npy", _npy(_header(), version=(9, 0)))
_data("npy-header-4gb", ".npy", _npy(_header(), version=(2, 0), length=2**32 - 1))
_data("npy-header-code", ".npy", _npy("__import__('os').system('id')"))
_data("npy-header-nested", ".npy", _npy("{'shape': " + "(" * 5000))
_data("npy-shape-huge", ".npy", _npy(_header(shape="(1099511627776, 1099511627776)")))
_data("npy-shape-digits", ".npy", _npy(_header(shape="(" + "9" * 300 + ",)")))
_data("npy-shape-negative", ".npy", _npy(_header(shape="(-2, -8)")))
_data("npy-shape-other", ".npy", _good_npy(np.ones((8, 2), np.float32)))
_data("npy-type-other", ".npy", _good_npy(np.ones((2, 8), np.int32)))
_data("npy-type-object", ".npy", _npy(_header(descr="'|O'")))
_data("npy-type-record", ".npy", _npy(_header(descr="[('a', '<f4')]")))
_data("npy-type-unknown", ".npy", _npy(_header(descr="'<f3'")))


def _npz(entries, method=zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return out.getvalue()


def _npz_bomb() -> bytes:
    """A third of a megabyte that unpacks to 320 MB."""
    shape = "(80, 1000000)"
    return _npz([("x.npy", _npy(_header(shape=shape), bytes(320 * 10**6)))])


def _npz_lies() -> bytes:
    """Sizes in the central directory that are not those of the data."""
    data = bytearray(_npz([("x.npy", _good_npy())]))
    entry = data.rindex(b"PK\x01\x02")
    struct.pack_into("<II", data, entry + 20, 2**31 - 1, 2**31 - 1)
    return bytes(data)


def _npz_offset() -> bytes:
    """A central directory that points behind the end of the file."""
    data = bytearray(_npz([("x.npy", _good_npy())]))
    struct.pack_into("<I", data, data.rindex(b"PK\x01\x02") + 42, 2**31 - 1)
    return bytes(data)


def _npz_checksum() -> bytes:
    data = bytearray(_npz([("x.npy", _good_npy())]))
    data[data.rindex(b"PK\x01\x02") + 16] ^= 0x55
    data[14] ^= 0x55
    return bytes(data)


_data("npz-bomb", ".npz", _npz_bomb)
_data("npz-sizes-lie", ".npz", _npz_lies)
_data("npz-offset-beyond", ".npz", _npz_offset)
_data("npz-checksum", ".npz", _npz_checksum)
_data("npz-cut", ".npz", _npz([("x.npy", _good_npy())])[:-30])
_data("npz-no-archive", ".npz", b"PK\x05\x06" + bytes(10))
_data("npz-method", ".npz", _npz([("x.npy", _good_npy())], zipfile.ZIP_LZMA))
_data("npz-entry-missing", ".npz", _npz([("a.npy", _good_npy()), ("b.npy", _good_npy())]))
_data("npz-entry-twice", ".npz", lambda: _npz_twice())


def _npz_twice() -> bytes:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _npz([("x.npy", _good_npy()), ("x.npy", _good_npy(np.zeros((2, 8), np.float32)))])


def _pb(**fields) -> bytes:
    tensor = numpy_helper.from_array(_X, "x")
    for name, value in fields.items():
        if name == "dims":
            del tensor.dims[:]
            tensor.dims.extend(value)
        else:
            setattr(tensor, name, value)
    return tensor.SerializeToString()


def _pb_external() -> bytes:
    tensor = TensorProto(name="x", data_type=1, dims=[2, 8], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="/etc/passwd")
    return tensor.SerializeToString()


_data("pb-cut", ".pb", _pb()[:-7])
_data("pb-dims-overflow", ".pb", _pb(dims=[2**40, 2**40]))
_data("pb-dims-negative", ".pb", _pb(dims=[-2, -8]))
_data("pb-type-unknown", ".pb", _pb(data_type=999))
_data("pb-raw-short", ".pb", _pb(raw_data=bytes(8)))
_data("pb-external", ".pb", _pb_external)


def _safetensors(header, data=bytes(64), length=None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def _entry(begin=0, end=64, dtype="F32", shape=(2, 8)) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


_data("safetensors-empty", ".safetensors", b"")
_data("safetensors-header-huge", ".safetensors", _safetensors({"x": _entry()}, length=2**60))
_data("safetensors-offset-beyond", ".safetensors", _safetensors({"x": _entry(0, 4096)}))
_data("safetensors-offset-reversed", ".safetensors", _safetensors({"x": _entry(64, 0)}))
_data("safetensors-overlap", ".safetensors", _safetensors({"x": _entry(), "y": _entry()}))
_data("safetensors-size-wrong", ".safetensors", _safetensors({"x": _entry(0, 32)}, bytes(32)))
_data("safetensors-shape-huge", ".safetensors", _safetensors({"x": _entry(shape=(2**62, 2**62))}))
_data("safetensors-type-unknown", ".safetensors", _safetensors({"x": _entry(dtype="F99")}))
_data("safetensors-key-twice", ".safetensors",
      _safetensors(b'{"x":' + json.dumps(_entry()).encode() + b',"x":'
                   + json.dumps(_entry()).encode() + b"}"))
_data("safetensors-nested", ".safetensors", _safetensors(b'{"x":' * 50000))
_data("safetensors-no-json", ".safetensors", _safetensors(b"hello there"))
