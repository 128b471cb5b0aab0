# zig.cmake: cross-compiles with the PyPI package ziglang. cmake/platforms.py says which program and which of its targets,
# such as aarch64-linux-gnu.2.17. Nothing of the host's own system, its SDK for example, takes part.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FMUMBS_TARGET FMUMBS_ZIG)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
if(FMUMBS_TARGET MATCHES "windows")
  set(CMAKE_SYSTEM_NAME Windows)
elseif(FMUMBS_TARGET MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
  set(CMAKE_OSX_SYSROOT "" CACHE STRING "" FORCE)
  set(CMAKE_OSX_ARCHITECTURES "" CACHE STRING "" FORCE)
  set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "" FORCE)
elseif(FMUMBS_TARGET MATCHES "wasi")
  set(CMAKE_SYSTEM_NAME WASI)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
string(REGEX MATCH "^[^-]*" CMAKE_SYSTEM_PROCESSOR "${FMUMBS_TARGET}")
set(CMAKE_C_COMPILER "${FMUMBS_ZIG}")
set(CMAKE_C_COMPILER_ARG1 "cc -target ${FMUMBS_TARGET}")
if(FMUMBS_TARGET MATCHES "^x86-|^aarch64-windows") # few hosts, but every FMU carries them
  set(FMUMBS_OPTIMIZATION -Os CACHE STRING "optimization of the core by GCC and Clang")
endif()
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s) # neither symbols nor what a debugger reads
set(CMAKE_SHARED_LINKER_FLAGS_INIT -s)

# what CMake finds out by linking a program, for which zig would compile the target's whole C library once more
set(CMAKE_C_COMPILER_ID_RUN TRUE)
set(CMAKE_C_COMPILER_ID Clang)
set(CMAKE_C_COMPILER_VERSION 22)
set(CMAKE_C_COMPILER_FRONTEND_VARIANT GNU)
set(CMAKE_C_STANDARD_COMPUTED_DEFAULT 17)
set(CMAKE_C_EXTENSIONS_COMPUTED_DEFAULT ON)
