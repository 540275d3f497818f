//===- Export.cpp - The decisions as Cast nodes of the original model -----===//
#include "compiler/Export/Export.h"

#include "compiler/Export/GraphRewriter.h"
#include "compiler/Export/TensorStore.h"
#include "compiler/Export/TypePlanner.h"
#include "compiler/Import/Proto/onnx_subset.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

#include <climits>

using namespace llvm;

namespace ampc::exporter {

namespace {
/// Lets protobuf write to an LLVM stream.
class CopyingStream final : public google::protobuf::io::CopyingOutputStream {
public:
  explicit CopyingStream(raw_ostream &os) : os(os) {}
  bool Write(const void *buffer, int size) override {
    os.write(static_cast<const char *>(buffer), size);
    return true;
  }

private:
  raw_ostream &os;
};
} // namespace

LogicalResult exportOnnx(importer::ModelFile &file,
                         const precision::Report &report,
                         const ExportOptions &options, raw_ostream &os,
                         function_ref<raw_ostream *()> openData,
                         importer::ImportDiagnostics &diags) {
  const onnx::ModelProto &original = file.getProto();
  auto checked = importer::checkModel(original, diags);
  if (!checked) {
    return failure();
  }
  DecisionIndex decisions(report);
  ModelPlan plan;
  TypePlanner(original, *checked, decisions, options.keepsIoTypes).run(plan);
  onnx::ModelProto model = original;
  GraphRewriter rewriter(*checked, plan, model, diags);
  if (failed(rewriter.run()) ||
      failed(
          TensorStore(file, rewriter.getConversions(), options, openData, diags)
              .run(model))) {
    return failure();
  }
  if (model.ByteSizeLong() > INT_MAX) {
    return diags.limit("", "the new model is larger than 2 GiB",
                       "its tensors fit beside it: --external-weights=FILE");
  }
  CopyingStream copying(os);
  google::protobuf::io::CopyingOutputStreamAdaptor adaptor(&copying);
  google::protobuf::io::CodedOutputStream coded(&adaptor);
  coded.SetSerializationDeterministic(true);
  model.SerializeWithCachedSizes(&coded);
  return success();
}

} // namespace ampc::exporter
