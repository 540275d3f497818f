#===- vision.py - ResNet, MobileNetV2, U-Net ------------------------------===#
"""Convolutional networks in the form that exporters give them.

BatchNormalization stays a node of its own, since folding it is the compiler's
work. The gain of the last normalisation of a residual branch is small, as it is
in trained networks; otherwise the sums would grow with depth.
"""

import numpy as np

from builder import GraphBuilder


def resnet(name: str, *, batch=1, size=224, width=64, blocks=(3, 4, 6, 3), classes=1000,
           opset=13, seed=50):
    """ResNet v1.5 with bottleneck blocks: the stride is on the 3x3 convolution."""
    g = GraphBuilder(name, opset, seed)
    x = g.input("input", [batch, 3, size, size])
    x = g.conv(x, 3, width, 7, stride=2, name="conv1")
    x = g.node("Relu", g.batch_norm(x, width, name="bn1"))
    x = g.node("MaxPool", x, ceil_mode=0, kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2])
    cin = width
    for stage, count in enumerate(blocks):
        mid = width << stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            with g.scope(f"layer{stage + 1}"), g.scope(str(block)):
                x = _bottleneck(g, x, cin, mid, stride)
            cin = 4 * mid
    x = g.node("GlobalAveragePool", x)
    x = g.node("Flatten", x, axis=1)
    g.output("output", g.gemm(x, cin, classes, std=1.5 / np.sqrt(cin)))
    return g.finish()


def _bottleneck(g: GraphBuilder, x: str, cin: int, mid: int, stride: int) -> str:
    cout = 4 * mid
    y = g.node("Relu", g.batch_norm(g.conv(x, cin, mid, 1, name="conv1"), mid, name="bn1"))
    y = g.conv(y, mid, mid, 3, stride=stride, name="conv2")
    y = g.node("Relu", g.batch_norm(y, mid, name="bn2"))
    y = g.batch_norm(g.conv(y, mid, cout, 1, name="conv3"), cout, gain=0.3, name="bn3")
    if stride != 1 or cin != cout:
        with g.scope("downsample"):
            x = g.conv(x, cin, cout, 1, stride=stride, name="0")
            x = g.batch_norm(x, cout, gain=0.7, name="1")
    return g.node("Relu", g.node("Add", y, x))


# Expansion, output channels, repeats, stride of each group of blocks.
_MOBILENET_GROUPS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                     (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]


def mobilenet_v2(name: str, *, batch=1, size=224, classes=1000, opset=13, seed=2):
    """MobileNetV2: inverted residuals, depthwise convolutions, ReLU6 as Clip."""
    g = GraphBuilder(name, opset, seed)

    def relu6(x: str) -> str:
        return g.node("Clip", x, g.constant(0.0), g.constant(6.0))

    x = g.input("input", [batch, 3, size, size])
    with g.scope("features.0"):
        x = relu6(g.batch_norm(g.conv(x, 3, 32, 3, stride=2, name="0"), 32, name="1"))
    cin, index = 32, 1
    for expansion, cout, repeats, first_stride in _MOBILENET_GROUPS:
        for repeat in range(repeats):
            stride = first_stride if repeat == 0 else 1
            hidden = cin * expansion
            with g.scope(f"features.{index}"):
                y = x
                if expansion != 1:
                    y = g.conv(y, cin, hidden, 1, name="expand")
                    y = relu6(g.batch_norm(y, hidden, name="expand_bn"))
                y = g.conv(y, hidden, hidden, 3, stride=stride, groups=hidden, name="depthwise")
                y = relu6(g.batch_norm(y, hidden, name="depthwise_bn"))
                y = g.conv(y, hidden, cout, 1, name="project")
                residual = stride == 1 and cin == cout
                y = g.batch_norm(y, cout, gain=0.4 if residual else 0.9, name="project_bn")
                x = g.node("Add", x, y) if residual else y
            cin, index = cout, index + 1
    with g.scope(f"features.{index}"):
        x = relu6(g.batch_norm(g.conv(x, cin, 1280, 1, name="0"), 1280, name="1"))
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output("output", g.gemm(x, 1280, classes, std=0.1, name="classifier"))
    return g.finish()


def unet(name: str, *, batch=1, size=128, width=32, depth=4, classes=2, upsample="transpose",
         opset=13, seed=15):
    """U-Net with normalisation; `upsample` is "transpose" or "resize".

    "transpose" widens by a 2x2 ConvTranspose, "resize" by bilinear Resize and a
    1x1 convolution, the two forms in use.
    """
    g = GraphBuilder(name, opset, seed)
    x = g.input("image", [batch, 3, size, size])
    skips, cin = [], 3
    for level in range(depth):
        with g.scope(f"down{level}"):
            x = _double_conv(g, x, cin, width << level)
            skips.append(x)
            x = g.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
        cin = width << level
    with g.scope("bottom"):
        x = _double_conv(g, x, cin, 2 * cin)
    for level in reversed(range(depth)):
        cout = width << level
        with g.scope(f"up{level}"):
            x = _upsample(g, x, 2 * cout, cout, upsample)
            x = g.node("Concat", skips[level], x, axis=1)
            x = _double_conv(g, x, 2 * cout, cout)
    g.output("logits", g.conv(x, width, classes, 1, bias=True, name="head"))
    return g.finish()


def _double_conv(g: GraphBuilder, x: str, cin: int, cout: int) -> str:
    for index, channels in enumerate((cin, cout)):
        x = g.conv(x, channels, cout, 3, name=f"conv{index}")
        x = g.node("Relu", g.batch_norm(x, cout, name=f"bn{index}"))
    return x


def _upsample(g: GraphBuilder, x: str, cin: int, cout: int, how: str) -> str:
    if how == "transpose":
        with g.scope("up"):
            # Each result pixel sees one tap per input channel.
            weight = g.weight("weight", g.normal(cin, cout, 2, 2, std=np.sqrt(2 / cin)))
            bias = g.weight("bias", g.normal(cout, std=0.05))
            return g.node("ConvTranspose", x, weight, bias, dilations=[1, 1], group=1,
                          kernel_shape=[2, 2], pads=[0] * 4, strides=[2, 2])
    scales = g.constant([1.0, 1.0, 2.0, 2.0])
    x = g.node("Resize", x, "", scales, coordinate_transformation_mode="half_pixel",
               mode="linear", cubic_coeff_a=-0.75, nearest_mode="floor")
    return g.conv(x, cin, cout, 1, bias=True, name="up")
