# What `cmake --install` and CPack put where. Two components, each a Debian package of its own:
#   vectable      both programs, the protocol's files, the systemd unit
#   vectable-dev  the C++ client as a CMake package: find_package(Vectable), then link Vectable::client

include_guard(GLOBAL)
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(proto_dir ${CMAKE_INSTALL_DATADIR}/vectable/proto)
set(include_dir ${CMAKE_INSTALL_INCLUDEDIR}/vectable)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Vectable)

install(TARGETS vectable vectable-server RUNTIME COMPONENT vectable)
install(DIRECTORY proto/vectable DESTINATION ${proto_dir} COMPONENT vectable FILES_MATCHING PATTERN "*.proto")
install(FILES packaging/vectable-server.service DESTINATION lib/systemd/system COMPONENT vectable)
# Programs below /usr have their files of options below /etc.
install(CODE "
  set(folder \"\${CMAKE_INSTALL_PREFIX}/etc/vectable\")
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder /etc/vectable)
  endif()
  file(INSTALL \"${PROJECT_SOURCE_DIR}/packaging/server.conf\" DESTINATION \"\${folder}\" TYPE FILE)"
        COMPONENT vectable)
install(FILES README.md docs/operations.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/vectable COMPONENT vectable)

# client.h and what it includes.
install(FILES client/client.h client/row_uploader.h DESTINATION ${include_dir}/client COMPONENT vectable-dev)
install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/vectable DESTINATION ${include_dir} COMPONENT vectable-dev
        FILES_MATCHING PATTERN "*.h")
set_target_properties(vectable_client PROPERTIES EXPORT_NAME client)
install(TARGETS vectable_client vectable_sizing vectable_common vectable_proto EXPORT Vectable
        ARCHIVE COMPONENT vectable-dev)
install(EXPORT Vectable NAMESPACE Vectable:: DESTINATION ${package_dir} COMPONENT vectable-dev)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/VectableConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/VectableConfig.cmake ${PROJECT_BINARY_DIR}/VectableConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT vectable-dev)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME vectable)
set(CPACK_PACKAGE_CONTACT "Vectable maintainers <maintainers@vectable.invalid>")
set(CPACK_PACKAGE_VENDOR Vectable)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Vector database of words and their vectors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL vectable vectable-dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION database)
set(CPACK_DEBIAN_VECTABLE_PACKAGE_NAME vectable)
set(CPACK_DEBIAN_VECTABLE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_VECTABLE_PACKAGE_RECOMMENDS libopenblas0-pthread)
set(CPACK_DEBIAN_VECTABLE_PACKAGE_CONTROL_EXTRA
    ${PROJECT_SOURCE_DIR}/packaging/debian/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles)
set(CPACK_DEBIAN_VECTABLE-DEV_PACKAGE_NAME vectable-dev)
set(CPACK_DEBIAN_VECTABLE-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_VECTABLE-DEV_DESCRIPTION "C++ client of Vectable")
set(CPACK_DEBIAN_VECTABLE-DEV_PACKAGE_DEPENDS
    "libgrpc++-dev, libgrpc-dev, libprotobuf-dev, libabsl-dev, libfmt-dev, libfast-float-dev, libhwy-dev, \
nlohmann-json3-dev, zlib1g-dev")
include(CPack)
