# SPDX-License-Identifier: MIT OR Apache-2.0
# One executable per test_*.c, linked with the static libraries (where every internal name can be
# reached) and the test kit. <build>/tests.list has a line for each, its path and arguments, "jvm "
# before those that start a JVM; tools/ctests runs that list.
#
# kevy/test/*.c kolibri/test/*.c testing/*.c that are not named test_* are shared by the tests of
# that folder. A Kolibri test that starts a JVM says so by including "testing/jvm.h" or jni_spy.h or
# by calling JNI_CreateJavaVM; TSan cannot judge a JVM, so there those are left out.
include(CTest)
set(kv_tests "")

file(GLOB kit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/testing/*.c)
list(FILTER kit_sources EXCLUDE REGEX "/(test_[^/]*|fuzz_main)\\.c$")
set(kit_jni_sources ${kit_sources})
list(FILTER kit_sources EXCLUDE REGEX "/(jni_|jvm)[^/]*\\.c$")
list(FILTER kit_jni_sources INCLUDE REGEX "/(jni_|jvm)[^/]*\\.c$")

function(kv_kit name)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/kevy/include ${PROJECT_SOURCE_DIR}/kolibri/include)
  target_link_libraries(${name} PUBLIC Threads::Threads)
  kv_warnings(${name})
endfunction()
add_library(kit STATIC ${kit_sources})
kv_kit(kit)
if(TARGET kevy_static)
  target_link_libraries(kit PUBLIC kevy_static)
endif()
if(kit_jni_sources AND TARGET kolibri_static)
  add_library(kit_jni STATIC ${kit_jni_sources})
  kv_kit(kit_jni)
  target_link_libraries(kit_jni PUBLIC kit kolibri_static)
endif()

# kv_test(name source libraries…)
function(kv_test name source)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARGN} kit m)
  kv_warnings(${name})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
  target_compile_definitions(${name} PRIVATE KV_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    KV_BINARY_DIR="${PROJECT_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set(kv_tests ${kv_tests} "${PROJECT_BINARY_DIR}/test/${name}" PARENT_SCOPE)
endfunction()

file(GLOB kit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/testing/test_*.c)
foreach(source IN LISTS kit_tests)
  get_filename_component(name ${source} NAME_WE)
  kv_test(${name} ${source})
endforeach()

if(TARGET kevy_static)
  file(GLOB kevy_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kevy/test/test_*.c
    ${PROJECT_SOURCE_DIR}/kevy/test/*/test_*.c)
  file(GLOB kevy_test_kit CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kevy/test/*.c)
  list(FILTER kevy_test_kit EXCLUDE REGEX "/test_[^/]*\\.c$")
  if(kevy_test_kit)
    add_library(kevy_kit STATIC ${kevy_test_kit})
    kv_kit(kevy_kit)
    target_link_libraries(kevy_kit PUBLIC kit)
  endif()
  foreach(source IN LISTS kevy_tests)
    get_filename_component(name ${source} NAME_WE)
    kv_test(${name} ${source} $<TARGET_NAME_IF_EXISTS:kevy_kit>)
  endforeach()
endif()

if(TARGET kevy-cli)
  file(GLOB cli_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/doors/resp/test/test_*.c)
  foreach(source IN LISTS cli_tests)
    get_filename_component(name ${source} NAME_WE)
    kv_test(${name} ${source} $<TARGET_NAME_IF_EXISTS:kevy_kit>)
    target_compile_definitions(${name} PRIVATE KEVY_CLI="$<TARGET_FILE:kevy-cli>")
    add_dependencies(${name} kevy-cli)
  endforeach()
endif()

if(TARGET kolibri_static)
  file(GLOB kolibri_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kolibri/test/test_*.c
    ${PROJECT_SOURCE_DIR}/kolibri/test/*/test_*.c)
  file(GLOB kolibri_test_kit CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kolibri/test/*.c)
  list(FILTER kolibri_test_kit EXCLUDE REGEX "/(test|lib)_[^/]*\\.c$")
  if(kolibri_test_kit)
    add_library(kolibri_kit STATIC ${kolibri_test_kit})
    kv_kit(kolibri_kit)
    target_link_libraries(kolibri_kit PUBLIC $<TARGET_NAME_IF_EXISTS:kit_jni> kolibri_static kit)
  endif()
  # The runtime and the classes that Kolibri's tests call: compiled by javac into
  # <build>/kolibri-classes.
  file(GLOB_RECURSE kolibri_java CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kolibri/test/java/*.java
    ${PROJECT_SOURCE_DIR}/kolibri/kotlin/runtime/src/main/java/*.java)
  set(kolibri_classes ${PROJECT_BINARY_DIR}/kolibri-classes)
  if(kolibri_java)
    find_program(KV_JAVAC javac HINTS ${KV_JAVA_HOME}/bin REQUIRED)
    add_custom_command(OUTPUT ${kolibri_classes}/stamp
      COMMAND ${KV_JAVAC} --release 17 -nowarn -d ${kolibri_classes} ${kolibri_java}
      COMMAND ${CMAKE_COMMAND} -E touch ${kolibri_classes}/stamp
      DEPENDS ${kolibri_java} VERBATIM)
    add_custom_target(kolibri_classes DEPENDS ${kolibri_classes}/stamp)
  endif()
  list(TRANSFORM KV_JNI_INCLUDES PREPEND "-isystem " OUTPUT_VARIABLE kolibri_jni_flags)
  list(JOIN kolibri_jni_flags " " kolibri_jni_flags)
  foreach(source IN LISTS kolibri_tests)
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${source} uses_jvm REGEX "jvm\\.h|jni_|JNI_CreateJavaVM")
    if(uses_jvm AND "thread" IN_LIST KV_SANITIZE)
      continue()
    endif()
    kv_test(${name} ${source} $<TARGET_NAME_IF_EXISTS:kolibri_kit>
      $<TARGET_NAME_IF_EXISTS:kit_jni> kolibri_static ${KV_LIBJVM})
    if(uses_jvm)
      list(TRANSFORM kv_tests PREPEND "jvm " AT -1)
    endif()
    get_filename_component(kv_libjvm_dir "${KV_LIBJVM}" DIRECTORY)
    set_target_properties(${name} PROPERTIES BUILD_RPATH "${kv_libjvm_dir}")
    target_compile_definitions(${name} PRIVATE KOL_TEST_CLASSES="${kolibri_classes}"
      KOL_TEST_CC_FLAGS="${kolibri_jni_flags}" KOL_TEST_LIBJVM="${KV_LIBJVM}")
    if(TARGET kolibri_classes)
      add_dependencies(${name} kolibri_classes)
    endif()
  endforeach()
endif()

include(cmake/fuzz.cmake)

list(JOIN kv_tests "\n" kv_tests)
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests.list CONTENT "${kv_tests}\n")
