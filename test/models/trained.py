#===- trained.py - trained models from Python packages --------------------===#
"""Trained networks that ship inside wheels, with realistic inputs for them.

rapidocr-onnxruntime carries three PP-OCRv4 networks (find text, turn it,
read it), magika one that tells what a file holds. The preparation of inputs
follows the papers' conventions: images scaled to [-1, 1], bytes as they are.
"""

import importlib.util
import json
import pathlib

import numpy as np
import onnx
from PIL import Image, ImageDraw, ImageFont

TEXT = "Mixed precision: 24.11 times faster"


def _package(name: str) -> pathlib.Path:
    # Found without importing it: the package's own dependencies are absent.
    return pathlib.Path(importlib.util.find_spec(name).submodule_search_locations[0])


def ocr_path(part: str) -> pathlib.Path:
    """The network for `part`: "det", "cls" or "rec"."""
    name = {"det": "ch_PP-OCRv4_det_infer", "rec": "ch_PP-OCRv4_rec_infer",
            "cls": "ch_ppocr_mobile_v2.0_cls_infer"}[part]
    return _package("rapidocr_onnxruntime") / "models" / f"{name}.onnx"


def magika_path() -> pathlib.Path:
    return next((_package("magika") / "models").glob("*/model.onnx"))


def render_line(text: str, height: int = 48, width: int = 480) -> Image.Image:
    """One line of black text on white."""
    font = ImageFont.load_default(size=height * 0.62)
    image = Image.new("RGB", (width, height), "white")
    ImageDraw.Draw(image).text((8, height * 0.12), text, "black", font)
    return image


def render_page(size: int = 320) -> Image.Image:
    """A page with a heading, text and a framed line."""
    image = Image.new("RGB", (size, size), (250, 248, 240))
    draw = ImageDraw.Draw(image)
    draw.text((24, 20), "Compiler notes", (20, 20, 60), ImageFont.load_default(size=30))
    body = ImageFont.load_default(size=18)
    for line in range(5):
        draw.text((24, 80 + 34 * line), f"line {line}: weights, sums", (40, 40, 40), body)
    draw.rectangle((20, 256, 300, 300), outline=(160, 0, 0), width=2)
    draw.text((30, 264), "accumulate in fp32", (160, 0, 0), ImageFont.load_default(size=22))
    return image


def image_tensor(image: Image.Image) -> np.ndarray:
    """[1, 3, height, width] in [-1, 1], blue first as the networks were trained."""
    pixels = np.asarray(image, dtype=np.float32)[:, :, ::-1]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None] / 127.5 - 1)


def characters(path: pathlib.Path) -> list[str]:
    """What each class of the text recogniser stands for; class 0 is "nothing"."""
    for entry in onnx.load(path).metadata_props:
        if entry.key == "character":
            return ["", *entry.value.splitlines(), " "]
    raise ValueError(f"{path}: no character list in its metadata")


def decode_text(scores: np.ndarray, classes: list[str]) -> tuple[str, float]:
    """The text read and its mean probability, from scores [1, steps, classes]."""
    best = scores[0].argmax(axis=1)
    kept = [step for step, index in enumerate(best)
            if index != 0 and (step == 0 or best[step - 1] != index)]
    text = "".join(classes[best[step]] for step in kept)
    return text, float(np.mean([scores[0, step].max() for step in kept] or [0.0]))


def magika_features(content: bytes) -> np.ndarray:
    """The first and the last 1024 bytes without outer blanks, 256 where there are none."""
    config = json.loads((magika_path().parent / "config.min.json").read_text())
    begin, end, pad = config["beg_size"], config["end_size"], config["padding_token"]
    block = config["block_size"]
    head = list(content[:block].lstrip()[:begin])
    tail = list(content[-block:].rstrip()[-end:])
    row = head + [pad] * (begin - len(head)) + [pad] * (end - len(tail)) + tail
    return np.array([row], dtype=np.int32)


def magika_labels() -> list[str]:
    config = json.loads((magika_path().parent / "config.min.json").read_text())
    return config["target_labels_space"]
