# Finds libbacktrace, which comes with GCC: its header and library lie in the compiler's own folders.
execute_process(COMMAND gcc -print-file-name=libbacktrace.a OUTPUT_VARIABLE libbacktrace_file
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
cmake_path(GET libbacktrace_file PARENT_PATH libbacktrace_folder)
find_path(Libbacktrace_INCLUDE_DIR backtrace.h HINTS "${libbacktrace_folder}/include")
find_library(Libbacktrace_LIBRARY NAMES backtrace libbacktrace.a HINTS "${libbacktrace_folder}")
mark_as_advanced(Libbacktrace_INCLUDE_DIR Libbacktrace_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libbacktrace REQUIRED_VARS Libbacktrace_LIBRARY Libbacktrace_INCLUDE_DIR)

if(Libbacktrace_FOUND AND NOT TARGET Libbacktrace::Libbacktrace)
  add_library(Libbacktrace::Libbacktrace UNKNOWN IMPORTED)
  set_target_properties(Libbacktrace::Libbacktrace PROPERTIES IMPORTED_LOCATION "${Libbacktrace_LIBRARY}")
endif()
