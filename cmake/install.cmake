# SPDX-License-Identifier: MIT OR Apache-2.0
# cmake --install: include/, lib/ with both forms of each library, pkg-config files and CMake
# packages that go on working when the tree is moved.
include(CMakePackageConfigHelpers)

function(kv_install name description)
  if(NOT TARGET ${name})
    return()
  endif()
  install(TARGETS ${name} ${name}_static EXPORT ${name}Targets)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${name}/include/ DESTINATION include
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
  install(EXPORT ${name}Targets NAMESPACE ${name}:: DESTINATION lib/cmake/${name})
  set(KV_PC_NAME ${name})
  set(KV_PC_DESCRIPTION "${description}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/library.pc.in ${name}.pc @ONLY)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/Config.cmake.in ${name}Config.cmake @ONLY)
  write_basic_package_version_file(${name}ConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION lib/pkgconfig)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}Config.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/${name}ConfigVersion.cmake DESTINATION lib/cmake/${name})
endfunction()

kv_install(kevy "Embedded, Redis-compatible store with expiry and publish/subscribe")
kv_install(kolibri "The JNI boundary: typed calls, native objects, scopes, tagged values")
if(TARGET kevy)
  install(CODE "file(CREATE_LINK \"$<TARGET_FILE_NAME:kevy>\"
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/${kevy_ffi}\" SYMBOLIC)")
endif()
