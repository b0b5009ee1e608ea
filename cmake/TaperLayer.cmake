# Language, warnings and instrumentation, the same for every target of this repository.
function(taper_target_defaults target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${TAPER_WERROR}>>:-Werror>)
  if(TAPER_SANITIZE)
    target_compile_definitions(${target} PRIVATE TAPER_SANITIZE=1)
    target_compile_options(${target} PRIVATE -fsanitize=${TAPER_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
      -Wno-maybe-uninitialized)  # GCC warns of its own instrumentation
    target_link_options(${target} PRIVATE -fsanitize=${TAPER_SANITIZE})
  endif()
  if(TAPER_COVERAGE)
    target_link_options(${target} PRIVATE --coverage)
    # Loops over elements would run for minutes, and it is the layers above whose lines are counted.
    if(target STREQUAL "taper_kernels")
      target_compile_options(${target} PRIVATE -O2)
    else()
      target_compile_options(${target} PRIVATE --coverage -fprofile-update=atomic)
    endif()
  endif()
endfunction()

# taper_layer(name SOURCES glob... [SEES layer...]): one layer of the library, as an object library.
# Its include path holds its own headers and those of the layers it names, so an include in the wrong direction
# does not compile.
function(taper_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "SOURCES;SEES")
  list(TRANSFORM layer_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/${name}/")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${layer_SOURCES})
  list(FILTER sources EXCLUDE REGEX "/kernels/cuda/")  # TaperCuda.cmake has those
  if(NOT sources)
    file(WRITE "${PROJECT_BINARY_DIR}/empty_${name}.cpp" "")
    set(sources "${PROJECT_BINARY_DIR}/empty_${name}.cpp")
  endif()

  add_library(taper_${name} OBJECT ${sources})
  taper_target_defaults(taper_${name})
  set_target_properties(taper_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(taper_${name} PRIVATE ${TAPER_ARCH_FLAGS})
  target_include_directories(taper_${name} PRIVATE "${PROJECT_SOURCE_DIR}/${name}")
  foreach(seen IN ITEMS ${name} LISTS layer_SEES)
    if(NOT seen STREQUAL "kernels")  # the one layer without public headers
      target_include_directories(taper_${name} PRIVATE "${PROJECT_SOURCE_DIR}/${seen}/include")
    endif()
  endforeach()
endfunction()
