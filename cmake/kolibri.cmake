# SPDX-License-Identifier: MIT OR Apache-2.0
# Targets: kolibri (libkolibri.so), kolibri_static (libkolibri.a). They are compiled apart: the
# documented form is static linking with hidden symbols, so that two libraries of one process each
# have their own copy; the shared form exports kol_* and nothing else.
include(cmake/jni.cmake)
if(NOT KV_JNI_FOUND)
  return()
endif()
if(KV_ONE AND EXISTS ${PROJECT_SOURCE_DIR}/kolibri/src/kolibri_one.c)
  set(kolibri_sources ${PROJECT_SOURCE_DIR}/kolibri/src/kolibri_one.c)
else()
  file(GLOB kolibri_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kolibri/src/*.c)
  list(FILTER kolibri_sources EXCLUDE REGEX "_one\\.c$")
endif()
if(NOT kolibri_sources)
  message(STATUS "kolibri: no sources")
  return()
endif()

add_library(kolibri SHARED ${kolibri_sources})
add_library(kolibri_static STATIC ${kolibri_sources})
set_target_properties(kolibri PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/kolibri.map)
set_target_properties(kolibri_static PROPERTIES OUTPUT_NAME kolibri
  C_VISIBILITY_PRESET hidden)
foreach(lib kolibri kolibri_static)
  set_target_properties(${lib} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${lib}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/kolibri/include> $<INSTALL_INTERFACE:include>
    PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(${lib} SYSTEM PUBLIC "$<BUILD_INTERFACE:${KV_JNI_INCLUDES}>")
  target_link_libraries(${lib} PUBLIC Threads::Threads)
  kv_warnings(${lib})
endforeach()
add_library(kolibri::kolibri ALIAS kolibri)
add_library(kolibri::kolibri_static ALIAS kolibri_static)
if(CMAKE_SYSTEM_NAME MATCHES "Linux|Android")
  target_compile_options(kolibri PRIVATE -fno-semantic-interposition)
  target_link_options(kolibri PRIVATE -Wl,-z,nodelete
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/kolibri.map)
endif()
