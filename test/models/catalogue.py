#===- catalogue.py - which models are generated ---------------------------===#
"""The generated models by name, and how to write one to a file."""

import functools
import hashlib
import os
import pathlib

import filled
import small
import transformers
import vision

# The two largest light models, VGG-19 and ZFNet, add size and no new structure.
_FILLED = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50",
           "shufflenet", "squeezenet")

_TINY_BERT = dict(layers=2, hidden=128, heads=4, length=32, vocabulary=1000, positions=64)
_TINY_GPT2 = dict(layers=2, hidden=128, heads=4, length=32, vocabulary=1000, positions=64)

# Name -> function of the name that makes the model.
GENERATED = {
    "resnet50": vision.resnet,
    "mobilenetv2": vision.mobilenet_v2,
    "unet": vision.unet,
    "unet-resize": functools.partial(vision.unet, size=64, width=16, upsample="resize"),
    "bert-base": transformers.bert,
    "bert-base-fused": functools.partial(transformers.bert, form="fused"),
    "gpt2": transformers.gpt2,
    "mlp": small.mlp,
    "conv-bn": small.conv_bn,
    "conv-pool": small.conv_pool,
    "resnet-tiny": functools.partial(vision.resnet, batch=2, size=32, width=16,
                                     blocks=(1, 1, 1, 1), classes=10),
    "bert-tiny": functools.partial(transformers.bert, **_TINY_BERT),
    "bert-tiny-fused": functools.partial(transformers.bert, **_TINY_BERT, form="fused"),
    "bert-tiny-attention": functools.partial(transformers.bert, **_TINY_BERT, form="attention"),
    "gpt2-tiny": functools.partial(transformers.gpt2, **_TINY_GPT2),
    "gpt2-tiny-fused": functools.partial(transformers.gpt2, **_TINY_GPT2, form="fused"),
    "gpt2-tiny-attention": functools.partial(transformers.gpt2, **_TINY_GPT2, form="attention"),
    "matmul-512": functools.partial(small.matmul, m=512, n=512, k=512, constant_b=False),
    "matmul-1024": functools.partial(small.matmul, m=1024, n=1024, k=1024, constant_b=False),
    "matmul-1024x768x3072": functools.partial(small.matmul, m=1024, n=3072, k=768,
                                              constant_b=False),
    "matmul-512-constb": functools.partial(small.matmul, m=512, n=512, k=512, constant_b=True),
    "matmul-1024-constb": functools.partial(small.matmul, m=1024, n=1024, k=1024,
                                            constant_b=True),
    "matmul-1024x768x3072-constb": functools.partial(small.matmul, m=1024, n=3072, k=768,
                                                     constant_b=True),
    **{f"filled-{light}": (lambda _, light=light: filled.fill(light)) for light in _FILLED},
}


_GENERATORS = ("builder.py", "catalogue.py", "filled.py", "small.py", "transformers.py",
               "vision.py")


def _source_hash() -> str:
    """Changes whenever a generator's text does."""
    digest = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).parent.glob("*.py")):
        if path.name in _GENERATORS:
            digest.update(path.read_bytes())
    return digest.hexdigest()


def generate(name: str, folder: pathlib.Path) -> pathlib.Path:
    """The path of model `name` in `folder`, written unless it is up to date."""
    path, stamp = folder / f"{name}.onnx", folder / f".{name}.stamp"
    wanted = _source_hash()
    if path.exists() and stamp.exists() and stamp.read_text() == wanted:
        return path
    folder.mkdir(parents=True, exist_ok=True)
    data = GENERATED[name](name).SerializeToString(deterministic=True)
    partial = folder / f".{name}.{os.getpid()}.part"
    partial.write_bytes(data)
    partial.rename(path)
    stamp.write_text(wanted)
    return path
