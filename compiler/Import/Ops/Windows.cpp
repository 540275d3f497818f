//===- Windows.cpp - What convolutions and pools have in common -----------===//
#include "compiler/Import/Ops/Windows.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ampc::importer {

/// Checks the length and range of a list, or fills in a default.
static LogicalResult complete(Node &n, SmallVector<int64_t> &list,
                              StringRef name, size_t size, int64_t otherwise,
                              int64_t min) {
  constexpr int64_t max = int64_t(1) << 31;
  if (list.empty()) {
    list.assign(size, otherwise);
  }
  if (list.size() != size) {
    return n.invalid("expected " + Twine(size) + " " + name + ", got " +
                     Twine(list.size()));
  }
  for (int64_t value : list) {
    if (value < min || value > max) {
      return n.invalid("one of its " + name + " is " + Twine(value));
    }
  }
  return success();
}

/// Pads such that the result has ceil(dim / stride) elements.
static void padToSame(Window &window, ArrayRef<int64_t> spatial, bool isUpper) {
  size_t rank = spatial.size();
  window.pads.assign(2 * rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    int64_t size = llvm::divideCeil(static_cast<uint64_t>(spatial[i]),
                                    static_cast<uint64_t>(window.strides[i]));
    int64_t total = std::max<int64_t>(
        (size - 1) * window.strides[i] + span - spatial[i], 0);
    int64_t small = total / 2, large = total - small;
    window.pads[i] = isUpper ? small : large;
    window.pads[i + rank] = isUpper ? large : small;
  }
}

std::optional<Window> readWindow(Node &n, Value x, ArrayRef<int64_t> kernel) {
  Window window;
  std::string autoPad = n.attrs.getString("auto_pad", "NOTSET");
  window.kernel = n.attrs.getInts("kernel_shape");
  window.strides = n.attrs.getInts("strides");
  window.dilations = n.attrs.getInts("dilations");
  window.pads = n.attrs.getInts("pads");
  int64_t xRank = n.rank(x);
  if (xRank < 3 || xRank > 5) {
    (void)(xRank < 3
               ? n.invalid("expected a rank of 3 or more, got " + Twine(xRank))
               : n.unsupported("more than 3 spatial dimensions"));
    return std::nullopt;
  }
  size_t rank = xRank - 2;
  ArrayRef<int64_t> spatial = n.shape(x).drop_front(2);
  if (!kernel.empty()) {
    if (kernel.size() != rank || (!window.kernel.empty() &&
                                  ArrayRef<int64_t>(window.kernel) != kernel)) {
      (void)n.invalid("its kernel_shape, weight and input do not fit");
      return std::nullopt;
    }
    window.kernel.assign(kernel.begin(), kernel.end());
  } else if (window.kernel.empty()) {
    (void)n.invalid("it has no kernel_shape");
    return std::nullopt;
  }
  if (failed(complete(n, window.kernel, "kernel_shape entries", rank, 1, 1)) ||
      failed(complete(n, window.strides, "strides", rank, 1, 1)) ||
      failed(complete(n, window.dilations, "dilations", rank, 1, 1)) ||
      failed(complete(n, window.pads, "pads", 2 * rank, 0, 0))) {
    return std::nullopt;
  }
  if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
    padToSame(window, spatial, autoPad == "SAME_UPPER");
  } else if (autoPad == "VALID") {
    window.pads.assign(2 * rank, 0);
  } else if (autoPad != "NOTSET") {
    (void)n.invalid("unknown auto_pad '" + printableName(autoPad) + "'");
    return std::nullopt;
  }
  return window;
}

} // namespace ampc::importer
