//===- KernelTable.cpp - Entries and the description of a module ----------===//
#include "compiler/Targets/CUDA/Simulate/Lowering.h"

#include "ampc/sim_abi.h"

using namespace llvm;
using namespace ampc::cuda;

/// "x,y,z" of a function attribute; zeros where it is absent.
static std::array<uint32_t, 3> dimensions(const Function &function,
                                          StringRef attribute) {
  std::array<uint32_t, 3> sizes = {0, 0, 0};
  StringRef text = function.getFnAttribute(attribute).getValueAsString();
  if (text.empty()) {
    return sizes;
  }
  sizes = {1, 1, 1};
  for (uint32_t &size : sizes) {
    auto [first, rest] = text.split(',');
    first.trim().getAsInteger(10, size);
    text = rest;
    if (text.empty()) {
      break;
    }
  }
  return sizes;
}

void Lowering::buildKernelTable() {
  auto array = [&](Type *type, ArrayRef<Constant *> items,
                   const Twine &name) -> Constant * {
    auto *arrayType = ArrayType::get(type, items.size());
    return new GlobalVariable(module, arrayType, true,
                              GlobalValue::PrivateLinkage,
                              ConstantArray::get(arrayType, items), name);
  };
  auto number = [&](uint64_t value) { return ConstantInt::get(i32, value); };
  auto wide = [&](uint64_t value) { return ConstantInt::get(i64, value); };
  const DataLayout &layout = module.getDataLayout();

  auto *variableType = StructType::get(context, {pointer, i32, i32});
  auto *globalType = StructType::get(context, {pointer, pointer, i64, i64});
  SmallVector<Constant *> globalRows;
  for (GlobalVariable *global : globals) {
    StringRef name = global->getName();
    uint64_t bytes = layout.getTypeAllocSize(global->getValueType());
    globalRows.push_back(ConstantStruct::get(
        globalType,
        {text(name.empty() ? "a constant" : name),
         ConstantExpr::getPointerBitCastOrAddrSpaceCast(global, pointer),
         wide(bytes), wide(!global->isConstant())}));
  }

  auto *paramType = StructType::get(context, {i32, i32});
  auto *kernelType =
      StructType::get(context, {pointer, pointer, pointer, pointer, i32, i32,
                                i32, i32, ArrayType::get(i32, 3), i32});
  SmallVector<Constant *> entries;
  for (Function *kernel : kernels) {
    // The entry of a thread takes its parameters as cuLaunchKernel does.
    auto *entry =
        Function::Create(FunctionType::get(voidType, {pointer}, false),
                         GlobalValue::InternalLinkage,
                         "ampc_sim_entry_" + kernel->getName(), module);
    IRBuilder<> builder(BasicBlock::Create(context, "", entry));
    SmallVector<Value *> arguments;
    SmallVector<Constant *> params;
    for (Argument &argument : kernel->args()) {
      Value *address = builder.CreateLoad(
          pointer, builder.CreateConstGEP1_32(pointer, entry->getArg(0),
                                              argument.getArgNo()));
      Type *type = argument.getType();
      uint64_t alignment = layout.getABITypeAlign(type).value();
      if (Type *byValue = argument.getParamByValType()) {
        type = byValue;
        alignment = argument.getParamAlign().valueOrOne().value();
        // The simulator's copy is the parameter itself.
        arguments.push_back(address);
      } else {
        arguments.push_back(builder.CreateLoad(type, address));
      }
      params.push_back(
          ConstantStruct::get(paramType, {number(layout.getTypeStoreSize(type)),
                                          number(alignment)}));
    }
    for (unsigned i = 0; i < kernel->arg_size(); ++i) {
      kernel->removeParamAttr(i, Attribute::ByVal);
    }
    builder.CreateCall(kernel, arguments);
    builder.CreateRetVoid();
    SmallVector<Constant *> variables;
    uint64_t end = 0, dynamicOffset = 0;
    for (const SharedVariable &variable : sharedVariables) {
      if (!variable.kernels.contains(kernel)) {
        continue;
      }
      variables.push_back(ConstantStruct::get(
          variableType, {text(variable.name), number(variable.offset),
                         number(variable.bytes)}));
      if (variable.bytes) {
        end = std::max<uint64_t>(end, variable.offset + variable.bytes);
      } else {
        dynamicOffset = std::max<uint64_t>(dynamicOffset, variable.offset);
      }
    }
    uint64_t staticShared = end ? end + gapBytes : 0;
    auto block = dimensions(*kernel, "nvvm.reqntid");
    auto most = dimensions(*kernel, "nvvm.maxntid");
    entries.push_back(ConstantStruct::get(
        kernelType,
        {text(kernel->getName()), entry,
         array(paramType, params, "ampc_sim_params"),
         array(variableType, variables, "ampc_sim_variables"),
         number(params.size()), number(variables.size()), number(staticShared),
         number(dynamicOffset), ConstantDataArray::get(context, block),
         number(most[0] * most[1] * most[2])}));
    kernel->setLinkage(GlobalValue::InternalLinkage);
  }

  auto *sitesType = ArrayType::get(siteType, sites.size());
  auto *allSites = new GlobalVariable(
      module, sitesType, true, GlobalValue::InternalLinkage,
      ConstantArray::get(sitesType, sites), "ampc_sim_sites");
  siteArray->replaceAllUsesWith(allSites);
  siteArray->eraseFromParent();
  siteArray = allSites;

  Constant *fields[] = {number(AMPC_SIM_MAGIC),
                        number(AMPC_SIM_ABI_VERSION),
                        number(entries.size()),
                        number(globalRows.size()),
                        number(sites.size()),
                        number(options.arch),
                        array(kernelType, entries, "ampc_sim_kernels"),
                        array(globalType, globalRows, "ampc_sim_globals"),
                        allSites};
  Constant *description = ConstantStruct::getAnon(fields);
  new GlobalVariable(module, description->getType(), true,
                     GlobalValue::ExternalLinkage, description,
                     options.moduleSymbol);
}
