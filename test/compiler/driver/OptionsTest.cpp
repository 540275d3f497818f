//===- OptionsTest.cpp - Command lines as values --------------------------===//
#include "compiler/Driver/DiagnosticSink.h"
#include "compiler/Driver/SharedLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace ampc;
using namespace ampc::driver;

static Options parse(ArrayRef<const char *> args, std::string *text = nullptr) {
  std::string said;
  raw_string_ostream os(said);
  DiagnosticSink sink(os, DiagnosticForm::Text);
  Options options = parseOptions(args, sink);
  if (text) {
    *text = said;
  } else {
    EXPECT_EQ(said, "");
  }
  return options;
}

TEST(Options, Sizes) {
  EXPECT_EQ(parseSize("0"), 0u);
  EXPECT_EQ(parseSize("4096"), 4096u);
  EXPECT_EQ(parseSize("3K"), 3072u);
  EXPECT_EQ(parseSize("512MiB"), 512ull << 20);
  EXPECT_EQ(parseSize("8g"), 8ull << 30);
  EXPECT_EQ(parseSize("16777215T"), 16777215ull << 40);
  for (const char *bad : {"", "K", "-1", "1.5G", "1X", "16777216T",
                          "99999999999999999999", "1 K"}) {
    EXPECT_EQ(parseSize(bad), std::nullopt) << bad;
  }
}

TEST(Options, ShapesSplitAtTheLastColon) {
  Options options = parse({"m.onnx", "-o", "o", "--shapes=a:0:1x2,b:,c:0x5",
                           "--dim_params", "N=8,a=b=2"});
  ASSERT_EQ(options.shapes.size(), 3u);
  EXPECT_EQ(options.shapes[0].first, "a:0");
  EXPECT_EQ(options.shapes[0].second, (SmallVector<int64_t>{1, 2}));
  EXPECT_EQ(options.shapes[1].second, SmallVector<int64_t>());
  EXPECT_EQ(options.shapes[2].second, (SmallVector<int64_t>{0, 5}));
  ASSERT_EQ(options.dimParams.size(), 2u);
  EXPECT_EQ(options.dimParams[1].first, "a=b");
  EXPECT_EQ(options.dimParams[1].second, 2);
}

TEST(Options, ProgramOptionsAreHandedOn) {
  Options options = parse({"run", "m.onnx", "--input", "x=@x.npy", "--amp=bf16",
                           "--threads=3", "--profile"});
  EXPECT_EQ(options.command, Command::Run);
  EXPECT_EQ(options.amp, "bf16");
  EXPECT_EQ(options.threads, 3u);
  EXPECT_EQ(options.programArgs,
            (std::vector<std::string>{"--input=x=@x.npy", "--threads=3",
                                      "--profile"}));
}

TEST(Options, OnlyNamesAreNormalized) {
  Options options = parse({"-o", "o", "--dump_phases_to=a_b", "--", "--m_n"});
  EXPECT_EQ(options.dumpPhasesTo, "a_b");
  EXPECT_EQ(options.model, "--m_n");
}

/// A file in the folder for temporary ones, removed at the end.
class TemporaryFile {
public:
  explicit TemporaryFile(StringRef text) {
    int descriptor = -1;
    EXPECT_FALSE(
        sys::fs::createTemporaryFile("options", "json", descriptor, path));
    raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  }
  ~TemporaryFile() { sys::fs::remove(path); }
  std::string getOption() const { return ("--precision-policy=" + path).str(); }

private:
  SmallString<128> path;
};

TEST(Options, PolicyFileYieldsToTheCommandLine) {
  TemporaryFile file(R"({"default": "autocast", "layers": {"a/*": "fp32"},
    "ops": {"Exp": "bf16"}, "constants": "saturate", "norm_output": "fp32",
    "certificate": {"bound": 1e-3,  "by": [null]}})");
  std::string option = file.getOption();
  Options options = parse({"m.onnx", "-o", "o", option.c_str(),
                           "--op-precisions=Exp:fp32", "--constants=fp32"});
  EXPECT_EQ(options.amp, "bf16");
  EXPECT_EQ(options.policyDefault, "autocast");
  EXPECT_EQ(options.policyLayers, std::vector<std::string>{"a/*:fp32"});
  EXPECT_EQ(options.policyOps, std::vector<std::string>{"Exp:bf16"});
  EXPECT_EQ(options.opPrecisions, std::vector<std::string>{"Exp:fp32"});
  EXPECT_EQ(options.constants, "fp32");
  EXPECT_EQ(options.normOutput, "fp32");
  EXPECT_EQ(options.precisionCertificate, R"({"bound": 1e-3,  "by": [null]})");
}

TEST(Options, PolicyNamesWithEscapes) {
  TemporaryFile file(
      R"({"layers": [{"pattern": "a\"\u0041/~", "type": "f16"}],
          "ops": {"x~/y": "tf32"}})");
  std::string option = file.getOption();
  Options options = parse({"m.onnx", "-o", "o", option.c_str()});
  EXPECT_EQ(options.policyLayers, std::vector<std::string>{"a\"A/~:f16"});
  EXPECT_EQ(options.policyOps, std::vector<std::string>{"x~/y:tf32"});
}

TEST(Options, JsonFormIsKnownBeforeParsing) {
  EXPECT_EQ(findDiagnosticForm({"--diagnostics=json", "--bad"}),
            DiagnosticForm::Json);
  EXPECT_EQ(findDiagnosticForm({"--diagnostics", "json"}),
            DiagnosticForm::Json);
  EXPECT_EQ(findDiagnosticForm({"json"}), DiagnosticForm::Text);
}

TEST(Options, ModelNames) {
  EXPECT_EQ(makeModelName("out/libresnet-50.so"), "resnet_50");
  EXPECT_EQ(makeModelName("50.o"), "model_50");
  EXPECT_EQ(makeModelName("library.o"), "library");
}

TEST(DiagnosticSink, ControlCharactersAreEscaped) {
  std::string said;
  raw_string_ostream os(said);
  DiagnosticSink sink(os, DiagnosticForm::Text);
  sink.setFile("m.onnx");
  (void)sink.error(ExitCode::Invalid, "bad \x1b[2J name", "", "no\rde");
  EXPECT_EQ(said, "m.onnx:no\\x0Dde: error: bad \\x1B[2J name\n");
  EXPECT_EQ(sink.getExitCode(), ExitCode::Invalid);
}

TEST(DiagnosticSink, InvalidOutweighsUnsupported) {
  raw_null_ostream os;
  DiagnosticSink sink(os, DiagnosticForm::Json);
  sink.warning("doubtful");
  EXPECT_EQ(sink.getExitCode(), ExitCode::Ok);
  (void)sink.error(ExitCode::Unsupported, "missing");
  (void)sink.error(ExitCode::Invalid, "broken");
  (void)sink.error(ExitCode::Limit, "large");
  EXPECT_EQ(sink.getExitCode(), ExitCode::Invalid);
  EXPECT_EQ(sink.getNumErrors(), 3u);
}
