#===- usage.py - options, their errors, and the other commands ------------===#
"""Exit codes and messages of the command line."""

import numpy as np

from loop import toy

GOOD = ("train", "--data=d.npz", "--epochs=1", "--lr=0.1")
# (program, words, exit code, piece of the error)
CASES = [
    ("toy", ("train", "--epochs=1", "--lr=1"), 2, "expected --data"),
    ("toy", ("train", "--data=d.npz", "--epochs=1"), 2, "expected --lr"),
    ("toy", ("train", "--data=d.npz", "--lr=1"), 2, "expected --epochs or --steps"),
    ("toy", (*GOOD, "--epoch=2"), 2, "did you mean '--epochs'?"),
    ("toy", (*GOOD, "--iterations=2"), 2, "does not belong to this command"),
    ("toy", (*GOOD, "--resume=yes"), 2, "takes no value"),
    ("toy", (*GOOD, "--resume"), 2, "expected --checkpoint-dir beside --resume"),
    ("toy", (*GOOD, "--checkpoint-every=2"), 2, "expected --checkpoint-dir beside --checkpoint-every"),
    ("toy", (*GOOD, "--model=m.onnx"), 2, "expected --export-onnx beside --model"),
    ("toy", (*GOOD, "--clip-norm=1", "--clip-value=1"), 2, "expected either --clip-norm or --clip-value"),
    ("toy", (*GOOD, "--beta1=0.5"), 2, "option '--beta1': the program's optimizer, momentum, does not have it"),
    ("toy", (*GOOD, "--init-scale=1", "--scale-floor=2"), 2, "an --init-scale of at least --scale-floor"),
    ("toy", (*GOOD, "--schedule=step"), 2, "expected constant, linear or cosine, got 'step'"),
    ("toy", (*GOOD, "--scaler=on"), 2, "expected auto, dynamic, static or off, got 'on'"),
    ("toy", (*GOOD, "--last-batch=keep"), 2, "expected drop or pad, got 'keep'"),
    ("toy", (*GOOD, "--metric=f1"), 2, "expected accuracy, got 'f1'"),
    ("toy", (*GOOD, "--log="), 2, "expected a path"),
    ("statistic", (*GOOD, "--last-batch=pad"), 2, "running statistics; use drop"),
    ("bare", (*GOOD, "--grad-stats=1"), 2, "has no entry 'grad_stats'"),
    ("toy", (*GOOD, "--export-onnx=e.onnx"), 4, "does not say where its parameters lie"),
    ("toy", (*GOOD, "--device=cuda"), 8, "cpu"),
    ("toy", ("eval",), 2, "expected --data"),
    ("toy", ("eval", "--data=d.npz", "--lr=1"), 2, "does not belong to this command"),
    ("toy", ("bench", "--step", "--input=y=1"), 2, "unknown input 'y'"),
    ("toy", ("bench", "--step", "--input=labels=0.5"), 2, "expected numbers of type i64"),
    ("toy", ("bench", "--step", "--beta1=0.5"), 2, "momentum, does not have it"),
    ("toy", ("bench", "--lr=1"), 2, "option '--lr' needs --step"),
    ("toy", ("bench", "--step", "--epochs=1"), 2, "does not belong to this command"),
    ("toy", ("run", "--step"), 2, "does not belong to this command"),
    ("toy", ("evil",), 2, "did you mean 'eval'?"),
    ("toy", ("run", "--input=x=1", "--checkpoint=none.safetensors"), 5, "cannot open the file"),
]
# (option, values that are refused, values that are taken)
VALUES = [
    ("epochs", ("0", "-1", "x", "1e3", ""), ("1",)),
    ("lr", ("-1", "nan", "inf", "1e39", "1x", ""), ("0", "1e-3", "2^-10")),
    ("momentum", ("1", "-0.1", "0.99999999999"), ("0", "0.99")),
    ("growth-factor", ("1", "0.5", "1.00000001"), ("1.5", "4")),
    ("backoff-factor", ("1", "0", "2"), ("0.25", "2^-3")),
    ("init-scale", ("0", "-1", "2^200", "2^", "2^x", "1e-45"), ("2^16", "1", "0.5")),
    ("scale-floor", ("0", "2^-127"), ("2^-24", "1")),
    ("growth-interval", ("0", "2147483648"), ("1", "2147483647")),
    ("accumulate", ("0",), ("1", "7")),
    ("seed", ("-1", "9223372036854775808"), ("0", "9223372036854775807")),
    ("keep", ("0",), ("1",)),
]


def check(tally, folder, programs) -> None:
    x, labels = toy.samples(12)
    np.savez(folder / "d.npz", x=x, labels=labels)
    for name, words, code, text in CASES:
        done = programs[name].run(*words, cwd=folder)
        good = done.code == code and text in done.err and "error:" in done.err
        tally.report(f"usage {' '.join(words)}", [] if good else [f"exit {done.code}: {done.err}"])
    for option, refused, taken in VALUES:
        for value, code in [*((value, 2) for value in refused), *((value, 0) for value in taken)]:
            words = [word for word in GOOD if not word.startswith(f"--{option}=")]
            done = programs["toy16"].run(*words, f"--{option}={value}", "--quiet", cwd=folder)
            good = done.code == code and (code == 0 or f"option '--{option}'" in done.err)
            tally.report(f"usage --{option}={value}", [] if good else [f"exit {done.code}: {done.err}"])
    spellings(tally, folder, programs)
    commands(tally, folder, programs["toy"])
    bench_step(tally, folder, programs)


def spellings(tally, folder, programs) -> None:
    program = programs["toy"]
    quiet = program.run(*GOOD, "--quiet", cwd=folder)
    tally.report("usage --quiet", [] if quiet.code == 0 and not quiet.out + quiet.err else [quiet.out])
    done = program.run("train", "--data", "d.npz", "--epochs", "1", "--lr", "0.1", "--warmup_steps=2", cwd=folder)
    tally.report("usage spellings", [] if done.code == 0 else [done.err])
    for words, present, absent in [(("--help",), "train --data", ""), (("train", "--help"), "--warmup-steps", "--iterations"),
                                   (("run", "--help"), "--output-dir", "--warmup-steps")]:
        done = program.run(*words)
        good = done.code == 0 and present in done.out and (not absent or absent not in done.out)
        tally.report(f"usage {' '.join(words)}", [] if good else [done.out])
    done = program.run(*GOOD, cwd=folder, environment={"WORLD_SIZE": "2", "RANK": "0"})
    tally.report("usage ranks", [] if done.code == 4 and "several ranks" in done.err else [done.err])


def commands(tally, folder, program) -> None:
    """run, bench, eval and inspect of a trainer, with and without a checkpoint."""
    x, labels = toy.samples(12)
    np.save(folder / "x.npy", x[:4])
    train = program.run(*GOOD, "--checkpoint-dir=c", "--log=l.jsonl", "--eval-data=d.npz", "--quiet", cwd=folder)
    checkpoint = folder / "c" / toy.checkpoints(folder / "c")[-1]
    _, tensors = toy.read_checkpoint(checkpoint)
    first = np.array([0.1, -0.2, 0.3, 0.05, 0.25, -0.15, -0.3, 0.2, 0.1]).reshape(3, 3)
    for name, words, w, b in [("first", (), first, 0), ("trained", (f"--checkpoint={checkpoint}",), tensors["w"],
                                                        tensors["b"])]:
        done = program.run("run", "--input=x=@x.npy", "--output=logits=@y.npy", *words, cwd=folder)
        good = done.code == 0 and np.allclose(np.load(folder / "y.npy"), x[:4] @ w + b, atol=1e-5)
        tally.report(f"run {name}", [] if good else [done.err])
        done = program.run("bench", "--duration=0", "--warm-up=0", *words, cwd=folder)
        tally.report(f"bench {name}", [] if done.code == 0 else [done.err])
    # `eval` on a checkpoint finds what the run found at its end.
    done = program.run("eval", "--data=d.npz", f"--checkpoint={checkpoint}", cwd=folder)
    loss = toy.events(folder / "l.jsonl", "epoch")[-1]["eval_loss"]
    good = train.code == 0 and done.code == 0 and abs(float(done.out.split()[1]) - loss) < 1e-5
    tally.report("eval trained", [] if good else [done.out + done.err])
    done = program.run("inspect")
    wanted = ("entries    eval(x: f32 [4, 3]", "states     parameter: 2, 48 bytes", "moment: 2, 48 bytes")
    tally.report("inspect", [] if all(text in done.out for text in wanted) else [done.out])


def bench_step(tally, folder, programs) -> None:
    """A training step measured: its figures agree with each other, no file is made."""
    (folder / "empty").mkdir()
    for name, words in [("toy", ()), ("toy16", ("--input=x=@../x.npy", "--lr=0.1", "--init-scale=8", "--clip-norm=1")),
                        ("statistic", ("--input=labels=2", "--input=samples=3", "--debug-arena"))]:
        done = programs[name].run("bench", "--step", "--profile", "--duration=0.01", "--warm-up=0", *words,
                                  cwd=folder / "empty")
        problems = [done.err] if done.code or done.err else []
        if not problems:
            line = done.out.splitlines()[-1].split()
            found = dict(word.split("=") for word in line[2:])
            if line[:2] != ["ampc-bench:", "PASSED"] or not all(float(value) > 0 for value in found.values()):
                problems.append(" ".join(line))
            rate = toy.BATCH * float(found["throughput"])
            if not abs(float(found["samples_per_s"]) - rate) <= 1e-4 * rate:
                problems.append(f"{found['samples_per_s']} samples/s, expected {rate}")
            # What a step launches, and nothing of the other entries.
            kernels = {row.split()[3] for row in done.out.splitlines() if " f32-" in row}
            wanted = {"f32-gemm-4x3x3", "f32-gradients-4x3", "f32-momentum-12"}
            wanted |= {"f32-statistics-4x3"} if name == "statistic" else set()
            if kernels != wanted or int(found["launches"]) != len(wanted):
                problems.append(f"{found['launches']} launches of {sorted(kernels)}")
        if list((folder / "empty").iterdir()):
            problems.append("a file is made")
        tally.report(f"bench --step of {name}", problems)
