//===- Registration.h - Everything ampc registers, in one place -----------===//
#ifndef AMPC_COMPILER_REGISTRATION_REGISTRATION_H
#define AMPC_COMPILER_REGISTRATION_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ampc {
/// Adds the dialects of ampc and those upstream dialects that it uses, with all
/// interface implementations.
void registerDialects(mlir::DialectRegistry &registry);

/// Registers the passes and pipelines of ampc, and upstream's passes.
void registerPasses();
} // namespace ampc

#endif // AMPC_COMPILER_REGISTRATION_REGISTRATION_H
