//===- IndexedGather.cpp -===//
