# SPDX-License-Identifier: MIT OR Apache-2.0
# kv_warnings(target): the warnings of STYLE.md. They are errors only where a preset sets KV_WERROR,
# so that a newer compiler cannot break a user's build.
function(kv_warnings target)
  set(both -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wvla -Wundef
           -Wcast-qual -Wwrite-strings -Wswitch-enum)
  target_compile_options(${target} PRIVATE ${both}
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>)
  if(CMAKE_C_COMPILER_ID MATCHES "Clang")
    # assert(!"what went wrong"), and texts in arrays that need two lines.
    target_compile_options(${target} PRIVATE -Wno-string-conversion -Wno-string-concatenation)
  endif()
  if(KV_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
