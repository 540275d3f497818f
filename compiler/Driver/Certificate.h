//===- Certificate.h - What was measured of a precision policy --*- C++ -*-===//
#ifndef AMPC_COMPILER_DRIVER_CERTIFICATE_H
#define AMPC_COMPILER_DRIVER_CERTIFICATE_H

#include "compiler/Driver/Compilation.h"
#include "compiler/Tune/Divergence.h"
#include "llvm/Support/JSON.h"

namespace ampc::driver {

/// One measurement of a program against fp32.
struct Measurement {
  uint64_t sets = 0; ///< number of data sets
  double error = 0;  ///< the largest of an output
  std::string hash;  ///< SHA-256 of the data
  /// given (as files), split (from the files of --data) or varied (made of
  /// them). No path: a program does not depend on where its data lay.
  std::string source;
};

/// States by how much a program of a model differs from the one in fp32, on
/// which data, under which policy.
class Certificate {
public:
  Certificate() = default;
  /// For the model, and under the policy, of `compilation`.
  Certificate(Compilation &compilation, const tune::ErrorBound &bound);

  /// The measurement that the bound was checked on, then the other one.
  void setTuning(const Measurement &measured);
  void setHeldOut(const Measurement &measured);

  bool isEmpty() const { return object.empty(); }
  llvm::json::Object toJson() const { return object; }
  /// A policy file with the certificate's rules, and the certificate in it.
  llvm::json::Object makePolicy() const;

  /// The certificate that came with the policy file, if it is one of this model
  /// under this policy; else an empty one, after a warning that says why.
  static Certificate fromPolicy(Compilation &compilation);

private:
  llvm::json::Object object;
};

/// SHA-256 of the model's file and of the external data that it refers to.
std::string hashModel(const Compilation &compilation);

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_CERTIFICATE_H
