//===- MmaShapesTest.cpp - Every mma.sync, from registers to registers ----===//
//
// The PTX manual's fragments: lane l has group g = l / 4 and t = l % 4. With e
// elements in a register, A's register r holds row g + 8 (r mod 2), columns
// from (4 (r div 2) + t) e on; B's register r rows from (4 r + t) e on, column
// g.
//
//===----------------------------------------------------------------------===//
#include "test/unit/Simulate/Harness.h"

#include "runtime/devices/sim/matrix_numerics.h"

#include <random>

using namespace ampc::test;

namespace {

struct MmaShape {
  const char *name; // of the intrinsic, after m16n8
  sim::MatrixType type, out;
  int k;
  unsigned arch;
};

class MmaShapes : public testing::TestWithParam<MmaShape> {};

std::string mmaKernel(const MmaShape &shape, int a, int b, int c) {
  bool f16 = shape.type == sim::MatrixType::f16;
  std::string ab = f16 ? "<2 x half>" : "i32";
  std::string cd = shape.out == sim::MatrixType::f16 ? "<2 x half>" : "float";
  std::string types, structure, loads, arguments;
  int total = a + b + c;
  for (int i = 0; i < total; ++i) {
    const std::string &type = i < a + b ? ab : cd;
    std::string n = std::to_string(i);
    types += (i ? ", " : "") + type;
    arguments += (i ? ", " : "") + type + " %r" + n;
    loads += "  %p" + n + " = getelementptr i32, ptr addrspace(1) %base, i32 " +
             n + "\n  %r" + n + " = load " + type + ", ptr addrspace(1) %p" +
             n + ", align 4\n";
  }
  std::string stores;
  for (int i = 0; i < c; ++i) {
    std::string n = std::to_string(i);
    structure += (i ? ", " : "") + cd;
    stores += "  %d" + n + " = extractvalue RESULT %d, " + n + "\n  %q" + n +
              " = getelementptr i32, ptr addrspace(1) %to, i32 " + n +
              "\n  store " + cd + " %d" + n + ", ptr addrspace(1) %q" + n +
              ", align 4\n";
  }
  structure = "{" + structure + "}";
  for (size_t at; (at = stores.find("RESULT")) != std::string::npos;) {
    stores.replace(at, 6, structure);
  }
  std::string name = std::string("@llvm.nvvm.mma.m16n8") + shape.name;
  return "target triple = \"nvptx64-nvidia-cuda\"\n"
         "define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) "
         "%out) {\n  %t = call i32 @llvm.nvvm.read.ptx.sreg.laneid()\n"
         "  %i = mul i32 %t, " +
         std::to_string(total) +
         "\n  %base = getelementptr i32, ptr addrspace(1) %in, i32 %i\n"
         "  %o = mul i32 %t, " +
         std::to_string(c) +
         "\n  %to = getelementptr i32, ptr addrspace(1) %out, i32 %o\n" +
         loads + "  %d = call " + structure + " " + name + "(" + arguments +
         ")\n" + stores +
         "  ret void\n}\n"
         "declare i32 @llvm.nvvm.read.ptx.sreg.laneid()\ndeclare " +
         structure + " " + name + "(" + types + ")\n";
}

TEST_P(MmaShapes, IsTheUnitsProduct) {
  const MmaShape &shape = GetParam();
  bool tf32 = shape.type == sim::MatrixType::tf32;
  bool narrow = shape.out == sim::MatrixType::f16;
  int e = tf32 ? 1 : 2;
  int b = shape.k / (4 * e), a = 2 * b, c = narrow ? 2 : 4, all = a + b + c;
  std::mt19937 random(5);
  auto bits = [&](sim::MatrixType type) -> uint32_t {
    uint32_t r = random(), sign = r >> 31, near = r >> 8 & 7;
    switch (type) {
    case sim::MatrixType::f16:
      return sign << 15 | (11 + near) << 10 | (r & 0x3ff);
    case sim::MatrixType::bf16:
      return sign << 15 | (122 + near) << 7 | (r & 0x7f);
    default:
      return sign << 31 | (122 + near) << 23 | (random() & 0x7fffff);
    }
  };
  std::vector<uint32_t> A(16 * 16), B(16 * 8), C(16 * 8);
  for (auto *matrix : {&A, &B}) {
    for (uint32_t &x : *matrix) {
      x = bits(shape.type);
    }
  }
  for (uint32_t &x : C) {
    x = bits(shape.out);
  }
  std::vector<uint32_t> in;
  auto pack = [&](auto at) {
    uint32_t word = at(0);
    in.push_back(e == 1 ? word : word | at(1) << 16);
  };
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4;
    for (int r = 0; r < a; ++r) {
      pack([&](int i) {
        return A[static_cast<size_t>((g + 8 * (r % 2)) * shape.k +
                                     (4 * (r / 2) + t) * e + i)];
      });
    }
    for (int r = 0; r < b; ++r) {
      pack([&](int i) {
        return B[static_cast<size_t>(((4 * r + t) * e + i) * 8 + g)];
      });
    }
    for (int r = 0; r < 2; ++r) {
      auto *row = &C[static_cast<size_t>((g + 8 * r) * 8 + 2 * t)];
      if (narrow) {
        in.push_back(row[0] | row[1] << 16);
      } else {
        in.insert(in.end(), row, row + 2);
      }
    }
  }
  ASSERT_EQ(in.size(), static_cast<size_t>(32 * all));
  auto program = Program::fromLlvm(mmaKernel(shape, a, b, c), shape.arch);
  ASSERT_EQ(program->error(), "");
  EXPECT_EQ(program->assemble(), "");
  Device device(*program);
  auto *out = static_cast<uint32_t *>(
      device.allocate(static_cast<size_t>(32 * c) * 4, "out"));
  device.param(device.upload(in, "in")).param(out);
  device.launch("k", {1, 1, 1}, {32, 1, 1});
  EXPECT_TRUE(device.report.clean()) << device.report.text().c_str();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 8; ++j) {
      std::vector<uint32_t> column;
      for (int k = 0; k < shape.k; ++k) {
        column.push_back(B[static_cast<size_t>(k * 8 + j)]);
      }
      uint32_t expected =
          sim::matrixDot(sim::matrixUnit(shape.arch), shape.type, shape.out,
                         C[static_cast<size_t>(i * 8 + j)],
                         &A[static_cast<size_t>(i * shape.k)], column.data(),
                         static_cast<uint32_t>(shape.k));
      const uint32_t *lane = out + (i % 8 * 4 + j / 2) * c;
      uint32_t got = narrow ? lane[i / 8] >> 16 * (j % 2) & 0xffff
                            : lane[i / 8 * 2 + j % 2];
      EXPECT_EQ(got, expected) << i << ", " << j;
    }
  }
}

using T = sim::MatrixType;
INSTANTIATE_TEST_SUITE_P(
    All, MmaShapes,
    testing::Values(MmaShape{"k16.row.col.f32.f32", T::f16, T::f32, 16, 80},
                    MmaShape{"k16.row.col.f16.f16", T::f16, T::f16, 16, 80},
                    MmaShape{"k8.row.col.f32.f32", T::f16, T::f32, 8, 75},
                    MmaShape{"k8.row.col.f16.f16", T::f16, T::f16, 8, 75},
                    MmaShape{"k16.row.col.bf16", T::bf16, T::f32, 16, 80},
                    MmaShape{"k8.row.col.bf16", T::bf16, T::f32, 8, 80},
                    MmaShape{"k8.row.col.tf32", T::tf32, T::f32, 8, 80},
                    MmaShape{"k4.row.col.tf32", T::tf32, T::f32, 4, 80},
                    MmaShape{"k16.row.col.f32.f32", T::f16, T::f32, 16, 90},
                    MmaShape{"k8.row.col.tf32", T::tf32, T::f32, 8, 90}));

} // namespace
