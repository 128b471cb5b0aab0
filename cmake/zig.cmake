# zig.cmake: cross-compiles with the PyPI package ziglang. FMUMBS_TARGET is zig's name of the platform, such as
# aarch64-linux-gnu.2.17; cmake/platforms.py has them all.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FMUMBS_TARGET FMUMBS_PYTHON)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
if(FMUMBS_TARGET MATCHES "windows")
  set(CMAKE_SYSTEM_NAME Windows)
elseif(FMUMBS_TARGET MATCHES "macos")
  set(CMAKE_SYSTEM_NAME Darwin)
else()
  set(CMAKE_SYSTEM_NAME Linux)
endif()
string(REGEX MATCH "^[^-]*" CMAKE_SYSTEM_PROCESSOR "${FMUMBS_TARGET}")
set(CMAKE_C_COMPILER "${FMUMBS_PYTHON}")
set(CMAKE_C_COMPILER_ARG1 "-m ziglang cc -target ${FMUMBS_TARGET}")
