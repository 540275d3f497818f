//===- convert_elements.h - From a file's type to an input's --------------===//
#ifndef AMPC_RUNTIME_TRAINING_CONVERT_ELEMENTS_H
#define AMPC_RUNTIME_TRAINING_CONVERT_ELEMENTS_H

#include "runtime/core/dtype.h"

namespace ampc::runtime {

/// How elements of one type become those of another. Integers become integers,
/// floats become floats; nothing else, as a conversion of pixels to floats
/// would leave open by what they are to be divided.
struct ElementConversion {
  uint32_t from = 0; // an ampc_dtype or dtypeRaw16
  uint32_t to = 0;
  bool rounds = false; // values of `from` may not be values of `to`

  bool isCopy() const;
  /// Converts `count` elements, which do not overlap. An integer, or a bool of
  /// neither 0 nor 1, that `to` does not have is AMPC_INVALID.
  Status apply(const void *source, void *target, uint64_t count) const;
};

/// AMPC_INVALID, saying what to do, if there is no conversion.
Status findConversion(uint32_t from, uint32_t to, ElementConversion *out);

} // namespace ampc::runtime

#endif // AMPC_RUNTIME_TRAINING_CONVERT_ELEMENTS_H
