//===- test_files.h - Small files for tests -------------------------------===//
#ifndef AMPC_TEST_RUNTIME_TEST_FILES_H
#define AMPC_TEST_RUNTIME_TEST_FILES_H

#include "runtime/io/tensor.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <vector>

namespace ampc::runtime {

/// A folder that is removed, with its files, at the end of a scope.
class TestFolder {
public:
  TestFolder() {
    folder = std::filesystem::temp_directory_path() / "ampc-test-XXXXXX";
    if (!mkdtemp(folder.data())) {
      perror("mkdtemp");
    }
  }
  ~TestFolder() {
    std::string command = "rm -rf '" + folder + "'";
    if (system(command.c_str()) != 0) {
      perror("rm");
    }
  }
  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::string full = path(name);
    // Some file systems flush a file that is cut and written anew.
    unlink(full.c_str());
    FILE *file = fopen(full.c_str(), "wb");
    fwrite(bytes.data(), 1, bytes.size(), file);
    fclose(file);
    return full;
  }
  static std::string read(const std::string &full) {
    std::string bytes;
    FILE *file = fopen(full.c_str(), "rb");
    for (int c; file && (c = fgetc(file)) != EOF;) {
      bytes.push_back(static_cast<char>(c));
    }
    if (file) {
      fclose(file);
    }
    return bytes;
  }

private:
  std::string folder;
};

inline std::string fromHex(const char *hex) {
  auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (; hex[0] && hex[1]; hex += 2) {
    bytes.push_back(static_cast<char>(digit(hex[0]) << 4 | digit(hex[1])));
  }
  return bytes;
}

/// Little-endian bytes of a number.
template <typename T>
std::string le(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

/// The tensors of a file with these contents, which must be readable.
inline Vec<Tensor> readBytes(const std::string &extension,
                             const std::string &bytes) {
  TestFolder folder;
  Vec<Tensor> tensors;
  std::string file = folder.write("file" + extension, bytes);
  Status status = readTensors(file.c_str(), ReadOptions(), &tensors);
  EXPECT_TRUE(status.ok()) << status.message();
  return tensors;
}

/// Expects that reading such a file fails with `code` and a message that holds
/// `text`.
inline void expectReadError(const std::string &extension,
                            const std::string &bytes, ampc_code code,
                            const std::string &text) {
  TestFolder folder;
  Vec<Tensor> tensors;
  std::string file = folder.write("file" + extension, bytes);
  Status status = readTensors(file.c_str(), ReadOptions(), &tensors);
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_NE(std::string(status.message()).find(text), std::string::npos)
      << "expected '" << text << "' in '" << status.message() << "'";
}

template <typename T>
std::vector<T> values(const Tensor &tensor) {
  const T *data = reinterpret_cast<const T *>(tensor.data.data());
  return std::vector<T>(data, data + tensor.data.size() / sizeof(T));
}

inline std::vector<int64_t> dims(const Tensor &tensor) {
  return std::vector<int64_t>(tensor.dims.begin(), tensor.dims.end());
}

} // namespace ampc::runtime

#endif // AMPC_TEST_RUNTIME_TEST_FILES_H
