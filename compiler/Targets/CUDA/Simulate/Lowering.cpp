//===- Lowering.cpp - The order of the steps, and what they share ---------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace ampc::cuda;

/// Room for 128 accumulators and the operands after them.
static constexpr unsigned packedBytes = 640;

Lowering::Lowering(Module &module, TargetMachine &machine,
                   const SimulateOptions &options)
    : module(module), context(module.getContext()), options(options),
      machine(machine) {
  voidType = Type::getVoidTy(context);
  i1 = Type::getInt1Ty(context);
  i8 = Type::getInt8Ty(context);
  i16 = Type::getInt16Ty(context);
  i32 = Type::getInt32Ty(context);
  i64 = Type::getInt64Ty(context);
  f32 = Type::getFloatTy(context);
  pointer = PointerType::get(context, 0);
  siteType = StructType::get(
      context, {pointer, pointer, pointer, i32, i32, ArrayType::get(i32, 5)});
  siteArray = new GlobalVariable(module, ArrayType::get(siteType, 0), true,
                                 GlobalValue::ExternalLinkage, nullptr,
                                 "ampc_sim_sites_forward");
}

std::string ampc::cuda::describeLocation(const Instruction &instruction) {
  std::string text;
  raw_string_ostream out(text);
  for (const DILocation *at = instruction.getDebugLoc().get(); at;
       at = at->getInlinedAt()) {
    out << (text.empty() ? "" : ", inlined at ") << at->getFilename() << ":"
        << at->getLine() << ":" << at->getColumn();
  }
  return text;
}

void Lowering::fail(const Twine &problem) { problems.push_back(problem.str()); }

void Lowering::fail(const Instruction &at, const Twine &problem) {
  std::string location = describeLocation(at);
  fail("kernel code of " + at.getFunction()->getName() + ": " + problem +
       (location.empty() ? "" : " at " + location));
}

Constant *Lowering::text(StringRef value) {
  Constant *&constant = texts[value];
  if (!constant) {
    Constant *data = ConstantDataArray::getString(context, value);
    auto *global = new GlobalVariable(module, data->getType(), true,
                                      GlobalValue::PrivateLinkage, data);
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    constant = global;
  }
  return constant;
}

Constant *Lowering::makeSite(const Instruction &instruction, StringRef op,
                             ArrayRef<uint32_t> imm, uint32_t use) {
  uint32_t index = nextSite();
  SmallVector<uint32_t, 5> padded(imm);
  padded.resize(5);
  sites.push_back(ConstantStruct::get(
      siteType, {text(instruction.getFunction()->getName()), text(op),
                 text(describeLocation(instruction)),
                 ConstantInt::get(i32, index), ConstantInt::get(i32, use),
                 ConstantDataArray::get(context, ArrayRef<uint32_t>(padded))}));
  return ConstantExpr::getInBoundsGetElementPtr(siteType, siteArray,
                                                ConstantInt::get(i64, index));
}

CallInst *Lowering::callDirect(IRBuilderBase &builder, StringRef callee,
                               Type *resultType, ArrayRef<Value *> operands) {
  SmallVector<Type *> types;
  for (Value *operand : operands) {
    types.push_back(operand->getType());
  }
  auto *type = FunctionType::get(resultType, types, false);
  return builder.CreateCall(module.getOrInsertFunction(callee, type), operands);
}

Value *Lowering::callPacked(Instruction &at, StringRef callee, StringRef op,
                            ArrayRef<Value *> operands, Type *resultType,
                            ArrayRef<uint32_t> imm) {
  Function *function = at.getFunction();
  auto &[in, out] = buffers[function];
  if (!in) {
    IRBuilder<> entry(&*function->getEntryBlock().getFirstInsertionPt());
    in = entry.CreateAlloca(ArrayType::get(i8, packedBytes));
    out = entry.CreateAlloca(ArrayType::get(i8, packedBytes));
    in->setAlignment(Align(16));
    out->setAlignment(Align(16));
  }
  SmallVector<Type *> types;
  for (Value *operand : operands) {
    types.push_back(operand->getType());
  }
  auto *packed = StructType::get(context, types);
  const DataLayout &layout = module.getDataLayout();
  if (layout.getTypeAllocSize(packed) > packedBytes ||
      (!resultType->isVoidTy() &&
       layout.getTypeAllocSize(resultType) > packedBytes)) {
    fail(at, op + " has more operands than there is room for");
    return resultType->isVoidTy() ? nullptr : PoisonValue::get(resultType);
  }
  IRBuilder<> builder(&at);
  for (auto [i, operand] : enumerate(operands)) {
    StoreInst *store = builder.CreateStore(
        operand, builder.CreateStructGEP(packed, in, static_cast<unsigned>(i)));
    if (callee == "ampc_sim_wgmma") {
      store->setMetadata("ampc.wgmma", MDNode::get(context, {}));
    }
  }
  bool gives = !resultType->isVoidTy();
  Value *result =
      gives ? out : static_cast<Value *>(ConstantPointerNull::get(pointer));
  callDirect(builder, callee, voidType, {makeSite(at, op, imm), in, result});
  return gives ? builder.CreateLoad(resultType, out) : nullptr;
}

Value *Lowering::asAddress(IRBuilderBase &builder, Value *value) {
  if (value->getType()->isPointerTy()) {
    return builder.CreatePtrToInt(value, i64);
  }
  return builder.CreateZExtOrTrunc(value, i64);
}

void Lowering::collectKernels() {
  SmallPtrSet<const Function *, 4> annotated;
  if (const NamedMDNode *node = module.getNamedMetadata("nvvm.annotations")) {
    for (const MDNode *row : node->operands()) {
      auto *value = dyn_cast_or_null<ValueAsMetadata>(row->getOperand(0));
      for (unsigned i = 1; value && i + 1 < row->getNumOperands(); i += 2) {
        auto *key = dyn_cast<MDString>(row->getOperand(i));
        if (key && key->getString() == "kernel") {
          annotated.insert(dyn_cast<Function>(value->getValue()));
        }
      }
    }
  }
  for (Function &function : module) {
    if (!function.isDeclaration() &&
        (function.getCallingConv() == CallingConv::PTX_Kernel ||
         annotated.contains(&function))) {
      kernels.push_back(&function);
    }
  }
}

void Lowering::collectGlobals() {
  for (GlobalVariable &global : module.globals()) {
    if (&global == siteArray || global.getName().starts_with("llvm.")) {
      continue;
    }
    if (global.getAddressSpace() == sharedSpace) {
      continue;
    }
    if (!global.hasInitializer()) {
      fail("the variable " + global.getName() + " has no value");
      continue;
    }
    globals.push_back(&global);
  }
}

/// What would make the simulator compute something else than the GPU.
void Lowering::checkFunction(const Function &function) {
  StringRef name = function.getName();
  for (const char *attribute : {"denormal-fp-math-f32", "denormal-fp-math"}) {
    StringRef mode = function.getFnAttribute(attribute).getValueAsString();
    if (!mode.empty() && mode != "ieee" && mode != "ieee,ieee") {
      fail(name + ": flushing of subnormals is not supported");
    }
  }
  StringRef cluster =
      function.getFnAttribute("nvvm.cluster_dim").getValueAsString();
  SmallVector<StringRef> sizes;
  cluster.split(sizes, ',', -1, false);
  for (StringRef size : sizes) {
    if (size.trim() != "1") {
      fail(name + ": expected clusters of one block, got " + cluster);
      break;
    }
  }
}

void Lowering::retarget() {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module) {
    if (!function.isIntrinsic()) {
      function.setCallingConv(CallingConv::C);
    }
    function.removeFnAttr("target-cpu");
    function.removeFnAttr("target-features");
    for (User *user : function.users()) {
      auto *call = dyn_cast<CallBase>(user);
      if (call && !function.isIntrinsic()) {
        call->setCallingConv(CallingConv::C);
      }
    }
  }
}

Error Lowering::run() {
  collectKernels();
  collectGlobals();
  if (kernels.empty()) {
    fail("the module has no kernel");
  }
  SmallVector<Function *> functions;
  for (Function &function : module) {
    if (!function.isDeclaration()) {
      checkFunction(function);
      functions.push_back(&function);
    }
  }
  retarget();
  placeSharedVariables();
  for (Function *function : functions) {
    lowerNarrowFloats(*function);
    instrumentAccesses(*function);
    lowerCalls(*function);
  }
  buildKernelTable();
  if (NamedMDNode *node = module.getNamedMetadata("nvvm.annotations")) {
    node->eraseFromParent();
  }
  StripDebugInfo(module);
  if (!problems.empty()) {
    return createStringError(join(problems, "\n"));
  }
  std::string broken;
  raw_string_ostream out(broken);
  if (verifyModule(module, &out)) {
    return createStringError("the lowered module is broken: " + broken);
  }
  return Error::success();
}

Error ampc::cuda::lowerForSimulator(Module &module, TargetMachine &machine,
                                    const SimulateOptions &options) {
  return Lowering(module, machine, options).run();
}

Error ampc::cuda::emitSimulatorObject(Module &module, TargetMachine &machine,
                                      raw_pwrite_stream &out) {
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, out, nullptr,
                                  CodeGenFileType::ObjectFile)) {
    return createStringError("this machine cannot write object files");
  }
  passes.run(module);
  return Error::success();
}
