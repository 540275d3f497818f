"""Configuration of the example's lit tests; CMake passes `tools` and `out`."""

import os

import lit.formats

config.name = "ampc-example"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["out"]
config.environment["PATH"] = os.pathsep.join(
    [lit_config.params["tools"], config.environment["PATH"]]
)
