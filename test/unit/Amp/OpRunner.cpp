//===- OpRunner.cpp - Single amp ops, compiled and run --------------------===//
#include "test/unit/Amp/OpRunner.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Parser/Parser.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace ampc;
using namespace ampc::test;

ParsedOp ampc::test::parseOp(StringRef name, StringRef attributes,
                             StringRef type) {
  auto signature = cast<FunctionType>(parseType(type, &getContext()));
  std::string text, arguments;
  llvm::raw_string_ostream os(text), list(arguments);
  os << "func.func @f(";
  for (auto [i, input] : llvm::enumerate(signature.getInputs())) {
    os << (i ? ", " : "") << "%a" << i << ": " << input;
    list << (i ? ", " : "") << "%a" << i;
  }
  os << ") {\n  %r = " << name << " " << arguments << " " << attributes << " : "
     << type << "\n  return\n}\n";
  ParsedOp result;
  result.module = parseSourceString<ModuleOp>(text, &getContext());
  if (!result.module) {
    llvm::report_fatal_error(llvm::StringRef("cannot parse:\n" + text));
  }
  result.module->walk([&](func::FuncOp function) {
    result.op = &function.getBody().front().front();
  });
  return result;
}

static Type computeTypeOf(Value tensor) {
  return getComputeType(getElementTypeOrSelf(tensor.getType()));
}

std::unique_ptr<Jit> ampc::test::compileElementwise(Operation *op,
                                                    int64_t lanes) {
  SmallVector<Type> inputs;
  for (Value operand : op->getOperands()) {
    inputs.push_back(computeTypeOf(operand));
  }
  return compileMap(inputs, lanes,
                    [&](OpBuilder &b, Location loc, ValueRange operands) {
                      return cast<ScalarBodyOpInterface>(op).buildScalarBody(
                          b, loc, operands);
                    });
}

namespace {
/// Reads operands from the buffers that the function's arguments stand for.
class BufferBuilder final : public ElementBuilder {
public:
  BufferBuilder(OpBuilder &b, Location loc, int64_t lanes, ValueRange buffers)
      : ElementBuilder(b, loc, lanes), buffers(buffers) {}

  FailureOr<Value> getOperand(OpOperand &operand,
                              ArrayRef<LaneIndex> index) override {
    Value offset = this->index(0);
    int64_t step = 0, stride = 1;
    auto shape = cast<RankedTensorType>(operand.get().getType()).getShape();
    EXPECT_EQ(shape.size(), index.size());
    for (size_t i = shape.size(); i-- > 0;) {
      offset = add(offset, mul(index[i].base, stride));
      step += index[i].step * stride;
      stride *= shape[i];
    }
    Type element = computeTypeOf(operand.get());
    Value buffer = buffers[operand.getOperandNumber()];
    if (step == 1 && lanes > 1) {
      return readLanes(b, loc, buffer, offset, element, lanes);
    }
    if (step == 0 || lanes == 1) {
      return splat(readLanes(b, loc, buffer, offset, element, 1));
    }
    Value result = constant(element, 0);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value one =
          readLanes(b, loc, buffer, add(offset, lane * step), element, 1);
      result = vector::InsertOp::create(b, loc, one, result, lane);
    }
    return result;
  }

  FailureOr<Value> getScalarOperand(OpOperand &operand,
                                    ArrayRef<Value> index) override {
    int64_t saved = std::exchange(lanes, 1);
    SmallVector<LaneIndex> uniform;
    for (Value i : index) {
      uniform.push_back({i, 0});
    }
    FailureOr<Value> value = getOperand(operand, uniform);
    lanes = saved;
    return value;
  }

private:
  ValueRange buffers;
};
} // namespace

std::unique_ptr<Jit> ampc::test::compileIndexed(Operation *op, int64_t lanes) {
  auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  unsigned inputs = op->getNumOperands();
  auto body = [&](OpBuilder &b, Location loc, ValueRange args) {
    BufferBuilder eb(b, loc, lanes, args);
    SmallVector<LaneIndex> index;
    Value linear = eb.index(0);
    for (auto [i, size] : llvm::enumerate(shape)) {
      bool last = i + 1 == shape.size();
      int64_t step = last ? lanes : 1;
      auto loop = scf::ForOp::create(b, loc, eb.index(0), eb.index(size),
                                     eb.index(step));
      b.setInsertionPointToStart(loop.getBody());
      index.push_back({loop.getInductionVar(), last && lanes > 1 ? 1 : 0});
      linear = eb.add(eb.mul(linear, size), loop.getInductionVar());
    }
    FailureOr<Value> value =
        cast<IndexedOpInterface>(op).buildElement(eb, index, 0);
    if (failed(value)) {
      return failure();
    }
    writeLanes(b, loc, eb.splat(*value), args[inputs], linear);
    while (isa<scf::ForOp>(b.getInsertionBlock()->getParentOp())) {
      b.setInsertionPointAfter(b.getInsertionBlock()->getParentOp());
    }
    return success();
  };
  return Jit::compile(inputs + 1, body);
}

GuardedCopy::GuardedCopy(const void *source, size_t bytes, bool atEnd) {
  size_t page = sysconf(_SC_PAGESIZE);
  size_t inner = llvm::alignTo(std::max<size_t>(bytes, 1), page);
  length = inner + 2 * page;
  void *mapped =
      mmap(nullptr, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    llvm::report_fatal_error("cannot map pages");
  }
  pages = static_cast<char *>(mapped);
  if (mprotect(pages + page, inner, PROT_READ | PROT_WRITE) != 0) {
    llvm::report_fatal_error("cannot protect pages");
  }
  data = pages + page + (atEnd ? inner - bytes : 0);
  memcpy(data, source, bytes);
}

GuardedCopy::~GuardedCopy() { munmap(pages, length); }
