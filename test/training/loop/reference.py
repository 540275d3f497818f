#===- reference.py - the toy trainer's run in NumPy -----------------------===#
"""The same training by a model in NumPy and an order of samples computed from the
published algorithms, with no code shared."""

import dataclasses
import math

import numpy as np

from loop.toy import BATCH, CLASSES, FEATURES

MASK = (1 << 64) - 1


def crc32c(data: bytes) -> int:
    """Bit by bit, from the polynomial (RFC 3720)."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def mix(z: int) -> int:
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def permutation(rows: int, seed: int, epoch: int) -> list[int]:
    """Fisher and Yates' shuffle with Lemire's numbers in a range."""
    gamma = 0x9E3779B97F4A7C15
    state = mix(mix((seed + gamma) & MASK) + epoch & MASK)
    order = [0] * rows
    for i in range(rows):
        while True:
            state = state + gamma & MASK
            wide = mix(state) * (i + 1)
            if wide & MASK >= (1 << 64) % (i + 1):
                break
        j = wide >> 64
        order[i] = order[j]
        order[j] = i
    return order


@dataclasses.dataclass
class Settings:
    lr: float = 0.1
    epochs: int = 2
    steps: int = 0
    accumulate: int = 1
    seed: int = 0
    schedule: str = "constant"
    warmup: int = 0
    momentum: float = 0.9
    decay: float = 0.0
    clip_norm: float = 0.0
    clip_value: float = 0.0
    last_batch: str = "drop"
    scaler: str = "off"
    init_scale: float = 65536.0
    growth_factor: float = 2.0
    backoff_factor: float = 0.5
    growth_interval: int = 2000
    scale_floor: float = 2.0**-24
    overflows: bool = False  # gradients as in f16
    class_weights: tuple = (1.0, 1.0, 1.0)

    def words(self) -> list[str]:
        names = {"warmup": "warmup-steps", "decay": "weight-decay"}
        default = Settings()
        return [f"--{names.get(field.name, field.name).replace('_', '-')}={getattr(self, field.name)}"
                for field in dataclasses.fields(self) if field.name not in ("overflows", "class_weights")
                and (field.name in ("lr", "epochs") or getattr(self, field.name) != getattr(default, field.name))
                and getattr(self, field.name) != 0]


class Run:
    """Trains at once; `log` has what the program's log has to say."""

    def __init__(self, x: np.ndarray, labels: np.ndarray, settings: Settings):
        self.x, self.labels, self.s = x.astype(np.float64), labels.astype(np.int64), settings
        self.w = np.array([0.1, -0.2, 0.3, 0.05, 0.25, -0.15, -0.3, 0.2, 0.1], np.float32).astype(
            np.float64).reshape(FEATURES, CLASSES)
        self.b = np.zeros(CLASSES)
        self.mw, self.mb = np.zeros_like(self.w), np.zeros_like(self.b)
        self.scale = 1.0 if settings.scaler == "off" else settings.init_scale
        self.tracker = self.taken = self.skipped = 0
        self.log, self.known = [], [0]  # skipped updates after 0, 1, ... updates
        rows = len(x)
        batches = rows // BATCH if settings.last_batch == "drop" else -(-rows // BATCH)
        windows = -(-batches // settings.accumulate)
        self.total = windows * settings.epochs if settings.epochs else settings.steps
        if settings.steps:
            self.total = min(self.total, settings.steps)
        for step in range(self.total):
            epoch, window = divmod(step, windows)
            order = permutation(rows, settings.seed, epoch)
            first = window * settings.accumulate
            self.update(step, [order[i * BATCH:(i + 1) * BATCH]
                               for i in range(first, min(first + settings.accumulate, batches))])

    def rate(self, step: int) -> float:
        s = self.s
        # The skipped updates, but for the one directly before.
        taken = step - self.known[max(0, step - 1)]
        if taken < s.warmup:
            return s.lr * (taken + 1) / s.warmup
        part = min(1.0, (taken - s.warmup) / max(1, self.total - s.warmup))
        return {"constant": s.lr, "linear": s.lr * (1 - part),
                "cosine": s.lr * (1 + math.cos(math.pi * part)) / 2}[s.schedule]

    def scaled(self, value: np.ndarray) -> np.ndarray:
        value = value * self.scale
        return np.where(np.abs(value) > 65504, np.copysign(np.inf, value), value) if self.s.overflows else value

    def update(self, step: int, batches: list[list[int]]) -> None:
        s, lr = self.s, self.rate(step)
        gw, gb = np.zeros_like(self.w), np.zeros_like(self.b)
        loss = correct = weight = count = 0.0
        for batch in batches:
            for i in batch:
                if self.labels[i] < 0:
                    continue
                logits = self.x[i] @ self.w + self.b
                shifted = np.exp(logits - logits.max())
                p = shifted / shifted.sum()
                share = s.class_weights[self.labels[i]]
                loss -= share * math.log(p[self.labels[i]])
                correct += logits.argmax() == self.labels[i]
                weight += share
                count += 1
                p[self.labels[i]] -= 1
                p *= share
                with np.errstate(invalid="ignore"):
                    gb += self.scaled(p)
                    gw += self.scaled(np.outer(self.x[i], p))
        found = not (np.isfinite(gw).all() and np.isfinite(gb).all())
        line = {"step": step + 1, "loss": loss / weight, "accuracy": correct / count, "weight": weight, "lr": lr,
                "scale": self.scale, "found_inf": found, "samples": sum(map(len, batches))}
        skip = found and s.scaler != "off"
        if not skip:
            gw, gb = gw / (self.scale * weight), gb / (self.scale * weight)
            line["norm"] = norm = math.sqrt((gw**2).sum() + (gb**2).sum())
            factor = min(1.0, s.clip_norm / (norm + 1e-6)) if s.clip_norm else 1.0
            bound = s.clip_value or np.inf
            gw, gb = np.clip(gw * factor, -bound, bound), np.clip(gb * factor, -bound, bound)
            self.mw = s.momentum * self.mw + gw + s.decay * self.w
            self.mb = s.momentum * self.mb + gb + s.decay * self.b
            self.w, self.b = self.w - lr * self.mw, self.b - lr * self.mb
        self.taken += not skip
        self.skipped += skip
        self.known.append(self.skipped)
        if s.scaler == "dynamic" and skip:
            self.scale, self.tracker = max(self.scale * s.backoff_factor, s.scale_floor), 0
        elif s.scaler == "dynamic":
            self.tracker += 1
            if self.tracker == s.growth_interval:
                self.scale, self.tracker = self.scale * s.growth_factor, 0
        self.log.append(line | {"taken": self.taken, "skipped": self.skipped, "growth_tracker": self.tracker,
                                "next_scale": self.scale})
