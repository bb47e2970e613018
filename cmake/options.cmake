# How our own code is compiled and linked.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g1")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Relative paths, so that every checkout and every build folder of one depth shares the cache.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()
# One LLVM link takes a gigabyte and all the cores; more at once only makes machines swap.
set_property(GLOBAL PROPERTY JOB_POOLS link=2)
set(CMAKE_JOB_POOL_LINK link)

if(WEFT_SANITIZE)
  # LLVM is built without RTTI, and the linker may keep its copy of a vtable that both have (shared_ptr's): no vptr.
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
  if(WEFT_SANITIZE MATCHES fuzzer)
    add_compile_definitions(FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION)
  endif()
endif()

# Flags of our own targets only. The reference interpreter computes with plain C++ arithmetic, so the compiler may
# neither contract a multiply and an add nor rearrange anything. g++ 12 vectorizes two conversions to float and back to
# double into none at all, hence no vectorizing of straight code.
add_library(weft_options INTERFACE)
# No path of the machine that builds is in what ships: files are named from the root of the sources on, whether they are given to
# the compiler as they are or, by ccache, from the build folder.
file(RELATIVE_PATH up ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
target_compile_options(weft_options INTERFACE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/= -fmacro-prefix-map=${up}=)
target_include_directories(weft_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(weft_options INTERFACE
  -Wall -Wextra -Wconversion -Wno-sign-conversion
  -fno-math-errno -ffp-contract=off -fno-tree-slp-vectorize -ffunction-sections -fdata-sections)
find_package(Threads REQUIRED)
target_link_libraries(weft_options INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
