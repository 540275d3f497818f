//===- RemarkForwarder.cpp - Remarks of passes, as findings ---------------===//
#include "compiler/Driver/RemarkForwarder.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace ampc::driver {

namespace {
/// Hands each remark to the sink as it comes.
class RemarkForwarder final
    : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkForwarder(DiagnosticSink &sink) : sink(sink) {}

  void streamOptimizationRemark(
      const mlir::remark::detail::Remark &remark) override {
    Finding finding;
    finding.severity = Severity::Remark;
    finding.where = describeLocation(remark.getLocation());
    raw_string_ostream os(finding.message);
    os << remark.getCategoryName() << ": " << remark.getRemarkName() << ": ";
    for (const auto &arg : remark.getArgs()) {
      // What a pass streams has this key; a metric has its own.
      if (arg.key != "Remark") {
        os << (StringRef(finding.message).ends_with(" ") ? "" : ", ") << arg.key
           << "=";
      }
      os << arg.val;
    }
    sink.report(finding);
  }
  void finalize() override {}

private:
  DiagnosticSink &sink;
};
} // namespace

LogicalResult forwardRemarks(mlir::MLIRContext &context, StringRef pattern,
                             DiagnosticSink &sink) {
  std::string whole = ("^(" + pattern + ")$").str();
  std::string error;
  if (!Regex(whole).isValid(error)) {
    return sink.error(ExitCode::Usage, "--remarks: expected a regular "
                                       "expression, got '" +
                                           pattern + "': " + error);
  }
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = categories.analysis =
      categories.failed = whole;
  return mlir::remark::enableOptimizationRemarks(
      context, std::make_unique<RemarkForwarder>(sink),
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories);
}

} // namespace ampc::driver
