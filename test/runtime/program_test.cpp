//===- program_test.cpp - The command line of a produced program ----------===//
#include "fixtures.h"
#include "test_files.h"

#include <dlfcn.h>
#include <sys/wait.h>

using namespace ampc::runtime;

namespace {

struct Result {
  int code;
  std::string out; // stdout and stderr
};

/// Runs a program linked by CMakeLists.txt with a shell's words behind it.
Result run(const std::string &words,
           const std::string &program = "toy_program") {
  std::string command =
      std::string(TOY_FOLDER "/") + program + " " + words + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  Result result = {-1, ""};
  for (int c; (c = fgetc(pipe)) != EOF;) {
    result.out.push_back(static_cast<char>(c));
  }
  int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return result;
}

/// Expects an exit code and a piece of the output.
void expectRun(const std::string &words, int code, const std::string &text,
               const std::string &program = "toy_program") {
  Result result = run(words, program);
  EXPECT_EQ(result.code, code) << words << "\n" << result.out;
  EXPECT_NE(result.out.find(text), std::string::npos)
      << words << "\nexpected '" << text << "' in\n"
      << result.out;
}

const std::string good = "run --input=x=1 --input=trips=3 --input=negative=0";

std::vector<float> readFloats(const std::string &path) {
  Vec<Tensor> tensors;
  Status status = readTensors(path.c_str(), ReadOptions(), &tensors);
  EXPECT_TRUE(status.ok()) << status.message();
  return tensors.empty() ? std::vector<float>() : values<float>(tensors[0]);
}

TEST(ProgramUsage, exitCodes) {
  expectRun("", 2, "usage:");
  expectRun("--help", 0, "examples:");
  expectRun("run -h", 0, "--output-dir=DIR");
  expectRun("--version", 0, "toy (by hand)");
  expectRun("rum", 2, "unknown command 'rum'; did you mean 'run'?");
  expectRun("train", 2, "compiled for inference");
  expectRun("--threads=2", 2, "expected a command");
  expectRun("run --inptu=x=1", 2, "did you mean '--input'?");
  expectRun("run --duration=1", 2, "does not belong to this command");
  expectRun("run --quiet=yes", 2, "takes no value");
  expectRun("run --threads", 2, "expects N");
  expectRun("run x.npy", 2, "unexpected argument 'x.npy'");
  for (const char *threads : {"0", "-1", "1025", "two", "2x", ""}) {
    expectRun("run --threads=" + std::string(threads), 2,
              "option '--threads': expected a whole number");
  }
  expectRun("bench --step", 2, "unknown option '--step'");
  expectRun("bench --percentile=90,101", 2, "expected a number from 0 to 100");
}

TEST(ProgramUsage, inputs) {
  expectRun("run", 2,
            "missing input 'x' (f32 [4, 8]), 'trips' (i64 []), "
            "'negative' (bool [])");
  expectRun(good + " --input=x=2", 2, "given twice");
  expectRun("run --input=trip=3", 2, "did you mean 'trips'?");
  expectRun("run --input=3", 2, "unknown input '3'");
  expectRun("run --input=x=1,2,3", 2, "expected 1 or 32 numbers, got 3");
  expectRun("run --input=x=one", 2, "expected numbers of type f32");
  expectRun("run --input=trips=9223372036854775808", 2, "of type i64");
  expectRun("run --input=trips=1.5", 2, "of type i64");
  expectRun("run --input=negative=2", 2, "of type bool");
  expectRun("run --input=x=8x4xf32=0", 2, "expected 4x8xf32, got '8x4xf32'");
  expectRun("run --input=x=@none.npy", 5, "none.npy: cannot open");
  expectRun("run --input=x=@none.txt", 2, "expected a file named");
  TestFolder folder;
  folder.write("bad.npy", "not numpy at all");
  expectRun("run --input=x=@" + folder.path("bad.npy"), 3, "bad.npy: expected");
  folder.write("shape.npy", fromHex(npyF32));
  expectRun("run --input=x=@" + folder.path("shape.npy"), 3,
            "input 'x': expected f32 [4, 8], got f32 [2, 3]");
  folder.write("big.npy", fromHex(npyBigEndian));
  expectRun("run --input=x=@" + folder.path("big.npy"), 4, "big-endian");
}

TEST(ProgramRun, computesAndSummarises) {
  // y = bias + 3 * x + (0 + 1 + 2), with bias 1..8 and x 1: 7..14
  Result result = run(good);
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find("y: f32 [4, 8]\n  min 7  max 14  mean 10.5\n"
                            "  values 7 8 9 10 11 12 13 14 ...\n"
                            "  top 7 (14) 6 (13) 5 (12) 4 (11) 3 (10)\n"),
            std::string::npos)
      << result.out;
  // The program's own condition ends the loop after iteration 98.
  expectRun("run --input=x=0 --input=trips=1000 --input=negative=true", 0,
            "z: f32 [4, 8]\n  min -4859  max -4852");
}

TEST(ProgramRun, spellings) {
  expectRun("run --input x=4x8xf32=1 --input trips=3 --input negative=false "
            "--debug_arena --threads 2",
            0, "values 7 8 9");
  expectRun("run --input=x=random --input=trips=0 --input=negative=0", 0,
            "values 1 2 3 4 5 6 7 8");
}

TEST(ProgramRun, outputs) {
  TestFolder folder;
  std::string y = folder.path("y.npy"), z = folder.path("z.pb"),
              all = folder.path("all.npz"),
              safe = folder.path("all.safetensors");
  expectRun(good + " --output=y=@" + y + " --output=z=" + z + " --output=@" +
                all + " --output=" + safe,
            0, "");
  std::vector<float> expected = {7, 8, 9, 10, 11, 12, 13, 14};
  for (const std::string &path : {y, z, all, safe}) {
    std::vector<float> got = readFloats(path);
    ASSERT_EQ(got.size(), 32u) << path;
    got.resize(8);
    EXPECT_EQ(got, expected) << path;
  }
  // With files, nothing is printed.
  EXPECT_EQ(run(good + " --output=y=@" + y).out, "");
  std::string dir = folder.path("results");
  expectRun(good + " --output-dir=" + dir, 0, "");
  EXPECT_EQ(readFloats(dir + "/w.npy"), std::vector<float>(32, 1.0f));
  expectRun(good + " --output=@" + y, 2, "expected --output=NAME=@FILE");
  expectRun(good + " --output=q=@" + y, 2, "unknown output 'q'");
  expectRun(good + " --output=y=@/nonexistent/y.npy", 5, "cannot create");
  expectRun(good + " --output=y=@y.txt", 2, "expected a file named");
}

TEST(ProgramRun, npzInputsByName) {
  TestFolder folder;
  std::string all = folder.path("in.npz");
  expectRun(good + " --output=@" + all, 0, "");
  // The archive holds y, z and w, but no x.
  expectRun("run --input=x=@" + all, 3, "expected a tensor named 'x'");
}

TEST(ProgramRun, profileCountsLaunches) {
  expectRun(good + " --profile", 0, "8 launches, 2 copies a run");
}

TEST(ProgramRun, deviceErrors) {
  expectRun(good + " --device=cuda:0", 8, "compiled for the device 'cpu'");
  expectRun(good, 8, "unknown feature bits 0x8000000000000000",
            "toy_program_future");
}

/// Removes the weight file at the end of a scope.
struct WeightFile {
  WeightFile() {
    FILE *file = fopen(path, "wb");
    const float bias[16] = {8, 7, 6, 5, 4, 3, 2, 1};
    const char header[64] = {};
    fwrite(header, 1, sizeof header, file);
    fwrite(bias, 1, sizeof bias, file);
    fclose(file);
  }
  ~WeightFile() { unlink(path); }
  const char *path = TOY_FOLDER "/toy.weights";
};

TEST(ProgramRun, weightsBesideTheExecutable) {
  expectRun(good, 5, "toy.weights: cannot open", "toy_program_external");
  WeightFile weights;
  expectRun(good, 0, "values 14 13 12 11 10 9 8 7", "toy_program_external");
  expectRun("inspect", 0, "64 bytes in toy.weights", "toy_program_external");
}

TEST(ProgramRun, weightsBesideTheLibrary) {
  WeightFile weights;
  TestFolder folder;
  void *library = dlopen(TOY_FOLDER "/libtoy.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto *toyMain =
      reinterpret_cast<int (*)(int, char **)>(dlsym(library, "toyMain"));
  ASSERT_NE(toyMain, nullptr);
  std::string output = "--output=y=" + folder.path("y.npy");
  std::vector<std::string> words = {
      "toy", "run", "--input=x=1", "--input=trips=3", "--input=negative=0",
      output};
  std::vector<char *> argv;
  for (std::string &word : words) {
    argv.push_back(word.data());
  }
  EXPECT_EQ(toyMain(static_cast<int>(argv.size()), argv.data()), 0);
  std::vector<float> y = readFloats(folder.path("y.npy"));
  ASSERT_EQ(y.size(), 32u);
  EXPECT_EQ(y[0], 14);
  // The runtime inside is the library's own affair.
  EXPECT_EQ(dlsym(library, "ampc_program_main"), nullptr);
  EXPECT_EQ(dlsym(library, "z_inflate"), nullptr);
  dlclose(library);
}

TEST(ProgramRun, fullDiskOrClosedOutput) {
  Result result = run(good + " > /dev/full");
  EXPECT_EQ(result.code, 5) << result.out;
}

TEST(ProgramData, batchesAndRemainder) {
  TestFolder folder;
  for (int64_t rows : {1, 3, 4, 5, 8, 11}) {
    std::vector<float> x(static_cast<size_t>(rows) * 8);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i) - 3;
    }
    const int64_t shape[] = {rows, 8};
    const int64_t extraShape[] = {rows};
    std::vector<int32_t> labels(static_cast<size_t>(rows));
    TensorView arrays[] = {
        {"x", AMPC_DTYPE_F32, shape, 2, x.data(), x.size() * 4},
        {"labels", AMPC_DTYPE_I32, extraShape, 1, labels.data(),
         labels.size() * 4}};
    std::string data = folder.path("set.npz"), out = folder.path("y.npy");
    ASSERT_TRUE(writeTensors(data.c_str(), arrays, 2).ok());
    expectRun("run --data=" + data + " --output=y=@" + out, 0,
              "'labels' is no input", "toy_program_batch");
    std::vector<float> y = readFloats(out);
    ASSERT_EQ(y.size(), x.size()) << rows;
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], -x[i]) << rows;
    }
    // The same as a list of single files.
    std::string npy = folder.path("x.npy");
    ASSERT_TRUE(writeTensors(npy.c_str(), arrays, 1).ok());
    expectRun("run --quiet --data=x=@" + npy + " --output=@" + out, 0, "",
              "toy_program_batch");
    EXPECT_EQ(readFloats(out), y);
  }
}

TEST(ProgramData, errors) {
  TestFolder folder;
  std::string data = folder.write("set.npz", fromHex(npzStored));
  expectRun("run --data=" + data, 3,
            "input 'x': expected data like f32 [4, 8] with any first",
            "toy_program_batch");
  expectRun("run --data=" + data + " --input=x=1", 2, "either --data or",
            "toy_program_batch");
  // Outputs y, z and w can be joined, but not the scalar inputs guessed.
  const int64_t shape[] = {6, 8};
  std::vector<float> x(48);
  TensorView array = {"x", AMPC_DTYPE_F32, shape, 2, x.data(), 192};
  ASSERT_TRUE(writeTensors(data.c_str(), &array, 1).ok());
  expectRun("run --data=" + data, 3, "missing input 'trips'");
  const int64_t none[] = {0, 8};
  TensorView empty = {"x", AMPC_DTYPE_F32, none, 2, x.data(), 0};
  ASSERT_TRUE(writeTensors(data.c_str(), &empty, 1).ok());
  expectRun("run --data=" + data, 0, "y: f32 [0, 8]", "toy_program_batch");
}

TEST(ProgramBench, reports) {
  TestFolder folder;
  std::string times = folder.path("times.json");
  Result result = run("bench --duration=0.05 --warm-up=1 --iterations=20 "
                      "--percentile=50,99.9 --profile --export-times=" +
                      times);
  EXPECT_EQ(result.code, 0);
  for (const char *text :
       {"Throughput: ", "Latency: min = ", "percentile(50%) = ",
        "percentile(99.9%) = ", "2 launches, 2 copies a run", " p99.9_ms="}) {
    EXPECT_NE(result.out.find(text), std::string::npos) << text << result.out;
  }
  // The last line is the one to grep.
  size_t last = result.out.rfind('\n', result.out.size() - 2) + 1;
  EXPECT_EQ(result.out.compare(last, 24, "ampc-bench: PASSED runs="), 0);
  EXPECT_EQ(TestFolder::read(times).compare(0, 16, "{\"model\": \"toy\","), 0);
  Result quiet = run("bench --quiet --duration=0 --warm-up=0 --iterations=3");
  EXPECT_EQ(quiet.out.compare(0, 26, "ampc-bench: PASSED runs=3 "), 0)
      << quiet.out;
  expectRun("bench --input=x=@none.npy", 5, "cannot open");
}

TEST(ProgramInspect, textAndJson) {
  expectRun("inspect", 0, "launches   2, and 3 inside 1 If and 1 Loop");
  expectRun("inspect", 0, "inputs     x: f32 [4, 8], 128 bytes");
  expectRun("inspect --json", 0, "\"metadata\": {\"amp\": \"off\"}");
  expectRun("inspect --json", 0,
            "{\"name\": \"trips\", \"dtype\": \"i64\", \"shape\": [], "
            "\"bytes\": 8}");
  // It needs neither the CPU nor the device that the program needs.
  expectRun("inspect", 0, "unknown feature bits", "toy_program_future");
}

} // namespace
