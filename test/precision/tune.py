#!/usr/bin/env python3
#===- tune.py - does ampc tune solve what breaks fp16? ---------------------===#
"""Tune networks that plain fp16 breaks, and judge the result with ONNX Runtime.

  test/precision/tune.py                  all networks of tune_models.py
  test/precision/tune.py residual_stream  one of them

For each: plain fp16 fails --max-error and names the node at which it breaks;
`ampc tune` finds a policy with under 10 % of the nodes; the program compiled
with it meets the bound against ONNX Runtime in fp32 on inputs that tuning did
not see, and carries the certificate; no rule of the policy can be left out; the
same search gives the same bytes; another model does not get the certificate.
The last line is `N passed, N failed`.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "scripts"))
from ampctest import env

env.enter()

import numpy as np
import onnx
import onnxruntime

import tune_models
from ampctest import tensors
from ampctest.report import Tally

BOUND = 5e-3
UNSEEN = 6  # inputs


class Failure(Exception):
    """What is wrong, in a line."""


def execute(command: list, code: int = 0) -> subprocess.CompletedProcess:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=300)
    if done.returncode != code:
        said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise Failure(f"{' '.join(words[1:4])}: exit {done.returncode}, not {code}: {said[0]}")
    return done


def check(condition: bool, text: str) -> None:
    if not condition:
        raise Failure(text)


class Trial:
    """One network, its data and its files in a folder of their own."""

    def __init__(self, name: str, folder: pathlib.Path):
        self.folder, self.model = folder, folder / "model.onnx"
        proto, self.culprit = tune_models.MODELS[name]()
        self.proto = proto
        onnx.save(proto, self.model)
        self.rng = np.random.default_rng(7)
        self.data = folder / "data"
        for index in range(3):
            part = self.data / f"test_data_set_{index}"
            part.mkdir(parents=True)
            tensors.save_tensor(part / "input_0.pb", self.make_input(), "x")
        self.policy = folder / "policy.json"

    def make_input(self) -> np.ndarray:
        return self.rng.standard_normal(
            (tune_models.ROWS, tune_models.WIDTH)).astype(np.float32)

    def ampc(self, *words, code: int = 0) -> subprocess.CompletedProcess:
        return execute([env.ampc_path(), *words], code)

    def run(self) -> str:
        bound = f"--max-error=rel:{BOUND}"
        common = [self.model, "--amp=fp16", f"--data={self.data}", bound]
        plain = self.ampc(*common, "-o", self.folder / "plain", code=1)
        notes = [line for line in plain.stderr.splitlines() if ": note: " in line]
        check(bool(notes) and self.culprit in notes[0],
              f"plain fp16 does not name {self.culprit}: {notes[:1]}")
        check(not (self.folder / "plain").exists(), "a program above the bound was written")

        told = json.loads(self.ampc("tune", *common, "-o", self.policy, "--json",).stdout)
        policy = json.loads(self.policy.read_text())
        rules, nodes = policy["layers"], len(self.proto.graph.node)
        check(set(rules.values()) == {"fp32"}, f"rules {rules}")
        check(len(rules) < nodes / 10, f"{len(rules)} of {nodes} nodes in fp32")
        check(told["minimal"] and told["tuning"] <= BOUND and told["held_out"] <= BOUND,
              f"the search says {told}")
        text = self.policy.read_bytes()
        self.ampc("tune", *common, "-o", self.policy)
        check(self.policy.read_bytes() == text, "a second search gives other bytes")

        error = self.judge()
        check(error <= BOUND, f"an error of {error:.2e} on inputs that tuning did not see")
        self.check_minimal(rules)
        self.check_certificate(policy["certificate"])
        return (f"{len(rules)} of {nodes} nodes in fp32 after {told['trials']} trials; "
                f"unseen {error:.2e}")

    def judge(self) -> float:
        """The largest error to ONNX Runtime of the program with the policy."""
        program = self.folder / "program"
        self.ampc(self.model, "--amp=fp16", f"--precision-policy={self.policy}", "-o", program)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(self.model), options,
                                               ["CPUExecutionProvider"])
        worst = 0.0
        for _ in range(UNSEEN):
            x = self.make_input()
            np.save(self.folder / "x.npy", x)
            execute([program, "run", f"--input=x=@{self.folder / 'x.npy'}",
                     f"--output=y=@{self.folder / 'y.npy'}", "--quiet"])
            got = np.load(self.folder / "y.npy")
            worst = max(worst, tensors.frobenius_error(got, session.run(None, {"x": x})[0]))
        return worst

    def check_minimal(self, rules: dict[str, str]) -> None:
        """Without any one rule, the bound fails or a value comes near the range's end."""
        for left_out in rules:
            fewer = [f"{name}:fp32" for name in rules if name != left_out]
            words = [f"--layer-precisions={','.join(fewer)}"] if fewer else []
            compared = self.ampc("compare", self.model, "--amp=fp16", f"--data={self.data}",
                                 "--json", *words).stdout
            told = json.loads(compared)
            near = [row for row in told["nodes"]
                    if row["type"] == "f16" and row["fp32"]["largest"] > 65504 / 2]
            above = any(row["rel"] == "inf" or row["rel"] > BOUND for row in told["outputs"])
            check(above or bool(near), f"the rule for {left_out} is not needed")

    def check_certificate(self, certificate: dict) -> None:
        digest = hashlib.sha256(self.model.read_bytes()).hexdigest()
        check(certificate["model_sha256"] == digest, "the certificate's hash is not the model's")
        program = self.folder / "program"
        for command in ([program, "inspect", "--json"],
                        [env.ampc_path(), "inspect", program, "--json"]):
            metadata = json.loads(execute(command).stdout)["metadata"]
            check(metadata.get("certificate") == certificate, "the program's certificate differs")
        check("\ncertified  rel " in execute([program, "inspect"]).stdout,
              "inspect shows no certificate")
        self.proto.doc_string = "another model"
        onnx.save(self.proto, self.folder / "other.onnx")
        other = self.folder / "other"
        warned = self.ampc(self.folder / "other.onnx", "--amp=fp16", "-o", other,
                           f"--precision-policy={self.policy}")
        check("warning: the certificate" in warned.stderr, "no warning for another model")
        metadata = json.loads(execute([other, "inspect", "--json"]).stdout)["metadata"]
        check("certificate" not in metadata, "another model got the certificate")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    unknown = [name for name in args.names if name not in tune_models.MODELS]
    if unknown:
        parser.error(f"unknown network {unknown[0]}")
    env.require_ampc()
    tally = Tally()
    for name in args.names or tune_models.MODELS:
        try:
            with tempfile.TemporaryDirectory() as folder:
                text, ok = Trial(name, pathlib.Path(folder)).run(), True
        except (Failure, OSError, ValueError, subprocess.TimeoutExpired) as error:
            text, ok = str(error), False
        tally.add(ok)
        print(f"{'ok  ' if ok else 'FAIL'} {name}: {text}", flush=True)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
