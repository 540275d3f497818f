# Joins the members MEMBERS of the archive ARCHIVE into the object OUT. Only the
# symbols KEEP stay global, under the prefix z_ that zlib's own Z_PREFIX puts
# into its header. All else becomes local, which also makes the object fit for
# shared libraries where the archive itself is not.
get_filename_component(dir ${OUT} DIRECTORY)
file(MAKE_DIRECTORY ${dir}/members)
execute_process(COMMAND ${AR} x ${ARCHIVE} ${MEMBERS}
  WORKING_DIRECTORY ${dir}/members COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${LINKER} -r -o ${OUT} ${MEMBERS}
  WORKING_DIRECTORY ${dir}/members COMMAND_ERROR_IS_FATAL ANY)
# Two steps: GNU and LLVM do not agree on the order of renaming and keeping.
set(keep)
set(rename)
foreach(symbol IN LISTS KEEP)
  list(APPEND keep --keep-global-symbol=${symbol})
  list(APPEND rename --redefine-sym=${symbol}=z_${symbol})
endforeach()
execute_process(COMMAND ${OBJCOPY} ${keep} ${OUT} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${OBJCOPY} ${rename} ${OUT} COMMAND_ERROR_IS_FATAL ANY)
