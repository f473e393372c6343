# SPDX-License-Identifier: MIT OR Apache-2.0
# KV_SANITIZE is "", "address;undefined", "thread" or "fuzzer-no-link;address;undefined": it applies
# to everything this tree builds, since a sanitizer has to see the whole program.
if(KV_SANITIZE)
  string(REPLACE ";" "," kv_sanitizers "${KV_SANITIZE}")
  add_compile_options(-fsanitize=${kv_sanitizers} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${kv_sanitizers})
  if("undefined" IN_LIST KV_SANITIZE)
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()
if(KV_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # The instrumentation hides from GCC what is initialised; the plain presets warn of it.
  add_compile_options(-Wno-maybe-uninitialized)
endif()
if("thread" IN_LIST KV_SANITIZE AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # TSan does not model fences, which GCC warns of. They are still emitted, and no order that TSan
  # has to know of rests on one: the epochs hand memory back by release and acquire.
  add_compile_options(-Wno-tsan)
endif()
if(KV_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
