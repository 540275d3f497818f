//===- MathExpansion.cpp -===//
