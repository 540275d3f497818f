//===- IndexedWindow.cpp -===//
