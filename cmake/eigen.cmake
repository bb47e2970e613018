# The target weft_eigen: the headers of Eigen, for weft/library/linalg_*.cpp alone.
#
# They come from the build requirement cmeel-eigen; -DEIGEN3_INCLUDE_DIR=… names others.
if(NOT EIGEN3_INCLUDE_DIR)
  if(NOT Python_EXECUTABLE)
    find_package(Python 3.10 COMPONENTS Interpreter REQUIRED)
  endif()
  set(find "from importlib.metadata import distribution"
    "print(distribution('cmeel-eigen').locate_file('cmeel.prefix/include/eigen3'))")
  execute_process(COMMAND ${Python_EXECUTABLE} -c "${find}"
    OUTPUT_VARIABLE EIGEN3_INCLUDE_DIR OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
if(NOT EXISTS "${EIGEN3_INCLUDE_DIR}/Eigen/Core")
  message(FATAL_ERROR "Eigen is not in '${EIGEN3_INCLUDE_DIR}'")
endif()

add_library(weft_eigen INTERFACE)
target_include_directories(weft_eigen SYSTEM INTERFACE ${EIGEN3_INCLUDE_DIR})
