#===- collect.py - write ONNX's backend tests to files --------------------===#
"""ONNX's own backend tests as files, with what is known about each.

Every test is a folder build/backend/KIND/NAME with `model.onnx` and
`test_data_set_N/{input,output}_K.pb`, the layout of ONNX's model zoo. An index
beside them keeps what running and reporting need, so that 2,000 models are
parsed once and not at every run.
"""

import dataclasses
import json
import pathlib
import shutil
import warnings

import onnx
from onnx import TensorProto

from ampctest import env
from ampctest.tensors import save_value

import binding

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator")
FOLDER = env.BUILD / "backend"
# Raise when the layout or the index changes.
_FORMAT = 4


@dataclasses.dataclass
class Test:
    """One model with one data set."""

    name: str
    model: str  # path
    data: str  # path of the folder with input_K.pb and output_K.pb
    rtol: float
    atol: float
    bind: list[str]  # inputs whose values are bound at compile time
    op: str  # the operator tested ("" when the model has several nodes)
    opset: int
    dtypes: list[str]  # element types of inputs and outputs


def collect() -> list[Test]:
    """All tests by name, generated unless the files are up to date."""
    index = FOLDER / "index.json"
    version = f"{onnx.__version__} {_FORMAT} {pathlib.Path(binding.__file__).read_text()}"
    if index.exists():
        stored = json.loads(index.read_text())
        if stored["version"] == version:
            return [Test(**test) for test in stored["tests"]]
    shutil.rmtree(FOLDER, ignore_errors=True)
    tests = []
    with warnings.catch_warnings():
        # The cases compute with overflow and division by zero on purpose.
        warnings.simplefilter("ignore")
        import onnx.backend.test.loader as loader

        for kind in KINDS:
            for case in loader.load_model_tests(kind=kind):
                tests.extend(_write(kind, case))
    tests.sort(key=lambda test: test.name)
    names = [test.name for test in tests]
    assert len(names) == len(set(names)), "two tests share a name"
    index.write_text(json.dumps(
        {"version": version, "tests": [dataclasses.asdict(test) for test in tests]}))
    return tests


def _write(kind: str, case) -> list[Test]:
    folder = FOLDER / kind / case.name
    if case.model_dir is not None:
        shutil.copytree(case.model_dir, folder)
        model = onnx.load(folder / "model.onnx", load_external_data=False)
    else:
        model = case.model
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        for number, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{number}"
            data.mkdir()
            for prefix, values, infos in (("input", inputs, model.graph.input),
                                          ("output", outputs, model.graph.output)):
                for position, value in enumerate(values):
                    info = infos[position]
                    save_value(data / f"{prefix}_{position}.pb", value, info.type, info.name)
    return [_describe(case, model, folder, data) for data in sorted(folder.glob("test_data_set_*"))]


def _describe(case, model: onnx.ModelProto, folder: pathlib.Path, data: pathlib.Path) -> Test:
    number = data.name.rsplit("_", 1)[1]
    types = _element_types(model)
    # Two units in the last place where outputs are bfloat16, as ONNX's runner has it.
    rtol = max(case.rtol, 2.0**-6) if "bfloat16" in types else case.rtol
    nodes = model.graph.node
    domain = nodes[0].domain + "." if len(nodes) == 1 and nodes[0].domain else ""
    # The opset that the tested operator is of.
    ours = {nodes[0].domain} if len(nodes) == 1 and nodes[0].domain else {"", "ai.onnx"}
    versions = [entry.version for entry in model.opset_import if entry.domain in ours]
    return Test(
        name=case.name if number == "0" else f"{case.name}#{number}",
        model=str(folder / "model.onnx"), data=str(data), rtol=rtol, atol=case.atol,
        bind=binding.shape_inputs(model),
        op=domain + nodes[0].op_type if len(nodes) == 1 else "",
        opset=versions[0] if versions else 0, dtypes=types)


def _element_types(model: onnx.ModelProto) -> list[str]:
    types = set()
    for value in [*model.graph.input, *model.graph.output]:
        kind = value.type
        while kind.HasField("sequence_type") or kind.HasField("optional_type"):
            inner = "sequence_type" if kind.HasField("sequence_type") else "optional_type"
            kind = getattr(kind, inner).elem_type
        types.add(TensorProto.DataType.Name(kind.tensor_type.elem_type).lower())
    return sorted(types)
