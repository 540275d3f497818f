//===- IndexedView.cpp -===//
