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

llvm::Constant *buildTensors(TableBuilder &t, ArrayAttr names, ArrayAttr types,
                             StringRef what) {
  SmallVector<llvm::Constant *> descs;
  for (auto [name, typeAttr] : llvm::zip_equal(names, types)) {
    auto type = cast<RankedTensorType>(cast<TypeAttr>(typeAttr).getValue());
    SmallVector<llvm::Constant *> dims;
    for (int64_t dim : type.getShape()) {
      dims.push_back(t.int64(dim));
    }
    descs.push_back(t.record({t.string(cast<StringAttr>(name).getValue()),
                              t.int32(dtypeOf(type.getElementType())),
                              t.int32(type.getRank()), t.array(dims, "dims"),
                              t.int64(byteSize(type))}));
  }
  return t.array(descs, what);
}

llvm::Constant *buildBuffer(TableBuilder &t, rt::BufferAttr buffer) {
  return t.record({t.int32(static_cast<uint32_t>(buffer.getRegion())),
                   t.int32(buffer.getIndex()), t.size(buffer.getOffset())});
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
  llvm::StringMap<uint32_t> kernelIndex;
  for (auto kernel : module.getOps<amp::KernelOp>()) {
    llvm::Constant *code = t.null();
    if (llvm::Function *function = output.getFunction(kernel.getName())) {
      function->setLinkage(llvm::GlobalValue::InternalLinkage);
      code = function;
    }
    const KernelLaunch &launch = launches.find(kernel.getName())->second;
    kernelIndex[kernel.getName()] = kernels.size();
    kernels.push_back(
        t.record({t.string(kernel.getName()), code, t.int64(launch.items),
                  t.int64(launch.grain), t.int64(launch.scratchBytes)}));
  }

  SmallVector<llvm::Constant *> nodes;
  auto zeroSize = rt::SizeAttr::get(module.getContext(), 0, 0);
  auto addNode = [&](ampc_node_kind kind, uint32_t kernel,
                     ArrayRef<llvm::Constant *> buffers, rt::SizeAttr bytes,
                     StringRef label) {
    nodes.push_back(
        t.record({t.int32(kind), t.int32(kernel), t.int32(buffers.size()),
                  t.int32(0), t.array(buffers, "buffers"), t.size(bytes),
                  t.string(label), t.null()}));
  };
  for (Operation &op : program.getBody().front()) {
    if (auto launch = dyn_cast<rt::LaunchOp>(op)) {
      SmallVector<llvm::Constant *> buffers;
      for (Attribute buffer : launch.getBuffers()) {
        buffers.push_back(buildBuffer(t, cast<rt::BufferAttr>(buffer)));
      }
      addNode(AMPC_NODE_LAUNCH, kernelIndex.lookup(launch.getKernel()), buffers,
              zeroSize, launch.getLabel());
    } else if (auto copy = dyn_cast<rt::CopyOp>(op)) {
      addNode(
          AMPC_NODE_COPY, 0,
          {buildBuffer(t, copy.getSource()), buildBuffer(t, copy.getTarget())},
          copy.getBytes(), copy.getLabel());
    } else {
      return op.emitOpError("cannot be part of a program");
    }
  }

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
      t.int32(program.getInputNames().size()),
      t.int32(program.getOutputNames().size()),
      buildTensors(t, program.getInputNames(), program.getInputTypes(),
                   "inputs"),
      buildTensors(t, program.getOutputNames(), program.getOutputTypes(),
                   "outputs"),
      t.size(program.getArena()),
      weights,
      t.int64(program.getWeights().getFixed()),
      options.weightsFile.empty() ? t.null() : t.string(options.weightsFile),
      t.int64(options.weightsFileOffset),
      t.int32(kernels.size()),
      t.int32(0),
      t.array(kernels, "kernels"),
      t.record({t.int32(nodes.size()), t.array(nodes, "nodes")}),
      t.int64(parts.cpuFeatures),
      buildImages(t, module, parts.images)};
  llvm::Constant *value = t.record(fields);
  new llvm::GlobalVariable(output, value->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, value,
                           options.programSymbol);
  return success();
}
