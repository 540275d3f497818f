# Writes OUT, a header with VERSION and the revision of the checkout SOURCE, if
# that changes it.
set(revision unknown)
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} rev-parse --short=12 HEAD
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE failed)
  if(NOT failed)
    set(revision ${found})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT [[
#define AMPC_VERSION_STRING "@VERSION@"
#define AMPC_REVISION "@revision@"
]] @ONLY)
