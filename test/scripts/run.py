#!/usr/bin/env python3
#===- run.py - tests of the test tools ------------------------------------===#
"""The comparisons and counters that the test tools rely on can fail.

The last line is `N passed, N failed`.
"""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest
from types import SimpleNamespace
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "scripts"), str(ROOT / "test" / "models"),
                str(ROOT / "test" / "backend")]
from ampctest import env

env.enter()

import numpy as np
import onnx
from onnx import TensorProto, helper

import binding
import catalogue
import expectations
import modes
from ampctest.tensors import compare, frobenius_error


def load(path: str):
    """A script without suffix as a module."""
    name = pathlib.Path(path).name.replace("-", "_")
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module


class Compare(unittest.TestCase):
    def test_equal(self):
        x = np.array([1, np.nan, np.inf], np.float32)
        self.assertIsNone(compare(x, x, rtol=0, atol=0))
        self.assertIsNone(compare(x, x, frobenius=0))

    def test_within_and_beyond(self):
        want = np.array([1, 100], np.float32)
        got = np.array([1.0005, 100.05], np.float32)
        self.assertIsNone(compare(got, want, rtol=1e-3, atol=0))
        self.assertIn("2 of 2", compare(got, want, rtol=1e-4, atol=0))

    def test_shape_and_type(self):
        x = np.zeros(3, np.float32)
        self.assertIn("shape", compare(x[:2], x, rtol=1, atol=1))
        self.assertIn("type", compare(x.astype(np.float64), x, rtol=1, atol=1))

    def test_integers_are_exact(self):
        x = np.array([1000, 1001])
        self.assertIn("1 of 2", compare(x, np.array([1000, 1000]), rtol=1, atol=1e9))

    def test_infinity_is_no_large_number(self):
        want = np.array([1, np.inf], np.float32)
        self.assertEqual(frobenius_error(np.array([1, 3e38], np.float32), want), np.inf)
        self.assertEqual(frobenius_error(np.array([1, -np.inf], np.float32), want), np.inf)

    def test_nan_is_an_error(self):
        want = np.ones(2, np.float32)
        self.assertIsNotNone(compare(np.array([1, np.nan], np.float32), want, frobenius=1))

    def test_zero_reference(self):
        zero = np.zeros(2, np.float32)
        self.assertIsNotNone(compare(np.array([0, 0.1], np.float32), zero, frobenius=5e-3))


class Counting(unittest.TestCase):
    LOG = ("1: [  PASSED  ] 2 tests.\n1: [  FAILED  ] 1 test, listed below:\n"
           "1/3 Test #1: unit .....***Failed    0.10 sec\n"
           "2:   Passed: 7 (70.00%)\n2:   Failed: 3 (30.00%)\n"
           "2/3 Test #2: lit ......***Failed    0.10 sec\n"
           "3/3 Test #3: plain ....   Passed    0.10 sec\n")

    def setUp(self):
        self.check = load("tools/check")

    def test_ctest(self):
        self.assertEqual(self.check.count_ctest(self.LOG), (10, 4))

    def test_nothing_ran(self):
        step = self.check.Step("s", [])
        self.assertEqual(self.check.count(step, 0, "no closing line\n"), (0, 1))
        self.assertEqual(self.check.count(step, 0, "0 passed, 0 failed\n"), (0, 1))

    def test_exit_code_counts(self):
        step = self.check.Step("s", [])
        self.assertEqual(self.check.count(step, 1, "5 passed, 0 failed\n"), (5, 1))
        self.assertEqual(self.check.count(step, 0, "5 passed, 0 failed\n"), (5, 0))


class Documents(unittest.TestCase):
    def setUp(self):
        self.docs = load("tools/scripts/check-docs")

    def test_examples(self):
        text = "text\n```console\n$ one \\\n>   two\nout\n$ three  # exit 3\n```\n```sh\n$ no\n```\n"
        self.assertEqual([(c, e) for _, c, e in self.docs.examples(text)],
                         [("one  two", "out\n"), ("three  # exit 3", "")])

    def test_wildcards(self):
        self.assertTrue(self.docs.matches("a ... c\n...\nlast", "a b c\nx\ny\nlast\n"))
        self.assertFalse(self.docs.matches("a ... c", "a b d"))


class Backend(unittest.TestCase):
    def test_shape_inputs_are_followed_back(self):
        """An input that becomes a shape by way of arithmetic is bound; one whose
        shape alone is asked for is not."""
        nodes = [helper.make_node("Concat", ["s", "t"], ["shape"], axis=0),
                 helper.make_node("Reshape", ["x", "shape"], ["y"]),
                 helper.make_node("Shape", ["x"], ["n"]),
                 helper.make_node("Expand", ["o", "n"], ["z"])]
        graph = helper.make_graph(nodes, "g", [
            helper.make_tensor_value_info(name, kind, dims) for name, kind, dims in (
                ("x", TensorProto.FLOAT, [4]), ("s", TensorProto.INT64, [1]),
                ("t", TensorProto.INT64, [1]), ("o", TensorProto.FLOAT, [1]))], [])
        self.assertEqual(binding.shape_inputs(onnx.ModelProto(graph=graph)), ["s", "t"])

    def test_reasons_hold_no_paths(self):
        text = "/a/x/model.onnx:/a/b: error: unsupported op Foo at /b/me/file.cpp"
        self.assertEqual(expectations.reason_of(text), "unsupported op Foo at file.cpp")

    def test_turns_share_no_test(self):
        """Ten turns of a tenth are all tests, each once."""
        onnx_backend = load("tools/onnx-backend")
        tests = [SimpleNamespace(name=f"test_{i}") for i in range(500)]
        drawn = [test.name for turn in range(10)
                 for test in onnx_backend.select(tests, [], 10, turn)]
        self.assertEqual(sorted(drawn), sorted(test.name for test in tests))

    def test_later_lists_overrule(self):
        """Lines that all simulated modes share move up, and each mode expects what it did."""
        results = {name: SimpleNamespace(status=status, message="why")
                   for name, status in (("a", "pass"), ("b", "unsupported"), ("c", "mismatch"))}
        simulated = modes.matching("sim")
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.object(expectations, "FOLDER", pathlib.Path(folder)):
            for name in ("cpu-fp32", "cpu-fp16", "cpu-bf16"):
                expectations.save_list(name, {"a": ("mismatch", "on the CPU only")})
            for mode in simulated:
                other = {"c": SimpleNamespace(status="pass")} if mode.name == "sim-sm_75-fp32" else {}
                expectations.update(mode, results | other, set(results))
            wanted = {mode.name: expectations.load(mode) for mode in simulated}
            expectations.share(simulated)
            self.assertEqual({mode.name: expectations.load(mode) for mode in simulated}, wanted)
            self.assertEqual(set(expectations.load_list("sim")), {"a", "b"})
            self.assertEqual(set(expectations.load_list("sim-fp16")), {"c"})
            self.assertEqual(set(expectations.load_list("sim-sm_75-fp32")), set())
            self.assertEqual(set(expectations.load_list("sim-sm_80-fp32")), {"c"})
            self.assertEqual(expectations.stale(simulated[0], set(results)), [])
            self.assertEqual(len(expectations.stale(simulated[0], {"a"})), 1)


class Models(unittest.TestCase):
    def test_same_bytes_every_time(self):
        for name in ("mlp", "gpt2-tiny", "resnet-tiny", "filled-squeezenet"):
            first, second = (catalogue.GENERATED[name](name).SerializeToString(deterministic=True)
                             for _ in range(2))
            self.assertEqual(first, second, name)


def main() -> int:
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules[__name__])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
