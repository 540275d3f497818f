#===- trainers.py - trainers to call from Python --------------------------===#
"""A trainer of an ONNX model, run by the reference evaluator or compiled.

Inputs of `step` and numbers of `apply` are given by name; those that a trainer
does not have are left aside, and numbers have defaults.
"""

import ctypes
import pathlib
import subprocess
import tempfile

import numpy as np
import onnx

from ampctest import env
from check_steps import Trainer

# What `apply` is given unless a test says otherwise: plain SGD, a scale that
# moves as GradScaler's does.
NUMBERS = {
    "learning_rate": 0.1, "weight_decay": 0.0, "max_norm": 0.0, "max_value": 0.0, "momentum": 0.0,
    "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "growth_factor": 2.0, "backoff_factor": 0.5,
    "growth_interval": np.int32(2000), "scale_floor": 2.0**-24, "scaler": np.int32(2),
}


class Evaluated:
    """Runs a trainer's functions in f64, rounded where types say so."""

    _stale = False  # copies of parameters in other types

    def __init__(self, model: onnx.ModelProto, amp: str = "off", optimizer: str = "sgd"):
        self._folder = tempfile.TemporaryDirectory()
        self._trainer = Trainer(pathlib.Path(self._folder.name), model, amp, optimizer)
        for weight in model.graph.initializer:
            if self.has(weight.name):
                self.write(weight.name, onnx.numpy_helper.to_array(weight))

    def has(self, state: str) -> bool:
        return state in self._trainer.places or state in self._trainer.memory

    def read(self, state: str) -> np.ndarray:
        return np.array(self._trainer.view(state))

    def write(self, state: str, value) -> None:
        self._trainer.view(state)[...] = value
        self._stale = True

    def step(self, inputs: dict[str, np.ndarray], labels: np.ndarray) -> None:
        """Add the gradients of a micro-batch to the sums."""
        if self._stale:
            self._trainer.refresh()
            self._stale = False
        self._trainer.run("step", {**inputs, "labels": labels, "samples": np.int64(labels.shape[0])})

    def apply(self, **numbers) -> dict[str, float]:
        """Update the parameters; what the update found."""
        given = {name: np.asarray(value, np.int32 if isinstance(value, np.int32) else np.float32)
                 for name, value in (NUMBERS | numbers).items()}
        self._trainer.run("apply", given)
        return {name.removeprefix("metrics."): float(value) for name, value in self._trainer.memory.items()
                if name.startswith("metrics.")}


class _Tensor(ctypes.Structure):
    """ampc_tensor_desc of abi.h."""

    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_uint32), ("rank", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_uint64)]

    def empty(self) -> np.ndarray:
        return np.empty(self.dims[:self.rank], onnx.helper.tensor_dtype_to_np_dtype(self.dtype))


class TrainerError(RuntimeError):
    """The compiler, the linker or a session refused."""


def compile_trainer(model: pathlib.Path, out: pathlib.Path, amp: str, *options: str, emit="exe") -> None:
    """Write a trainer for the CPU, of the cross-entropy unless options say otherwise."""
    loss = [] if any(option.startswith("--loss=") for option in options) else ["--loss=softmax-cross-entropy"]
    done = subprocess.run([env.ampc_path(), model, "--train", *loss, f"--amp={amp}", "--target=cpu", f"--emit={emit}",
                           *options, "-o", out], capture_output=True, text=True)
    if done.returncode:
        raise TrainerError(f"exit {done.returncode}: {done.stderr.strip()[:400]}")


def fused(model: pathlib.Path, amp: str, *options: str) -> str:
    """A trainer after the fusion phase, as MLIR for a machine with AVX2."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "fused.mlir"
        compile_trainer(model, path, amp, *options, "--march=x86-64-v3", "--compile-to=fusion", emit="mlir")
        return path.read_text()


class Compiled:
    """A compiled trainer in this process: the same calls as `Evaluated`."""

    def __init__(self, model: onnx.ModelProto, amp: str = "off", optimizer: str = "sgd", *options: str, threads=1,
                 debug=True, link: tuple[str, ...] = ()):
        # The name of the file is that of the symbol; a library stays loaded.
        self._folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._folder.name)
        self._model, self._amp, self._options = folder / "model.onnx", amp, (f"--optimizer={optimizer}", *options)
        onnx.save(model, self._model)
        compile_trainer(self._model, folder / "trainer.o", amp, *self._options, emit="obj")
        done = subprocess.run(["cc", "-shared", "-fPIC", "-DPROGRAM=trainer_program",
                               f"-I{env.ROOT}/runtime/include", pathlib.Path(__file__).with_name("session.c"), *link,
                               folder / "trainer.o", env.BUILD / "lib" / "libampc_runtime.a", "-o",
                               folder / "trainer.so", "-lpthread", "-lm", "-ldl"], capture_output=True, text=True)
        if done.returncode:
            raise TrainerError(done.stderr[:400])
        self._library = library = ctypes.CDLL(str(folder / "trainer.so"))
        for name in ("open", "run", "read", "write", "entry_name"):
            getattr(library, f"trainer_{name}").restype = ctypes.c_char_p
        for name in ("input", "output", "state"):
            getattr(library, f"trainer_{name}").restype = ctypes.POINTER(_Tensor)
        library.trainer_close.argtypes = [ctypes.c_void_p]
        self._session = ctypes.c_void_p()
        self._check(library.trainer_open(threads, int(debug), ctypes.byref(self._session)))
        self._states = {t.name.decode(): (i, t) for i, t in enumerate(self._tensors(library.trainer_state))}
        self._entries = {library.trainer_entry_name(i).decode(): i for i in range(library.trainer_num_entries())}

    def __del__(self):
        if getattr(self, "_session", None):
            self._library.trainer_close(self._session)

    @staticmethod
    def _check(message: bytes | None) -> None:
        if message is not None:
            raise TrainerError(message.decode())

    @staticmethod
    def _tensors(function, *arguments) -> list[_Tensor]:
        found = []
        while tensor := function(*arguments, len(found)):
            found.append(tensor.contents)
        return found

    @property
    def library(self) -> ctypes.CDLL:
        return self._library

    @property
    def entries(self) -> list[str]:
        return list(self._entries)

    def has(self, state: str) -> bool:
        return state in self._states

    def read(self, state: str) -> np.ndarray:
        index, tensor = self._states[state]
        array = tensor.empty()
        self._check(self._library.trainer_read(self._session, index, array.ctypes.data_as(ctypes.c_void_p)))
        return array

    def write(self, state: str, value) -> None:
        index, tensor = self._states[state]
        array = tensor.empty()
        array[...] = value
        self._check(self._library.trainer_write(self._session, index, array.ctypes.data_as(ctypes.c_void_p)))

    def launches(self, entry: str) -> list[str]:
        """The lines that launch kernels in an entry, as functions after fusion."""
        text = fused(self._model, self._amp, *self._options)
        body = text[text.index(f"func.func @{entry}("):]
        return [line for line in body[:body.index("\n  }")].splitlines() if "amp.launch " in line]

    def run(self, entry: str, given: dict) -> dict[str, np.ndarray]:
        """Run an entry on the inputs of its names; its outputs by name."""
        index = self._entries[entry]
        inputs = []
        for tensor in self._tensors(self._library.trainer_input, index):
            array = tensor.empty()
            value = np.asarray(given[tensor.name.decode()])
            assert value.shape == array.shape, tensor.name
            array[...] = value
            inputs.append(array)
        outputs = {t.name.decode(): t.empty() for t in self._tensors(self._library.trainer_output, index)}

        def pointers(arrays):
            return (ctypes.c_void_p * max(len(arrays), 1))(*(a.ctypes.data for a in arrays))

        self._check(self._library.trainer_run(self._session, index, pointers(inputs), pointers(list(outputs.values()))))
        return outputs

    def step(self, inputs: dict[str, np.ndarray], labels: np.ndarray, samples: int | None = None) -> None:
        """Add the gradients of a micro-batch, or of its first samples, to the sums."""
        count = labels.shape[0] if samples is None else samples
        self.run("step", {**inputs, "labels": labels, "samples": np.int64(count)})

    def evaluate(self, inputs: dict[str, np.ndarray], labels: np.ndarray, samples: int | None = None) -> dict:
        """Loss, its weight and correct predictions of a batch."""
        count = labels.shape[0] if samples is None else samples
        return self.run("eval", {**inputs, "labels": labels, "samples": np.int64(count)})

    def run_apply(self, **numbers) -> None:
        """Update the parameters."""
        self.run("apply", NUMBERS | numbers)

    def apply(self, **numbers) -> dict[str, float]:
        """Update the parameters; what the update found."""
        self.run_apply(**numbers)
        return {name.removeprefix("metrics."): float(self.read(name)) for name in self._states
                if name.startswith("metrics.")}
