//===- ScalarBody.cpp -===//
