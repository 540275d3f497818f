//===- ProgramTable.cpp - The ampc_program of a module as LLVM data -------===//
// The layouts here mirror runtime/include/ampc/abi.h field by field.
#include "compiler/Targets/Codegen/ProgramTable.h"

#include "ampc/abi.h"
#include "dialects/Rt/IR/RtDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace ampc;
using namespace ampc::codegen;

namespace {

/// The ONNX number of an element type.
uint32_t dtypeOf(Type element) {
  if (element.isF32()) {
    return AMPC_DTYPE_F32;
  }
  if (element.isF64()) {
    return AMPC_DTYPE_F64;
  }
  if (element.isF16()) {
    return AMPC_DTYPE_F16;
  }
  if (element.isBF16()) {
    return AMPC_DTYPE_BF16;
  }
  auto integer = cast<IntegerType>(element);
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return AMPC_DTYPE_BOOL;
  case 8:
    return isUnsigned ? AMPC_DTYPE_U8 : AMPC_DTYPE_I8;
  case 16:
    return isUnsigned ? AMPC_DTYPE_U16 : AMPC_DTYPE_I16;
  case 32:
    return isUnsigned ? AMPC_DTYPE_U32 : AMPC_DTYPE_I32;
  default:
    return isUnsigned ? AMPC_DTYPE_U64 : AMPC_DTYPE_I64;
  }
}

uint64_t byteSize(RankedTensorType type) {
  uint64_t width =
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  return width * static_cast<uint64_t>(type.getNumElements());
}

class TableBuilder {
public:
  explicit TableBuilder(llvm::Module &module)
      : module(module), context(module.getContext()),
        i32(llvm::Type::getInt32Ty(context)),
        i64(llvm::Type::getInt64Ty(context)),
        pointer(llvm::PointerType::get(context, 0)) {}

  llvm::Constant *int32(uint64_t value) {
    return llvm::ConstantInt::get(i32, value);
  }
  llvm::Constant *int64(uint64_t value) {
    return llvm::ConstantInt::get(i64, value);
  }
  llvm::Constant *null() { return llvm::ConstantPointerNull::get(pointer); }
  llvm::Constant *size(rt::SizeAttr attr) {
    return record({int64(attr.getFixed()), int64(attr.getPerSample())});
  }
  llvm::Constant *record(ArrayRef<llvm::Constant *> fields) {
    return llvm::ConstantStruct::getAnon(context, fields);
  }
  /// A private constant; null when empty.
  llvm::Constant *array(ArrayRef<llvm::Constant *> elements,
                        const llvm::Twine &name) {
    if (elements.empty()) {
      return null();
    }
    auto *type = llvm::ArrayType::get(elements[0]->getType(), elements.size());
    return global(llvm::ConstantArray::get(type, elements), name);
  }
  llvm::Constant *string(StringRef text) {
    auto [it, inserted] = strings.try_emplace(text, nullptr);
    if (inserted) {
      it->second =
          global(llvm::ConstantDataArray::getString(context, text), "s");
    }
    return it->second;
  }
  /// A module of GPU code, behind which a zero byte follows.
  llvm::Constant *code(StringRef data) {
    auto *variable = cast<llvm::GlobalVariable>(
        global(llvm::ConstantDataArray::getString(context, data), "code"));
    variable->setAlignment(llvm::Align(16)); // a cubin is an ELF file
    return variable;
  }
  llvm::Constant *global(llvm::Constant *value, const llvm::Twine &name) {
    auto *variable = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, value, "ampc." + name);
    return variable;
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::Type *i32, *i64;
  llvm::PointerType *pointer;

private:
  llvm::StringMap<llvm::Constant *> strings;
};

llvm::Constant *buildTensor(TableBuilder &t, StringRef name, Type of) {
  auto type = cast<RankedTensorType>(of);
  SmallVector<llvm::Constant *> dims;
  for (int64_t dim : type.getShape()) {
    dims.push_back(t.int64(dim));
  }
  return t.record({t.string(name), t.int32(dtypeOf(type.getElementType())),
                   t.int32(type.getRank()), t.array(dims, "dims"),
                   t.int64(byteSize(type))});
}

void addTensors(TableBuilder &t, ArrayAttr names, ArrayAttr types,
                SmallVectorImpl<llvm::Constant *> &descs) {
  for (auto [name, type] : llvm::zip_equal(names, types)) {
    descs.push_back(buildTensor(t, cast<StringAttr>(name).getValue(),
                                cast<TypeAttr>(type).getValue()));
  }
}

llvm::Constant *buildBuffer(TableBuilder &t, rt::BufferAttr buffer,
                            uint64_t bytes, uint32_t dtype) {
  return t.record({t.int32(static_cast<uint32_t>(buffer.getRegion())),
                   t.int32(buffer.getIndex()), t.size(buffer.getOffset()),
                   t.int64(bytes), t.int32(dtype), t.int32(0)});
}

/// The ampc_node_list of the launches and copies in a block.
class NodeListBuilder {
public:
  NodeListBuilder(TableBuilder &t, ModuleOp module) : t(t), symbols(module) {
    uint32_t number = 0;
    for (auto kernel : module.getOps<amp::KernelOp>()) {
      kernelIndex[kernel.getNameAttr()] = number++;
    }
  }

  llvm::Constant *build(Block &block) {
    SmallVector<llvm::Constant *> nodes;
    for (Operation &op : block) {
      if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
        nodes.push_back(buildLaunch(launch));
      } else if (auto copy = dyn_cast<rt::CopyOp>(op)) {
        nodes.push_back(buildCopy(copy));
      }
    }
    return t.record({t.int32(nodes.size()), t.array(nodes, "nodes")});
  }

private:
  llvm::Constant *buildLaunch(rt::LaunchOp launch) {
    StringAttr name = launch.getKernelAttr().getAttr();
    auto kernel = symbols.lookup<amp::KernelOp>(name);
    SmallVector<Type> types(kernel.getArgumentTypes());
    llvm::append_range(types, kernel.getResultTypes());
    SmallVector<llvm::Constant *> buffers;
    for (auto [buffer, of] : llvm::zip_equal(launch.getBuffers(), types)) {
      auto type = cast<RankedTensorType>(of);
      buffers.push_back(buildBuffer(t, cast<rt::BufferAttr>(buffer),
                                    byteSize(type),
                                    dtypeOf(type.getElementType())));
    }
    auto none = rt::SizeAttr::get(launch.getContext(), 0, 0);
    return buildNode(AMPC_NODE_LAUNCH, kernelIndex.lookup(name), buffers,
                     kernel.getResultTypes().size(), none, launch.getLabel());
  }

  llvm::Constant *buildCopy(rt::CopyOp copy) {
    uint64_t bytes = copy.getBytes().getFixed();
    return buildNode(AMPC_NODE_COPY, 0,
                     {buildBuffer(t, copy.getSource(), bytes, AMPC_DTYPE_U8),
                      buildBuffer(t, copy.getTarget(), bytes, AMPC_DTYPE_U8)},
                     /*numOutputs=*/1, copy.getBytes(), copy.getLabel());
  }

  llvm::Constant *buildNode(ampc_node_kind kind, uint32_t kernel,
                            ArrayRef<llvm::Constant *> buffers,
                            uint32_t numOutputs, rt::SizeAttr bytes,
                            StringRef label) {
    return t.record({t.int32(kind), t.int32(kernel), t.int32(buffers.size()),
                     t.int32(numOutputs), t.array(buffers, "buffers"),
                     t.size(bytes), t.string(label), t.null()});
  }

  TableBuilder &t;
  SymbolTable symbols;
  DenseMap<StringAttr, uint32_t> kernelIndex;
};

llvm::Constant *buildStates(TableBuilder &t, rt::ProgramOp program,
                            uint32_t &count) {
  SmallVector<llvm::Constant *> states;
  for (auto state : program.getBody().getOps<rt::StateOp>()) {
    auto initial = state.getInitial();
    states.push_back(t.record({buildTensor(t, state.getName(), state.getType()),
                               t.int64(state.getOffset()),
                               t.int64(initial ? *initial : AMPC_NO_INITIAL),
                               t.int32(static_cast<uint32_t>(state.getRole())),
                               t.int32(0)}));
  }
  count = states.size();
  return t.array(states, "states");
}

/// The parameters of each kernel of `module`: its arguments, then its results.
SmallVector<std::pair<llvm::Constant *, size_t>> buildParams(TableBuilder &t,
                                                             ModuleOp module) {
  SmallVector<std::pair<llvm::Constant *, size_t>> all;
  for (auto kernel : module.getOps<amp::KernelOp>()) {
    SmallVector<llvm::Constant *> params;
    auto add = [&](ArrayRef<Type> types, bool isOutput) {
      for (Type type : types) {
        params.push_back(
            t.record({t.int64(byteSize(cast<RankedTensorType>(type))),
                      t.int32(isOutput), t.int32(0)}));
      }
    };
    add(kernel.getArgumentTypes(), false);
    add(kernel.getResultTypes(), true);
    all.emplace_back(t.array(params, "params"), params.size());
  }
  return all;
}

llvm::Constant *buildTensorMaps(TableBuilder &t,
                                ArrayRef<ampc_gpu_tensor_map> maps) {
  auto &context = t.context;
  SmallVector<llvm::Constant *> records;
  for (const ampc_gpu_tensor_map &map : maps) {
    records.push_back(
        t.record({t.int32(map.param), t.int32(map.dtype), t.int32(map.rank),
                  t.int32(map.swizzle),
                  llvm::ConstantDataArray::get(context, ArrayRef(map.sizes)),
                  llvm::ConstantDataArray::get(context, ArrayRef(map.strides)),
                  llvm::ConstantDataArray::get(context, ArrayRef(map.box)),
                  t.int32(0)}));
  }
  return t.array(records, "tensor_maps");
}

/// Something that another object, or the runtime, defines.
llvm::Constant *external(TableBuilder &t, StringRef name) {
  if (llvm::GlobalVariable *known = t.module.getNamedGlobal(name)) {
    return known;
  }
  auto *variable = new llvm::GlobalVariable(
      t.module, llvm::Type::getInt8Ty(t.context), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, nullptr, name);
  variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return variable;
}

/// The ampc_gpu_code of a program; null without images.
llvm::Constant *buildImages(TableBuilder &t, ModuleOp module,
                            ArrayRef<GpuImage> images) {
  if (images.empty()) {
    return t.null();
  }
  auto params = buildParams(t, module);
  SmallVector<llvm::Constant *> entries;
  for (const GpuImage &image : images) {
    SmallVector<llvm::Constant *> launches;
    for (auto [launch, param] : llvm::zip_equal(image.launches, params)) {
      SmallVector<llvm::Constant *> fields{t.string(launch.symbol)};
      for (uint32_t size : launch.grid) {
        fields.push_back(t.int32(size));
      }
      for (uint32_t size : launch.block) {
        fields.push_back(t.int32(size));
      }
      fields.push_back(t.int32(launch.sharedBytes));
      fields.push_back(t.int32(param.second));
      fields.push_back(param.first);
      fields.push_back(t.int32(launch.tensorMaps.size()));
      fields.push_back(t.int32(launch.module));
      fields.push_back(buildTensorMaps(t, launch.tensorMaps));
      fields.push_back(t.int64(launch.workspaceBytes));
      launches.push_back(t.record(fields));
    }
    bool simulated = image.kind == AMPC_GPU_IMAGE_SIMULATOR;
    SmallVector<llvm::Constant *> modules;
    for (const std::string &data : image.modules) {
      modules.push_back(t.record({simulated ? external(t, data) : t.code(data),
                                  t.int64(simulated ? 0 : data.size())}));
    }
    entries.push_back(
        t.record({t.int32(image.architecture), t.int32(image.kind),
                  t.int32(modules.size()), t.int32(0),
                  t.array(modules, "modules"), t.array(launches, "launches")}));
  }
  StringRef device = images.front().kind == AMPC_GPU_IMAGE_SIMULATOR
                         ? "ampc_sim_device"
                         : "ampc_cuda_device";
  return t.global(t.record({t.int32(entries.size()), t.int32(0),
                            t.array(entries, "images"), external(t, device)}),
                  "gpu");
}

} // namespace

LogicalResult
codegen::addProgramTable(ModuleOp module,
                         const llvm::StringMap<KernelLaunch> &launches,
                         const CodegenOptions &options,
                         const ProgramParts &parts, llvm::Module &output) {
  auto programs = module.getOps<rt::ProgramOp>();
  if (programs.empty()) {
    return module.emitError("expected an rt.program to emit");
  }
  rt::ProgramOp program = *programs.begin();
  TableBuilder t(output);

  // Kernels in the module's order.
  SmallVector<llvm::Constant *> kernels;
  for (auto kernel : module.getOps<amp::KernelOp>()) {
    llvm::Constant *code = t.null();
    if (llvm::Function *function = output.getFunction(kernel.getName())) {
      function->setLinkage(llvm::GlobalValue::InternalLinkage);
      code = function;
    }
    const KernelLaunch &launch = launches.find(kernel.getName())->second;
    kernels.push_back(
        t.record({t.string(kernel.getName()), code, t.int64(launch.items),
                  t.int64(launch.grain), t.int64(launch.scratchBytes)}));
  }

  SmallVector<llvm::Constant *> inputs, outputs, entries;
  addTensors(t, program.getInputNames(), program.getInputTypes(), inputs);
  addTensors(t, program.getOutputNames(), program.getOutputTypes(), outputs);
  size_t numInputs = inputs.size(), numOutputs = outputs.size();
  NodeListBuilder nodeLists(t, module);
  llvm::Constant *mainNodes = nodeLists.build(program.getBody().front());
  for (auto entry : program.getBody().getOps<rt::EntryOp>()) {
    uint32_t firstInput = inputs.size(), firstOutput = outputs.size();
    addTensors(t, entry.getInputNames(), entry.getInputTypes(), inputs);
    addTensors(t, entry.getOutputNames(), entry.getOutputTypes(), outputs);
    entries.push_back(
        t.record({t.string(entry.getName()), t.int32(firstInput),
                  t.int32(inputs.size() - firstInput), t.int32(firstOutput),
                  t.int32(outputs.size() - firstOutput),
                  nodeLists.build(entry.getBody().front())}));
  }
  uint32_t numStates = 0;
  llvm::Constant *states = buildStates(t, program, numStates);

  llvm::Constant *weights = t.null();
  bool linked =
      options.weightsFile.empty() && program.getWeights().getFixed() != 0;
  if (linked) {
    weights = new llvm::GlobalVariable(
        output, llvm::Type::getInt8Ty(t.context), /*isConstant=*/true,
        llvm::GlobalValue::ExternalLinkage, nullptr, options.weightsSymbol);
    cast<llvm::GlobalVariable>(weights)->setVisibility(
        llvm::GlobalValue::HiddenVisibility);
  }
  // The importer keeps the name of the ONNX graph.
  auto graphName = module->getAttrOfType<StringAttr>("amp.graph_name");
  // Fields in the order of ampc_program.
  SmallVector<llvm::Constant *> fields{
      t.int32(AMPC_ABI_VERSION),
      t.int32(sizeof(ampc_program)),
      t.string(graphName ? graphName.getValue() : program.getSymName()),
      t.string(options.producer),
      t.string(options.metadata),
      t.int32(numInputs),
      t.int32(numOutputs),
      t.array(inputs, "inputs"),
      t.array(outputs, "outputs"),
      t.size(program.getArena()),
      weights,
      t.int64(program.getWeights().getFixed()),
      options.weightsFile.empty() ? t.null() : t.string(options.weightsFile),
      t.int64(options.weightsFileOffset),
      t.int32(kernels.size()),
      t.int32(0),
      t.array(kernels, "kernels"),
      mainNodes,
      t.int64(parts.cpuFeatures),
      buildImages(t, module, parts.images),
      t.int64(
          program.getConstantBytes().value_or(program.getWeights().getFixed())),
      t.int32(entries.size()),
      t.int32(numStates),
      t.array(entries, "entries"),
      states,
      t.int64(program.getStateBytes().value_or(0)),
      t.int64(program.getControlBytes().value_or(0)),
      entries.empty() ? t.null() : external(t, "ampc_training")};
  llvm::Constant *value = t.record(fields);
  new llvm::GlobalVariable(output, value->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, value,
                           options.programSymbol);
  return success();
}
