//===- JsonText.h - Places in a JSON text ---------------------------------===//
#ifndef AMPC_COMPILER_DRIVER_JSONTEXT_H
#define AMPC_COMPILER_DRIVER_JSONTEXT_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <utility>
#include <vector>

namespace ampc::driver {

/// A parsed JSON text that knows where its values stand and in which order the
/// members of its objects do. llvm::json::parse alone knows neither, takes the
/// last of two members of one name, and calls itself for each level.
class JsonText {
public:
  /// Parses `text`, which must outlive the result. An error if it is no JSON
  /// or is nested more than `maxDepth` deep; the message begins with
  /// `LINE:COLUMN: `.
  static llvm::Expected<JsonText> parse(llvm::StringRef text,
                                        unsigned maxDepth);

  const llvm::json::Value &getRoot() const { return root; }

  /// The characters of the value at `pointer`, written as RFC 6901 does:
  /// "/layers/0/type". Empty if there is none.
  llvm::StringRef getText(llvm::StringRef pointer) const;
  /// `LINE:COLUMN` of that value, or of the end of the text.
  std::string describePlace(llvm::StringRef pointer) const;
  /// Names of the members of the object at `pointer`, in order, with
  /// repetitions.
  llvm::ArrayRef<std::string> getMembers(llvm::StringRef pointer) const;
  /// Names of members that their object holds before, each with its
  /// `LINE:COLUMN`, in order.
  llvm::ArrayRef<std::pair<std::string, std::string>> getRepeated() const {
    return repeated;
  }

  /// `pointer` with one more step.
  static std::string join(llvm::StringRef pointer, llvm::StringRef step);

private:
  class Scanner;
  JsonText(llvm::StringRef text, llvm::json::Value root)
      : text(text), root(std::move(root)) {}

  llvm::StringRef text;
  llvm::json::Value root;
  llvm::StringMap<std::pair<size_t, size_t>> places; ///< begin and end
  llvm::StringMap<std::vector<std::string>> members;
  std::vector<std::pair<std::string, std::string>> repeated;
};

} // namespace ampc::driver

#endif // AMPC_COMPILER_DRIVER_JSONTEXT_H
