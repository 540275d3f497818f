#===- health.py - runs that go wrong --------------------------------------===#
"""Hints, each once, and runs that end because nothing finite comes of them."""

import numpy as np

from loop import toy

TRAIN = ("train", "--data=d.npz", "--epochs=10", "--log=l.jsonl")


def check(tally, folder, programs) -> None:
    x, labels = toy.samples(40)

    def run(name: str, *words, arrays=None):
        np.savez(folder / "d.npz", **(arrays or {"x": x, "labels": labels}))
        (folder / "l.jsonl").unlink(missing_ok=True)
        done = programs[name].run(*TRAIN, *words, cwd=folder)
        log = toy.read_log(folder / "l.jsonl")
        return done, [line for line in log if line["event"] == "hint"], log

    def report(name: str, good: bool, done) -> None:
        tally.report(f"health {name}", [] if good else [f"exit {done.code}: {done.err}"])

    done, hints, _ = run("toy16", "--lr=0.1", "--init-scale=2^20")
    good = done.code == 0 and [hint["kind"] for hint in hints] == ["overflow"] and "1.04858e+06 to 524288" in done.err
    report("overflow", good and done.err.count("hint:") == 1, done)
    quiet, hints, _ = run("toy16", "--lr=0.1", "--init-scale=2^20", "--quiet")
    report("quiet", quiet.code == 0 and not quiet.err and len(hints) == 1, quiet)
    done, hints, _ = run("toy16", "--lr=0.01", "--growth-interval=2", "--growth-factor=2^12")
    report("growth", done.code == 0 and "growth" in [hint["kind"] for hint in hints], done)
    done, hints, _ = run("toy", "--lr=0.1")
    report("nothing to say", done.code == 0 and not hints and not done.err, done)
    zero = {"x": x * np.float32(1e-30), "labels": labels}
    done, hints, _ = run("toy16", "--lr=0", "--scaler=off", "--grad-stats=1", arrays=zero)
    report("few zeros", done.code == 0 and not hints, done)  # three quarters of the elements
    data_errors(run, report, x, labels)
    divergence(folder, run, report, x, labels)


def data_errors(run, report, x, labels) -> None:
    """Of a NaN or an infinity in the data, the sample is named; the run goes on while updates are skipped."""
    for value in (np.nan, np.inf):
        wrong = x.copy()
        wrong[17, 2] = value
        done, hints, log = run("toy16", "--lr=0.1", "--init-scale=1", arrays={"x": wrong, "labels": labels})
        named = "input 'x' of sample 17 of the data is not finite"
        last = [line for line in log if line["event"] == "step"][-1]
        good = (done.code == 0 and [hint["kind"] for hint in hints] == ["nonfinite-loss"] and named in hints[0]["text"]
                and last["skipped"] == 10 and last["taken"] == 90)
        report(f"{value} in the data, skipped", good, done)
        # Without loss scaling it spoils the parameters; the batch that did is found again, from the start or a checkpoint.
        for words in ((), (f"--checkpoint-dir=c{value}", "--checkpoint-every=2", "--keep=99")):
            done, hints, log = run("toy", "--lr=0.1", *words, arrays={"x": wrong, "labels": labels})
            first = hints[0]["step"] if hints else 0
            good = done.code == 3 and len(hints) == 1 and named in hints[0]["text"] and log[-1]["reason"] == "diverged"
            told = f"20 updates in a row have a loss that is not finite, up to update {first + 19}; in update {first}, {named}"
            report(f"{value} in the data {' '.join(words)}", good and told in done.err, done)
    wrong = np.full_like(x, np.nan)
    done, _, _ = run("toy16", "--lr=0.1", arrays={"x": wrong, "labels": labels})
    report("only NaN", done.code == 3 and "up to update 20; in update 20, input 'x' of sample" in done.err, done)


def divergence(folder, run, report, x, labels) -> None:
    """Numbers that the program itself makes infinite: the node is named."""
    large = {"x": x * np.float32(1e38), "labels": labels}
    done, hints, _ = run("toy", "--lr=1e38", "--scaler=static", "--init-scale=1", arrays=large)
    good = done.code == 1 and "20 updates in a row" in done.err and len(hints) <= 1
    report("diverged", good and ("'/Gemm' (kernel f32-gemm-4x3x3)" in done.err or "parameter 'w'" in done.err), done)
    # Gradients of 1e30 overflow f16 at any scale down to the floor.
    wrong = {"x": np.tile(np.float32([1e30, 0, 0]), (40, 1)), "labels": np.full(40, 1)}
    done, _, log = run("toy16", "--lr=0.001", "--scale-floor=2^10", "--init-scale=2^12", arrays=wrong)
    last = [line for line in log if line["event"] == "step"][-1]
    good = (done.code == 1 and "20 updates in a row are skipped with the loss scale as small as it gets" in done.err
            and "'loss, /Gemm' (kernel f32-gradients-4x3), an infinity in f32" in done.err)
    report("floor", good and last["scale"] == 1024 and last["skipped"] == 22 and last["taken"] == 0, done)
    done, _, _ = run("toy", "--lr=3e38", "--steps=60")
    report("learning rate", done.code == 1 and "in update 5, the parameter 'w' is not finite" in done.err, done)
    done, _, _ = run("toy", "--lr=0.1", arrays=large)
    # The norm of finite gradients.
    told = "in update 1, the first node that writes one is 'update' (kernel f32-momentum-12), an infinity in f32"
    report("node", done.code == 1 and told in done.err and "the finite values it reads are from 0 to 2" in done.err, done)
    # Nothing is saved of it.
    done, _, _ = run("toy", "--lr=3e38", "--steps=60", "--checkpoint-dir=c", "--checkpoint-every=1000")
    report("no checkpoint", done.code == 1 and not toy.checkpoints(folder / "c"), done)
