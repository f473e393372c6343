# SPDX-License-Identifier: MIT OR Apache-2.0
# The native libraries that JVM tests load: each kolibri/test/lib_<name>.c becomes
# <build>/jvm-test/lib<name>.so, linked with Kolibri as the documentation says: statically, hidden,
# never unloaded from memory. In every preset, because Maven's tests run against build/release.
if(TARGET kolibri_static)
  file(GLOB kv_jvm_libs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kolibri/test/lib_*.c)
  foreach(source IN LISTS kv_jvm_libs)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^lib_" "" output ${name})
    add_library(${name} MODULE ${source})
    target_link_libraries(${name} PRIVATE kolibri_static)
    kv_warnings(${name})
    # Level 2: a pointer to no live object, or a leaf that misbehaves, fails the test that did it.
    target_compile_options(${name} PRIVATE -UKOL_CHECK -DKOL_CHECK=2)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${output} C_VISIBILITY_PRESET hidden
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/jvm-test)
    if(CMAKE_SYSTEM_NAME MATCHES "Linux|Android")
      target_link_options(${name} PRIVATE -Wl,-z,nodelete)
    endif()
  endforeach()
  # What C makes of messages is compared in the notation of the vectors.
  target_sources(lib_tagged PRIVATE ${PROJECT_SOURCE_DIR}/kolibri/test/tagged_notation.c
    ${PROJECT_SOURCE_DIR}/kolibri/test/tagged_parse.c)
  target_include_directories(lib_tagged PRIVATE ${PROJECT_SOURCE_DIR})
  # The library of examples/zlib, where zlib is installed; its test is skipped elsewhere.
  find_package(ZLIB QUIET)
  if(ZLIB_FOUND)
    add_subdirectory(${PROJECT_SOURCE_DIR}/examples/zlib)
    foreach(name ZStream JavaZStream)
      kv_warnings(${name})
      set_target_properties(${name} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/jvm-test)
    endforeach()
  endif()
endif()
