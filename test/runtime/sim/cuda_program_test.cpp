//===- cuda_program_test.cpp - GPU programs on the command line -----------===//
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>

namespace {

const std::string folder = TOY_GPU_FOLDER;
/// Before a program's name: the dynamic loader finds a driver of ours.
const std::string fake = "LD_LIBRARY_PATH=" + folder + "/fake_cuda ";

/// Expects an exit code and a piece of the output.
void expectRun(const std::string &words, int code, const std::string &text,
               const std::string &before = "",
               const std::string &program = "toy_gpu_program") {
  std::string command = before + folder + "/" + program + " " + words + " 2>&1";
  FILE *pipe = popen(command.c_str(), "r");
  std::string out;
  for (int c; (c = fgetc(pipe)) != EOF;) {
    out.push_back(static_cast<char>(c));
  }
  int status = pclose(pipe);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 128, code)
      << command << "\n"
      << out;
  EXPECT_NE(out.find(text), std::string::npos) << "no '" << text << "' in\n"
                                               << out;
}

TEST(CudaProgram, withoutADriver) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    GTEST_SKIP() << "there is a CUDA driver";
  }
  const std::string needed =
      "this program needs a GPU of compute capability 8.0 or later";
  expectRun("run --input=1", 8, "error: no CUDA driver: libcuda.so.1: ");
  expectRun("run --input=1", 8, needed);
  expectRun("bench --device=cuda:0", 8, needed);
  expectRun("run --input=1", 8,
            "this program needs a GPU of compute capability 10.0\n", "",
            "toy_gpu_program_exact");
}

TEST(CudaProgram, otherDevices) {
  expectRun("run --input=1 --device=cpu", 8,
            "compiled for the device 'cuda' (PTX of sm_80), not for 'cpu'");
  expectRun("run --input=1 --device=sim", 8, "not for 'sim'");
  expectRun("run --input=1 --device=cpu", 8,
            "compiled for the device 'sim' (simulated sm_80), not for 'cpu'",
            "", "toy_gpu_program_sim");
}

TEST(CudaProgram, inspect) {
  expectRun("inspect", 0, "gpu        PTX of sm_80\n");
  expectRun("inspect --json", 0,
            "\"gpu\": [\n    {\"architecture\": \"sm_80\", \"kind\": \"ptx\", "
            "\"modules\": 1, \"bytes\": ");
  expectRun("inspect", 0, "gpu        simulated sm_80\n", "",
            "toy_gpu_program_sim");
  expectRun("inspect --json", 0,
            "{\"architecture\": \"sm_100a\", \"kind\": \"cubin\", ", "",
            "toy_gpu_program_exact");
}

TEST(CudaProgram, runs) {
  for (const std::string device : {"", " --device=cuda", " --device=cuda:0"}) {
    for (const std::string how : {"", " --debug-arena", " --profile"}) {
      expectRun("run --input=1.5" + device + how, 0, "values 6 6", fake);
    }
  }
  expectRun("run --input=1.5 --profile", 0, "/Mul_1", fake);
  expectRun("run --input=1.5", 0, "values 6 6", "", "toy_gpu_program_sim");
  for (const std::string how : {"", " --debug-arena", " --profile"}) {
    expectRun("bench --duration=0 --warm-up=0" + how, 0, "launches=2", fake);
    expectRun("bench --duration=0 --warm-up=0" + how, 0, "launches=2", "",
              "toy_gpu_program_sim");
  }
}

TEST(CudaProgram, outOfMemory) {
  // An arena of 1088 bytes, an input and an output of 1024 each.
  expectRun("run --input=1", 0, "values 4 4", "FAKE_CUDA_MEMORY=3136 " + fake);
  expectRun("run --input=1", 8,
            "this program needs 3136 bytes of GPU memory (weights 0, "
            "activations 1088, workspace 0, inputs and outputs 2048); GPU 0 "
            "has 3135 free "
            "of 3135",
            "FAKE_CUDA_MEMORY=3135 " + fake);
}

#ifdef NVTX_INJECTION
TEST(CudaProgram, rangesForAProfiler) {
  const std::string injected = "NVTX_INJECTION64_PATH=" NVTX_INJECTION " ";
  const std::string simulated = "toy_gpu_program_sim";
  // Walked, each node has a range; else the program as a whole.
  expectRun("run --input=1 --profile", 0, "nvtx [/Mul]\nnvtx [/Mul_1]\n",
            injected, simulated);
  expectRun("run --input=1", 0, "nvtx [toy]\n", injected, simulated);
  expectRun("run --input=1", 0, "values 4 4", "NVTX_INJECTION64_PATH=/nowhere ",
            simulated);
}
#endif

TEST(CudaProgram, driversThatCannot) {
  expectRun("run --input=1 --device=cuda:3", 8,
            "there is no GPU 3: the driver has 1", fake);
  expectRun("run --input=1", 8, "no GPU: libcuda.so.1 finds no device",
            "FAKE_CUDA_ARCH=0 " + fake);
  expectRun("run --input=1", 8,
            "this program has code for PTX of sm_80; GPU 0, simulated sm_75, "
            "has compute capability 7.5",
            "FAKE_CUDA_ARCH=75 " + fake);
  expectRun("run --input=1", 0, "values 4 4", "FAKE_CUDA_ARCH=90 " + fake);
  expectRun("run --input=1", 0, "values 4 4", "FAKE_CUDA_ARCH=100 " + fake,
            "toy_gpu_program_exact");
  expectRun("run --input=1", 8,
            "this program has code for sm_100a; GPU 0, simulated sm_103, has "
            "compute capability 10.3",
            "FAKE_CUDA_ARCH=103 " + fake, "toy_gpu_program_exact");
  expectRun("run --input=1", 8,
            "libcuda.so.1 has no cuGraphAddKernelNode_v2; expected that of "
            "CUDA 12.0 or later",
            "LD_LIBRARY_PATH=" + folder + "/old_cuda ");
}

} // namespace
