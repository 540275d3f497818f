#===- transformers.py - BERT and GPT-2 ------------------------------------===#
"""Transformers, decomposed as exporters write them or with ONNX's own ops.

`form` selects the vocabulary:
  "decomposed"  opset 13: LayerNorm and GELU spelled out in primitives
  "fused"       opset 20: LayerNormalization and Gelu
  "attention"   opset 23: also Attention
"""

import math

import numpy as np
from onnx import TensorProto

from builder import GraphBuilder

_OPSET = {"decomposed": 13, "fused": 20, "attention": 23}
_LOWEST = float(np.finfo(np.float32).min)


class Transformer(GraphBuilder):
    """The layers that both models are made of."""

    def __init__(self, name: str, form: str, seed: int, hidden: int, heads: int,
                 batch: int, length: int):
        super().__init__(name, _OPSET[form], seed)
        self.form, self.hidden, self.heads = form, hidden, heads
        self.batch, self.length = batch, length

    def reduce_mean(self, x: str) -> str:
        if self.opset < 18:
            return self.node("ReduceMean", x, axes=[-1], keepdims=1)
        return self.node("ReduceMean", x, self.constant([-1], np.int64), keepdims=1)

    def layer_norm(self, x: str, name: str, epsilon: float) -> str:
        with self.scope(name):
            gamma = self.weight("weight", self.uniform(0.8, 1.2, self.hidden))
            beta = self.weight("bias", self.normal(self.hidden, std=0.1))
            if self.form != "decomposed":
                return self.node("LayerNormalization", x, gamma, beta, axis=-1, epsilon=epsilon)
            centred = self.node("Sub", x, self.reduce_mean(x))
            variance = self.reduce_mean(self.node("Pow", centred, self.constant(2.0)))
            deviation = self.node("Sqrt", self.node("Add", variance, self.constant(epsilon)))
            normal = self.node("Div", centred, deviation)
            return self.node("Add", self.node("Mul", normal, gamma), beta)

    def gelu(self, x: str) -> str:
        """Exact GELU: x (1 + erf(x / sqrt 2)) / 2."""
        if self.form != "decomposed":
            return self.node("Gelu", x, approximate="none")
        erf = self.node("Erf", self.node("Div", x, self.constant(math.sqrt(2))))
        product = self.node("Mul", x, self.node("Add", erf, self.constant(1.0)))
        return self.node("Mul", product, self.constant(0.5))

    def gelu_tanh(self, x: str) -> str:
        """GPT-2's GELU: x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2."""
        if self.form != "decomposed":
            return self.node("Gelu", x, approximate="tanh")
        half = self.node("Mul", x, self.constant(0.5))
        cube = self.node("Mul", self.node("Pow", x, self.constant(3.0)), self.constant(0.044715))
        inner = self.node("Mul", self.node("Add", x, cube), self.constant(math.sqrt(2 / math.pi)))
        tanh = self.node("Add", self.node("Tanh", inner), self.constant(1.0))
        return self.node("Mul", half, tanh)

    def shape(self, *dims: int) -> str:
        return self.constant(dims, np.int64)

    def split_heads(self, x: str, perm) -> str:
        dims = self.shape(self.batch, self.length, self.heads, self.hidden // self.heads)
        return self.node("Transpose", self.node("Reshape", x, dims), perm=perm)

    def attend(self, q: str, k: str, v: str, mask) -> str:
        """Attention of [batch, length, hidden] projections; `mask(scores)` masks."""
        scale = math.sqrt(self.hidden // self.heads)
        q = self.split_heads(q, [0, 2, 1, 3])
        k = self.split_heads(k, [0, 2, 3, 1])
        v = self.split_heads(v, [0, 2, 1, 3])
        scores = self.node("Div", self.node("MatMul", q, k), self.constant(scale))
        weights = self.node("Softmax", mask(scores), axis=-1)
        context = self.node("Transpose", self.node("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.node("Reshape", context, self.shape(self.batch, self.length, self.hidden))

    def attend_op(self, q: str, k: str, v: str, *mask: str, causal=False) -> str:
        """The same by ONNX's Attention on three-dimensional operands."""
        return self.node("Attention", q, k, v, *mask, is_causal=int(causal),
                         q_num_heads=self.heads, kv_num_heads=self.heads)


def bert(name: str, *, batch=1, length=128, layers=12, hidden=768, heads=12, vocabulary=30522,
         positions=512, form="decomposed", seed=7):
    """BERT encoder with pooler: ids, mask and types in; hidden states and pooled out."""
    g = Transformer(name, form, seed, hidden, heads, batch, length)
    ids = g.input("input_ids", [batch, length], TensorProto.INT64)
    keep = g.input("attention_mask", [batch, length], TensorProto.INT64)
    types = g.input("token_type_ids", [batch, length], TensorProto.INT64)

    # (1 - mask) times the lowest number, added to the scores.
    keep = g.node("Unsqueeze", keep, g.constant([1], np.int64))
    keep = g.node("Unsqueeze", keep, g.constant([2], np.int64))
    keep = g.node("Cast", keep, to=TensorProto.FLOAT)
    penalty = g.node("Mul", g.node("Sub", g.constant(1.0), keep), g.constant(_LOWEST))

    if form == "attention":
        penalty = g.node("Expand", penalty, g.shape(batch, 1, length, length))

    with g.scope("embeddings"):
        words = g.weight("word_embeddings.weight", g.normal(vocabulary, hidden, std=0.5))
        kinds = g.weight("token_type_embeddings.weight", g.normal(2, hidden, std=0.2))
        places = g.weight("position_embeddings.weight", g.normal(positions, hidden, std=0.2))
        x = g.node("Add", g.node("Gather", words, ids), g.node("Gather", kinds, types))
        order = g.constant(np.arange(length).reshape(1, length), np.int64)
        x = g.node("Add", x, g.node("Gather", places, order))
        x = g.layer_norm(x, "LayerNorm", 1e-12)

    std = 1.2 / math.sqrt(hidden)
    for layer in range(layers):
        with g.scope(f"encoder.layer.{layer}"):
            x = _bert_layer(g, x, penalty, std)
    g.output("last_hidden_state", x)
    with g.scope("pooler"):
        first = g.node("Gather", "last_hidden_state", g.constant(0, np.int64), axis=1)
        g.output("pooler_output", g.node("Tanh", g.gemm(first, hidden, hidden, std=std, name="dense")))
    return g.finish()


def _bert_layer(g: Transformer, x: str, penalty: str, std: float) -> str:
    hidden = g.hidden
    with g.scope("attention"):
        with g.scope("self"):
            q, k, v = (g.linear(x, hidden, hidden, std=std, name=part)
                       for part in ("query", "key", "value"))
            if g.form == "attention":
                y = g.attend_op(q, k, v, penalty)
            else:
                y = g.attend(q, k, v, lambda scores: g.node("Add", scores, penalty))
        with g.scope("output"):
            y = g.linear(y, hidden, hidden, std=std, name="dense")
            x = g.layer_norm(g.node("Add", y, x), "LayerNorm", 1e-12)
    with g.scope("intermediate"):
        y = g.gelu(g.linear(x, hidden, 4 * hidden, std=std, name="dense"))
    with g.scope("output"):
        y = g.linear(y, 4 * hidden, hidden, std=std / 2, name="dense")
        return g.layer_norm(g.node("Add", y, x), "LayerNorm", 1e-12)


def gpt2(name: str, *, batch=1, length=64, layers=12, hidden=768, heads=12, vocabulary=50257,
         positions=1024, form="decomposed", seed=124):
    """GPT-2 with its language-model head tied to the token embedding."""
    g = Transformer(name, form, seed, hidden, heads, batch, length)
    ids = g.input("input_ids", [batch, length], TensorProto.INT64)
    wte = g.weight("transformer.wte.weight", g.normal(vocabulary, hidden, std=0.08))
    wpe = g.weight("transformer.wpe.weight", g.normal(positions, hidden, std=0.04))
    order = g.constant(np.arange(length).reshape(1, length), np.int64)
    x = g.node("Add", g.node("Gather", wte, ids), g.node("Gather", wpe, order))
    causal = np.tril(np.ones((1, 1, length, length), dtype=bool))

    for layer in range(layers):
        with g.scope(f"transformer.h.{layer}"):
            x = _gpt2_layer(g, x, causal)
    x = g.layer_norm(x, "transformer.ln_f", 1e-5)
    with g.scope("lm_head"):
        logits = g.node("MatMul", x, g.node("Transpose", wte, perm=[1, 0]))
    g.output("logits", logits)
    return g.finish()


def _gpt2_layer(g: Transformer, x: str, causal: np.ndarray) -> str:
    hidden, std = g.hidden, 0.7 / math.sqrt(g.hidden)

    def project(value: str, cin: int, cout: int, name: str, gain=1.0) -> str:
        # HF's Conv1D: addmm on the flattened rows, weight stored [in, out].
        with g.scope(name):
            rows = g.node("Reshape", value, g.shape(-1, cin))
            weight = g.weight("weight", g.normal(cin, cout, std=gain * std))
            bias = g.weight("bias", g.normal(cout, std=0.02))
            rows = g.node("Gemm", rows, weight, bias, alpha=1.0, beta=1.0)
            return g.node("Reshape", rows, g.shape(g.batch, g.length, cout))

    def mask(scores: str) -> str:
        keep = g.constant(causal, bool)
        return g.node("Where", keep, scores, g.constant(_LOWEST))

    y = g.layer_norm(x, "ln_1", 1e-5)
    with g.scope("attn"):
        qkv = project(y, hidden, 3 * hidden, "c_attn")
        sizes = g.constant([hidden] * 3, np.int64)
        q, k, v = g.node("Split", qkv, sizes, outputs=3, axis=2)
        if g.form == "attention":
            y = g.attend_op(q, k, v, causal=True)
        else:
            y = g.attend(q, k, v, mask)
        x = g.node("Add", project(y, hidden, hidden, "c_proj", 0.5), x)
    y = g.layer_norm(x, "ln_2", 1e-5)
    with g.scope("mlp"):
        y = g.gelu_tanh(project(y, hidden, 4 * hidden, "c_fc"))
        return g.node("Add", x, project(y, 4 * hidden, hidden, "c_proj", 0.5))
