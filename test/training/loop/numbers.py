#===- numbers.py - the loop against the reference -------------------------===#
"""Batches, windows, rates, clipping and loss scaling, alone and in pairs."""

import itertools

import numpy as np

from loop import reference, toy
from loop.reference import Settings

# One value of each option; every pair of them is run together.
OPTIONS = {
    "accumulate": {"accumulate": 3},
    "seed": {"seed": 12345678901},
    "linear": {"schedule": "linear"},
    "cosine": {"schedule": "cosine", "warmup": 5},
    "momentum": {"momentum": 0.5},
    "decay": {"decay": 0.01},
    "norm": {"clip_norm": 0.3},
    "value": {"clip_value": 0.05},
    "pad": {"last_batch": "pad"},
    "steps": {"steps": 11},
    "dynamic": {"scaler": "dynamic", "init_scale": 2.0**19, "growth_interval": 4},
    "static": {"scaler": "static", "init_scale": 1024.0},
}
CONFLICTS = ({"linear", "cosine"}, {"norm", "value"}, {"dynamic", "static"})
EXACT = ("step", "weight", "scale", "found_inf", "samples", "taken", "skipped", "growth_tracker", "next_scale")


def compare(program: toy.Toy, folder, data, settings: Settings) -> list[str]:
    """Problems of a run beside the reference's."""
    log = folder / "log.jsonl"
    log.unlink(missing_ok=True)
    x, labels = data
    done = program.run("train", "--data=d.npz", f"--log={log}", *settings.words(), cwd=folder)
    if done.code:
        return [f"exit {done.code}: {done.err}"]
    expected, got = reference.Run(x, labels, settings).log, toy.events(log)
    if len(expected) != len(got):
        return [f"{len(got)} steps, expected {len(expected)}"]
    problems = []
    for want, have in zip(expected, got):
        for key, value in want.items():
            good = (have[key] == value if key in EXACT
                    else have[key] is not None and abs(have[key] - value) <= 1e-7 + 1e-4 * abs(value))
            if not good:
                problems.append(f"step {want['step']}: {key} {have[key]}, expected {value}")
    if len(done.out.splitlines()) != len(got) + max(1, settings.epochs) and not settings.steps:
        problems.append(f"{len(done.out.splitlines())} lines")
    return problems


def check(tally, folder, programs) -> None:
    data = toy.samples(30)
    labels = data[1].copy()
    labels[7] = labels[11] = -1  # ignored
    data = (data[0], labels)
    np.savez(folder / "d.npz", x=data[0], labels=labels)
    combinations = [(), *((name,) for name in OPTIONS), *itertools.combinations(OPTIONS, 2)]
    for names in combinations:
        if any(pair <= set(names) for pair in CONFLICTS):
            continue
        changed = {}
        for name in names:
            changed |= OPTIONS[name]
        overflows = "dynamic" in names
        settings = Settings(**changed, overflows=overflows)
        tally.report(f"numbers {'+'.join(names) or 'plain'}",
                     compare(programs["toy16" if overflows else "toy"], folder, data, settings))
    # f16 programs scale by themselves; overflow then skips updates.
    settings = Settings(scaler="dynamic", init_scale=2.0**24, overflows=True, schedule="cosine")
    problems = compare(programs["toy16"], folder, data, settings)
    skipped = toy.events(folder / "log.jsonl")[-1]["skipped"]
    tally.report("numbers overflow", problems + ([] if skipped > 3 else [f"{skipped} skipped"]))
    automatic = toy.events(folder / "log.jsonl", "config")[-1]["loss_scaling"]
    tally.report("numbers scaler", [] if automatic == "dynamic" else [automatic])
    for program, scaling in (("toy", "off"), ("toy16", "dynamic")):
        log = folder / f"auto-{program}.jsonl"
        programs[program].run("train", "--data=d.npz", "--epochs=1", "--lr=0.1", f"--log={log}", cwd=folder)
        found = toy.events(log, "config")[0]["loss_scaling"]
        tally.report(f"numbers auto {program}", [] if found == scaling else [found])
    evaluation(tally, folder, programs["toy"])
    weighted(tally, folder, programs["weighted"])


def evaluation(tally, folder, program) -> None:
    """`eval` pads the last batch and leaves what fills it up out."""
    for rows in (1, 4, 9):
        x, labels = toy.samples(rows, seed=rows)
        np.savez(folder / "e.npz", x=x, labels=labels)
        done = program.run("eval", "--data=e.npz", "--metric=accuracy", cwd=folder)
        run = reference.Run(x[:0], labels[:0], Settings(epochs=1))
        logits = x.astype(np.float64) @ run.w
        loss = np.mean(np.log(np.exp(logits).sum(1)) - logits[np.arange(rows), labels])
        accuracy = np.mean(logits.argmax(1) == labels)
        words = done.out.split()
        good = (done.code == 0 and words[0::3][:3] == ["loss", "accuracy", "samples"]
                and abs(float(words[1]) - loss) < 1e-4 and abs(float(words[4]) - accuracy) < 1e-4
                and int(words[7]) == rows)
        tally.report(f"eval {rows}", [] if good else [done.out + done.err])


def weighted(tally, folder, program) -> None:
    """Class weights count in losses, not in accuracies."""
    weights = np.array([0.5, 1, 3])
    x, labels = toy.samples(30)
    np.savez(folder / "d.npz", x=x, labels=labels)
    settings = Settings(class_weights=tuple(weights), accumulate=3)
    problems = compare(program, folder, (x, labels), settings)
    log, epochs = reference.Run(x, labels, settings).log, toy.events(folder / "log.jsonl", "epoch")
    for number, epoch in enumerate(epochs):
        lines = log[3 * number:3 * number + 3]
        loss = sum(line["loss"] * line["weight"] for line in lines) / sum(line["weight"] for line in lines)
        accuracy = sum(line["accuracy"] * line["samples"] for line in lines) / 28
        if abs(epoch["loss"] - loss) > 1e-4 or abs(epoch["accuracy"] - accuracy) > 1e-6:
            problems.append(f"{epoch}, expected {loss} and {accuracy}")
    tally.report("numbers class weights", problems if len(epochs) == 2 else [f"{len(epochs)} epochs"])
    done = program.run("eval", "--data=d.npz", cwd=folder)
    logits = x.astype(np.float64) @ reference.Run(x[:0], labels[:0], Settings(epochs=1)).w
    losses = np.log(np.exp(logits).sum(1)) - logits[np.arange(30), labels]
    wanted = (losses * weights[labels]).sum() / weights[labels].sum(), np.mean(logits.argmax(1) == labels)
    got = [float(word) for word in done.out.split()[1:5:3]]
    tally.report("eval class weights", [] if np.allclose(got, wanted, atol=1e-5) else [f"{done.out}, expected {wanted}"])
