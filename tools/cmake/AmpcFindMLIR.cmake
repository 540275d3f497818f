# Finds the packaged MLIR 22 and sets it up for out-of-tree use. The dylibs
# libMLIR.so and libLLVM.so are linked, never the component archives: mixing
# both puts two copies of MLIR's registries into one process.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${LLVM_DEFINITIONS_LIST})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})

# Every compiler library waits for all generated headers, which take a second.
add_custom_target(ampc-headers)

if(AMPC_PCH)
  add_library(ampc_pch STATIC ${CMAKE_SOURCE_DIR}/tools/cmake/pch.cpp)
  llvm_update_compile_flags(ampc_pch)
  target_precompile_headers(ampc_pch PRIVATE ${CMAKE_SOURCE_DIR}/tools/cmake/pch.h)
endif()
