# SPDX-License-Identifier: MIT OR Apache-2.0
# Each kevy/fuzz/fuzz_*.c and kolibri/fuzz/fuzz_*.c is a target; corpus/<name> beside it is its
# corpus. With KV_FUZZ it is linked with libFuzzer into <build>/fuzz/; in the test presets with
# testing/fuzz_main.c, which replays the corpus as one of the tests.
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kevy/fuzz/fuzz_*.c
  ${PROJECT_SOURCE_DIR}/kolibri/fuzz/fuzz_*.c)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  string(REGEX REPLACE "^fuzz_" "" short ${name})
  set(library kevy_static)
  if(source MATCHES "/kolibri/fuzz/")
    set(library kolibri_static)
  endif()
  if(NOT TARGET ${library})
    continue()
  endif()
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${library})
  kv_warnings(${name})
  if(KV_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  else()
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/testing/fuzz_main.c)
    set_target_properties(${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
    set(arguments "")
    if(IS_DIRECTORY ${folder}/corpus/${short})
      set(arguments " ${folder}/corpus/${short}")
    endif()
    list(APPEND kv_tests "${PROJECT_BINARY_DIR}/test/${name}${arguments}")
  endif()
endforeach()
