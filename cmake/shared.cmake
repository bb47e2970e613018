# The shared libraries that programs in C++ and C link, and what `cmake --install` lays out for them:
#   libweft_runtime  loads and runs executables; knows no compiler (weftwork::runtime, weftwork-runtime.pc)
#   libweft          the same and the compiler, with lazy tensors and jit (weftwork::weft, weftwork.pc): a program links one of both
#   libweft_linalg   the routines of linear algebra, which libweft_runtime loads when a program needs them
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(weft_shared name)
  cmake_parse_arguments(shared "" "" "SOURCES;LAYERS;LINK" ${ARGN})
  add_library(weft_${name}_shared SHARED ${shared_SOURCES})
  foreach(layer IN LISTS shared_LAYERS)
    target_sources(weft_${name}_shared PRIVATE $<TARGET_OBJECTS:weft_${layer}>)
  endforeach()
  target_link_libraries(weft_${name}_shared PRIVATE weft_options ${shared_LINK})
  target_compile_definitions(weft_${name}_shared PRIVATE WEFT_VERSION="${PROJECT_VERSION}")
  target_include_directories(weft_${name}_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
  target_compile_features(weft_${name}_shared INTERFACE cxx_std_20)
  # Beside each other when installed, and where they are built.
  string(REPLACE weft_weft weft file weft_${name})
  set_target_properties(weft_${name}_shared PROPERTIES OUTPUT_NAME ${file} EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION} BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN"
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  # Names of what is not exported would be a sixth of the file.
  target_link_options(weft_${name}_shared PRIVATE -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,-Bsymbolic-functions
    -Wl,--discard-all)
  install(TARGETS weft_${name}_shared EXPORT weftwork LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

weft_shared(runtime SOURCES shared/linalg_on_demand.cpp LAYERS core distributed library runtime)
weft_shared(weft LAYERS core distributed library runtime frontend LINK weft_compiler)
weft_shared(linalg SOURCES shared/linalg_library.cpp LINK weft_linalg)

foreach(folder core distributed runtime)
  # What is marked for users, and what that includes.
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.h)
  foreach(header IN LISTS headers)
    file(STRINGS ${header} is_public REGEX "WEFT_API")
    if(is_public)
      install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${folder})
    endif()
  endforeach()
endforeach()
install(TARGETS weft_support ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES frontend/control.h frontend/functions.h frontend/jit.h frontend/linalg.h frontend/operand.h frontend/random.h frontend/regular.def frontend/tensor.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/frontend)
install(FILES ir/ops.def DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/ir)
install(FILES c.h runtime.h weft.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/weftwork)
install(EXPORT weftwork NAMESPACE weftwork:: DESTINATION ${package} FILE weftwork-targets.cmake)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/weftwork-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/weftwork-config.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/weftwork-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weftwork-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/weftwork-config-version.cmake DESTINATION ${package})
foreach(name weftwork weftwork-runtime)
  string(REPLACE weftwork weft library ${name})
  string(REPLACE - _ library ${library})
  # From the folder of the .pc files to the prefix: the libraries may lie in lib/x86_64-linux-gnu.
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/weftwork.pc.in ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
