# Rules shared by every folder.

add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
if(AMPC_SANITIZE)
  add_compile_options(-fsanitize=${AMPC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${AMPC_SANITIZE})
endif()

# ampc_library(NAME sources... [DEPENDS targets] [LINK_LIBS libraries])
# A static library of the compiler.
function(ampc_library name)
  cmake_parse_arguments(A "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${A_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  add_dependencies(${name} ampc-headers ${A_DEPENDS})
  target_link_libraries(${name} PUBLIC ${A_LINK_LIBS} MLIR LLVM)
  if(AMPC_PCH)
    target_precompile_headers(${name} REUSE_FROM ampc_pch)
    add_dependencies(${name} ampc_pch)
  endif()
endfunction()

# ampc_tool(NAME sources... [LINK_LIBS libraries])
# A program in build/bin.
function(ampc_tool name)
  cmake_parse_arguments(A "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${A_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  add_dependencies(${name} ampc-headers)
  # libMLIR.so lies in a folder of its own, which an installed program has to know.
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin
    INSTALL_RPATH_USE_LINK_PATH ON)
  target_link_libraries(${name} PRIVATE ${A_LINK_LIBS} MLIR LLVM)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# ampc_interface(FILE) generates FILE.h.inc and FILE.cpp.inc of op interfaces.
function(ampc_interface file)
  set(LLVM_TARGET_DEFINITIONS ${file}.td)
  mlir_tablegen(${file}.h.inc -gen-op-interface-decls)
  mlir_tablegen(${file}.cpp.inc -gen-op-interface-defs)
  add_public_tablegen_target(Ampc${file}IncGen)
  add_dependencies(ampc-headers Ampc${file}IncGen)
endfunction()

# ampc_passes(GROUP) generates Passes.h.inc from Passes.td, and the pass page.
function(ampc_passes group)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${group})
  add_public_tablegen_target(Ampc${group}PassesIncGen)
  add_dependencies(ampc-headers Ampc${group}PassesIncGen)
  add_mlir_doc(Passes ${group}Passes passes/ -gen-pass-doc)
endfunction()
