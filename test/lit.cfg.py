"""Configuration of the lit tests: every .mlir and .test file below this folder."""

import os
import shutil
import sys

import lit.formats

config.name = "ampc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "fuzz"]
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.ampc_bin_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"
# Nothing is left in the home of who runs the tests.
config.environment["AMPC_CACHE_DIR"] = os.path.join(config.test_exec_root, "kernel-cache")
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Models and tensors of the driver's tests are protobuf text.
PROTO = "compiler/Import/Proto/onnx_subset.proto"
ROOT = os.path.dirname(config.test_source_root)
for name, message in (("onnx", "ModelProto"), ("tensor", "TensorProto")):
    config.substitutions.append(
        (f"%make_{name}", f"protoc --encode=ampc.onnx.{message} -I {ROOT} {ROOT}/{PROTO}")
    )
config.substitutions.append(
    ("%read_onnx", f"protoc --decode=ampc.onnx.ModelProto -I {ROOT} {ROOT}/{PROTO}")
)
# %exit_code N COMMAND runs a command that must exit with N.
config.substitutions.append(
    ("%exit_code", f"{sys.executable} {config.test_source_root}/exit_code.py")
)
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%{test_dir}", config.test_exec_root))
config.substitutions.append(("%{lib_dir}", os.path.join(os.path.dirname(config.ampc_bin_dir), "lib")))
config.substitutions.append(("%{path}", config.environment["PATH"]))
if shutil.which("cc"):
    config.available_features.add("cc")
