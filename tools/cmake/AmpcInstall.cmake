# Installs what passes and tools outside this tree are built with: the libraries
# behind AmpcRegistration, their headers with the generated ones, and the CMake
# package `ampc`. Programs and the runtime install themselves.

# ampc_collect(OUT TARGET) lists TARGET and the libraries of the compiler that it
# links, directly or not.
function(ampc_collect out target)
  set(found)
  set(open ${target})
  while(open)
    list(POP_FRONT open next)
    if(NOT next MATCHES "^Ampc" OR NOT TARGET ${next} OR next IN_LIST found)
      continue()
    endif()
    list(APPEND found ${next})
    get_target_property(links ${next} INTERFACE_LINK_LIBRARIES)
    if(links)
      # A private library of an archive is wrapped, but linked all the same.
      list(TRANSFORM links REPLACE "^\\$<LINK_ONLY:(.+)>$" "\\1")
      list(APPEND open ${links})
    endif()
  endwhile()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

ampc_collect(AMPC_INSTALLED_LIBRARIES AmpcRegistration)

# The headers' paths begin at the repository's root, so they need a root of
# their own.
set(AMPC_INSTALL_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/ampc-compiler)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ampc)

install(TARGETS ${AMPC_INSTALLED_LIBRARIES} EXPORT ampc
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${AMPC_INSTALL_HEADERS})
install(EXPORT ampc NAMESPACE ampc:: FILE ampcTargets.cmake DESTINATION ${package_dir})
foreach(folder IN ITEMS dialects passes compiler/Pipelines compiler/Registration)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/${folder}/
    DESTINATION ${AMPC_INSTALL_HEADERS}/${folder}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
endforeach()
foreach(folder IN ITEMS dialects passes)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/${folder}/
    DESTINATION ${AMPC_INSTALL_HEADERS}/${folder}
    FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
endforeach()

include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ampcConfig.cmake.in
  ${CMAKE_BINARY_DIR}/ampcConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ampcConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ampcConfig.cmake ${CMAKE_BINARY_DIR}/ampcConfigVersion.cmake
  DESTINATION ${package_dir})
