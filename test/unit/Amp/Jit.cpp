//===- Jit.cpp - Runs built code in the test's own process ----------------===//
#include "test/unit/Amp/Jit.h"

#include "compiler/Registration/Registration.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace ampc::test;

MLIRContext &ampc::test::getContext() {
  static MLIRContext *context = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    DialectRegistry registry;
    registerDialects(registry);
    registerPasses();
    registerAllToLLVMIRTranslations(registry);
    auto *result = new MLIRContext(registry, MLIRContext::Threading::DISABLED);
    result->loadAllAvailableDialects();
    return result;
  }();
  return *context;
}

static Type inMemory(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8)
                              : element;
}

static Value address(OpBuilder &b, Location loc, Value base, Value index,
                     Type element) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  return LLVM::GEPOp::create(b, loc, base.getType(), inMemory(element), base,
                             ValueRange{offset});
}

Value ampc::test::readLanes(OpBuilder &b, Location loc, Value base, Value index,
                            Type element, int64_t lanes) {
  Type stored = inMemory(element);
  auto shaped = [&](Type type) {
    return lanes == 1 ? type : VectorType::get({lanes}, type);
  };
  unsigned alignment = stored.getIntOrFloatBitWidth() / 8;
  Value value = LLVM::LoadOp::create(
      b, loc, shaped(stored), address(b, loc, base, index, element), alignment);
  return stored == element
             ? value
             : arith::TruncIOp::create(b, loc, shaped(element), value);
}

void ampc::test::writeLanes(OpBuilder &b, Location loc, Value value, Value base,
                            Value index) {
  Type element = getElementTypeOrSelf(value.getType());
  Type stored = inMemory(element);
  if (stored != element) {
    auto vector = dyn_cast<VectorType>(value.getType());
    value = arith::ExtUIOp::create(
        b, loc, vector ? vector.clone(stored) : stored, value);
  }
  LLVM::StoreOp::create(b, loc, value, address(b, loc, base, index, element),
                        stored.getIntOrFloatBitWidth() / 8);
}

std::unique_ptr<Jit> Jit::compile(unsigned pointers, Body body) {
  MLIRContext &context = getContext();
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  b.setInsertionPointToEnd(module->getBody());
  Type pointer = LLVM::LLVMPointerType::get(&context);
  auto function = func::FuncOp::create(
      b, loc, "entry", b.getFunctionType({pointer, b.getI64Type()}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  SmallVector<Value> values;
  for (unsigned i = 0; i < pointers; ++i) {
    Value slot =
        LLVM::GEPOp::create(b, loc, pointer, pointer, function.getArgument(0),
                            ArrayRef<LLVM::GEPArg>{int32_t(i)});
    values.push_back(LLVM::LoadOp::create(b, loc, pointer, slot));
  }
  values.push_back(arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                              function.getArgument(1)));
  if (failed(body(b, loc, values))) {
    return nullptr;
  }
  func::ReturnOp::create(b, loc);

  PassManager passes(&context);
  if (failed(parsePassPipeline(
          "convert-scf-to-cf,convert-math-to-llvm,convert-math-to-libm,"
          "convert-vector-to-llvm,convert-arith-to-llvm,convert-index-to-llvm,"
          "convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts",
          passes)) ||
      failed(passes.run(*module))) {
    llvm::report_fatal_error("lowering failed");
  }
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto llvmModule = translateModuleToLLVMIR(*module, *llvmContext);
  if (!llvmModule) {
    llvm::report_fatal_error("translation failed");
  }
  auto result = std::make_unique<Jit>();
  auto machine =
      llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  result->jit = llvm::cantFail(
      llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(machine).create());
  auto &library = result->jit->getMainJITDylib();
  library.addGenerator(llvm::cantFail(
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
          result->jit->getDataLayout().getGlobalPrefix())));
  llvm::cantFail(result->jit->addIRModule(llvm::orc::ThreadSafeModule(
      std::move(llvmModule), std::move(llvmContext))));
  result->entry = llvm::cantFail(result->jit->lookup("entry"))
                      .toPtr<void(const void *const *, int64_t)>();
  return result;
}

void Jit::run(ArrayRef<const void *> pointers, int64_t count) const {
  entry(pointers.data(), count);
}

std::unique_ptr<Jit> ampc::test::compileMap(
    ArrayRef<Type> inputs, int64_t lanes,
    function_ref<Value(OpBuilder &, Location, ValueRange)> build) {
  return Jit::compile(inputs.size() + 1, [&](OpBuilder &b, Location loc,
                                             ValueRange args) {
    Value zero = arith::ConstantIndexOp::create(b, loc, 0);
    Value step = arith::ConstantIndexOp::create(b, loc, lanes);
    scf::ForOp::create(
        b, loc, zero, args.back(), step, ValueRange(),
        [&](OpBuilder &b, Location loc, Value i, ValueRange) {
          SmallVector<Value> operands;
          for (auto [pointer, type] : llvm::zip(args, inputs)) {
            operands.push_back(readLanes(b, loc, pointer, i, type, lanes));
          }
          writeLanes(b, loc, build(b, loc, operands), args[inputs.size()], i);
          scf::YieldOp::create(b, loc);
        });
    return success();
  });
}
