# Takes OBJECTS out of the archive ARCHIVE into OUT, and gives each symbol that
# they define the prefix z_, as zlib's own Z_PREFIX does in its header.
file(MAKE_DIRECTORY ${OUT})
set(names)
foreach(object IN LISTS OBJECTS)
  get_filename_component(name ${object} NAME)
  list(APPEND names ${name})
endforeach()
execute_process(COMMAND ${AR} x ${ARCHIVE} ${names}
  WORKING_DIRECTORY ${OUT} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${NM} -g --defined-only --format=posix ${OBJECTS}
  OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
set(map "")
foreach(line IN LISTS lines)
  if(line MATCHES "^([A-Za-z_][A-Za-z0-9_]*) [A-Z]")
    string(APPEND map "${CMAKE_MATCH_1} z_${CMAKE_MATCH_1}\n")
  endif()
endforeach()
file(WRITE ${OUT}/symbols.txt "${map}")
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND ${OBJCOPY} --redefine-syms=${OUT}/symbols.txt ${object}
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
