# The target weft_llvm: static LLVM through its C API, for weft/codegen alone.
#
# LLVM comes from the build requirement mlc-llvm-static, which knows where it lies; -DLLVM_DIR=… names another one.
if(NOT LLVM_DIR)
  if(NOT Python_EXECUTABLE)
    find_package(Python 3.10 COMPONENTS Interpreter REQUIRED)
  endif()
  foreach(what prefix cmake-dir)
    execute_process(COMMAND ${Python_EXECUTABLE} -m mlc_llvm_static.config --${what}
      OUTPUT_VARIABLE llvm_${what} OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  list(PREPEND CMAKE_PREFIX_PATH ${llvm_prefix})
  set(LLVM_DIR ${llvm_cmake-dir})
endif()
set(ZLIB_USE_STATIC_LIBS ON)
find_package(LLVM REQUIRED CONFIG GLOBAL)

set(components Core Analysis AsmParser IRReader Passes Target BitWriter)
foreach(target X86 AArch64)
  if(target IN_LIST LLVM_TARGETS_TO_BUILD)
    list(APPEND components ${target}CodeGen ${target}AsmParser ${target}Desc ${target}Info ${target}Disassembler)
    list(APPEND llvm_definitions WEFT_LLVM_${target})
  endif()
endforeach()
llvm_map_components_to_libnames(llvm_libraries ${components})

add_library(weft_llvm INTERFACE)
target_include_directories(weft_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(weft_llvm INTERFACE ${llvm_definitions})
target_link_libraries(weft_llvm INTERFACE ${llvm_libraries})
