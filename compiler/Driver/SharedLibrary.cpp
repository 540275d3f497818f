//===- SharedLibrary.cpp - A program as a library for C -------------------===//
#include "compiler/Driver/SharedLibrary.h"

#include "compiler/Driver/ExitCodes.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace ampc::driver {

std::string makeModelName(StringRef output) {
  StringRef stem = sys::path::stem(output);
  if (sys::path::extension(output) == ".so") {
    stem.consume_front("lib");
  }
  std::string name;
  for (char c : stem) {
    name += isAlnum(c) ? c : '_';
  }
  if (name.empty() || isDigit(name.front())) {
    name.insert(0, "model_");
  }
  return name;
}

namespace {

/// One function of the library: its name behind `<name>_`, what it calls, and
/// both types in LLVM IR and C.
struct Function {
  const char *name;
  const char *callee;
  const char *result;
  const char *params;    // types of the parameters
  bool takesProgram;     // the callee's first argument is the program
  const char *signature; // in C, with {0} for the name of the model
  const char *comment;
};

} // namespace

static constexpr Function functions[] = {
    {"options_init", "ampc_session_options_init", "void", "ptr", false,
     "void {0}_options_init(ampc_session_options *out_options)",
     "Fills in the defaults."},
    {"create", "ampc_session_create", "ptr", "ptr,ptr", true,
     "ampc_status {0}_create(const ampc_session_options *options, ampc_session "
     "*out_session)",
     "Prepares the model for running; `options` may be NULL. Everything is\n * "
     " "
     "allocated here: running allocates nothing."},
    {"destroy", "ampc_session_destroy", "void", "ptr", false,
     "void {0}_destroy(ampc_session session)",
     "Stops the threads and frees everything; NULL is allowed."},
    {"run", "ampc_session_run", "ptr", "ptr,ptr,ptr", false,
     "ampc_status {0}_run(ampc_session session, const void *const *inputs, "
     "void "
     "*const *outputs)",
     "Runs once. `inputs` and `outputs` hold one pointer for each tensor "
     "listed\n"
     " *  above, to dense row-major data. A session runs in one thread at a "
     "time."},
    {"input", "ampc_session_input", "ptr", "ptr,i32", false,
     "const ampc_tensor_desc *{0}_input(ampc_session session, uint32_t index)",
     "Describes an input; NULL if there is none of this index."},
    {"output", "ampc_session_output", "ptr", "ptr,i32", false,
     "const ampc_tensor_desc *{0}_output(ampc_session session, uint32_t index)",
     "Describes an output; NULL if there is none of this index."},
    {"status_code", "ampc_status_code", "i32", "ptr", false,
     "ampc_code {0}_status_code(ampc_status status)",
     "AMPC_OK for NULL, which is success."},
    {"status_message", "ampc_status_message", "ptr", "ptr", false,
     "const char *{0}_status_message(ampc_status status)",
     "One line of text; lives as long as `status`."},
    {"status_free", "ampc_status_free", "void", "ptr", false,
     "void {0}_status_free(ampc_status status)",
     "Frees a status; NULL is allowed."},
};

/// The functions as LLVM IR.
static std::string printIr(StringRef name, StringRef programSymbol) {
  std::string text;
  raw_string_ostream os(text);
  os << formatv("@{0} = external hidden constant i8\n", programSymbol);
  for (const Function &function : functions) {
    SmallVector<StringRef> types;
    StringRef(function.params).split(types, ',');
    std::string params, args;
    for (auto [i, type] : enumerate(types)) {
      params += formatv("{0}{1} %{2}", i ? ", " : "", type, i).str();
    }
    std::string calleeTypes = join(types, ", ");
    args = params;
    if (function.takesProgram) {
      calleeTypes = "ptr, " + calleeTypes;
      args = ("ptr @" + programSymbol + ", " + params).str();
    }
    bool isVoid = StringRef(function.result) == "void";
    os << formatv("declare hidden {0} @{1}({2})\n", function.result,
                  function.callee, calleeTypes);
    os << formatv("define {0} @{1}_{2}({3}) nounwind {{\n", function.result,
                  name, function.name, params);
    os << formatv("  {0}tail call {1} @{2}({3})\n",
                  isVoid ? "" : "%r = ", function.result, function.callee,
                  args);
    os << formatv("  ret {0}{1}\n}\n", function.result, isVoid ? "" : " %r");
  }
  return text;
}

LogicalResult emitLibraryFunctions(StringRef name, StringRef programSymbol,
                                   raw_pwrite_stream &os,
                                   DiagnosticSink &sink) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  LLVMContext context;
  SMDiagnostic wrong;
  std::unique_ptr<Module> module =
      parseAssemblyString(printIr(name, programSymbol), wrong, context);
  Triple triple("x86_64-unknown-linux-gnu");
  std::string error;
  const llvm::Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!module || !target) {
    return sink.error(ExitCode::Internal,
                      "cannot make the library's functions: " +
                          (module ? error : wrong.getMessage().str()));
  }
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, "x86-64", "", TargetOptions(), Reloc::PIC_));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   CodeGenFileType::ObjectFile)) {
    return sink.error(ExitCode::Internal, "LLVM cannot write objects");
  }
  passes.run(*module);
  return success();
}

void printVersionScript(StringRef name, raw_ostream &os) {
  os << "{ global: " << name << "_*; local: *; };\n";
}

//===----------------------------------------------------------------------===//
// Header
//===----------------------------------------------------------------------===//

/// What all libraries of ampc share; ampc/runtime.h has the same definitions.
static constexpr StringLiteral sharedTypes =
    R"(/* Types that all models share; ampc/runtime.h defines them as well. */
#if !defined(AMPC_RUNTIME_H) && !defined(AMPC_MODEL_TYPES)
#define AMPC_MODEL_TYPES
typedef struct ampc_tensor_desc {
  const char *name;
  uint32_t dtype; /* as ONNX numbers TensorProto.DataType */
  uint32_t rank;
  const int64_t *dims;
  uint64_t bytes;
} ampc_tensor_desc;
typedef enum ampc_code {
  AMPC_OK = 0, AMPC_COMPARISON_FAILED = 1, AMPC_USAGE = 2, AMPC_INVALID = 3,
  AMPC_UNSUPPORTED = 4, AMPC_IO = 5, AMPC_LIMIT = 6, AMPC_TOOLCHAIN = 7,
  AMPC_DEVICE = 8, AMPC_PEER_LOST = 9, AMPC_CHECKPOINT = 10, AMPC_INTERNAL = 70
} ampc_code;
typedef const struct ampc_status_s *ampc_status;
typedef struct ampc_session_s *ampc_session;
typedef struct ampc_session_options {
  size_t struct_size;
  uint32_t num_threads; /* 0: all */
  uint32_t debug_arena;
  const char *device;
  const char *weights_dir; /* of a weight file; NULL: beside the library */
} ampc_session_options;
#endif
)";

/// A name from the model inside a C comment.
static std::string commentSafe(StringRef name) {
  std::string text;
  for (unsigned char c : name) {
    text += c < 0x20 || c == 0x7f || c == '*' || c == '\\' ? '?' : char(c);
  }
  return text;
}

static void printTensors(StringRef name, StringRef kind, mlir::ArrayAttr names,
                         mlir::ArrayAttr types, raw_ostream &os) {
  std::string prefix = name.upper() + "_" + kind.upper();
  os << "#define " << name.upper() << "_NUM_" << kind.upper() << "S "
     << names.size() << '\n';
  for (auto [i, attrs] : enumerate(zip_equal(names, types))) {
    auto [nameAttr, typeAttr] = attrs;
    auto type =
        cast<mlir::RankedTensorType>(cast<mlir::TypeAttr>(typeAttr).getValue());
    uint64_t width = divideCeil(type.getElementTypeBitWidth(), 8);
    os << formatv("#define {0}_{1}_BYTES {2}u /* \"{3}\": ", prefix, i,
                  width * type.getNumElements(),
                  commentSafe(cast<mlir::StringAttr>(nameAttr).getValue()));
    for (int64_t dim : type.getShape()) {
      os << dim << 'x';
    }
    os << type.getElementType() << " */\n";
  }
}

void printLibraryHeader(StringRef name, mlir::ModuleOp module,
                        raw_ostream &os) {
  std::string guard = name.upper() + "_AMPC_MODEL_H";
  os << "/* The model " << name << ", compiled by ampc. Link with -l" << name
     << ". */\n#ifndef " << guard << "\n#define " << guard
     << "\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << sharedTypes << '\n';
  for (auto program : module.getOps<rt::ProgramOp>()) {
    printTensors(name, "input", program.getInputNames(),
                 program.getInputTypes(), os);
    printTensors(name, "output", program.getOutputNames(),
                 program.getOutputTypes(), os);
  }
  for (const Function &function : functions) {
    os << "\n/** " << function.comment << " */\n"
       << formatv(function.signature, name) << ";\n";
  }
  os << "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
}

} // namespace ampc::driver
