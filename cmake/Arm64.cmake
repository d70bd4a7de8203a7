# A toolchain file: compiles for arm64 on another processor, with Debian's cross-compiler (g++-aarch64-linux-gnu) and
# its emulator (qemu-user-static). GPUTOMO_ARM64_LIBRARIES is the folder that scripts/arm64_libraries.sh filled.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GPUTOMO_ARM64_LIBRARIES)

# Programs are this system's, libraries and headers those of arm64. CMake's packages without code are taken from either.
set(CMAKE_FIND_ROOT_PATH ${GPUTOMO_ARM64_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
# Python's headers include that of the processor from here.
set(CMAKE_CXX_FLAGS_INIT "-isystem ${GPUTOMO_ARM64_LIBRARIES}/usr/include")
