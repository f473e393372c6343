# SPDX-License-Identifier: MIT OR Apache-2.0
# Targets: kevy_objects (compiled once, hidden visibility: the export list is KEVY_API in the public
# headers), kevy (libkevy.so, and libkevy_ffi.so as a link to it), kevy_static (libkevy.a).
if(KV_ONE AND EXISTS ${PROJECT_SOURCE_DIR}/kevy/src/kevy_one.c)
  set(kevy_sources ${PROJECT_SOURCE_DIR}/kevy/src/kevy_one.c)
else()
  file(GLOB kevy_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kevy/src/*/*.c)
endif()
if(NOT kevy_sources)
  message(STATUS "kevy: no sources")
  return()
endif()

add_library(kevy_objects OBJECT ${kevy_sources})
set_target_properties(kevy_objects PROPERTIES POSITION_INDEPENDENT_CODE ON
  C_VISIBILITY_PRESET hidden)
target_include_directories(kevy_objects
  PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kevy/include>
  PRIVATE ${PROJECT_SOURCE_DIR})
kv_warnings(kevy_objects)

add_library(kevy SHARED)
add_library(kevy_static STATIC)
set_target_properties(kevy PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${KEVY_ABI}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/kevy.map)
set_target_properties(kevy_static PROPERTIES OUTPUT_NAME kevy)
foreach(lib kevy kevy_static)
  target_sources(${lib} PRIVATE $<TARGET_OBJECTS:kevy_objects>)
  target_include_directories(${lib} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kevy/include> $<INSTALL_INTERFACE:include>)
  set_target_properties(${lib} PROPERTIES LINKER_LANGUAGE C)
endforeach()
target_link_libraries(kevy PRIVATE Threads::Threads)
target_link_libraries(kevy_static PUBLIC Threads::Threads)
add_library(kevy::kevy ALIAS kevy)
add_library(kevy::kevy_static ALIAS kevy_static)

if(CMAKE_SYSTEM_NAME MATCHES "Linux|Android")
  # Engine threads and epoch slots outlive a dlclose, hence nodelete.
  target_link_options(kevy PRIVATE -Wl,-z,nodelete
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/kevy.map)
endif()
set(kevy_ffi ${CMAKE_SHARED_LIBRARY_PREFIX}kevy_ffi${CMAKE_SHARED_LIBRARY_SUFFIX})
add_custom_command(TARGET kevy POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink
  $<TARGET_FILE_NAME:kevy> $<TARGET_FILE_DIR:kevy>/${kevy_ffi} VERBATIM)
