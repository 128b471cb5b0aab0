#!/bin/sh
# Installs what the tests in this folder need to execute binaries for other platforms, on Debian, as root: wine for
# Windows, qemu and a C library for ARM, a C library for 32-bit Linux. The binaries themselves: `make platforms`.
set -e
dpkg --add-architecture i386
apt-get update -q
DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
  wine wine64 wine32:i386 qemu-user libc6-arm64-cross libc6:i386
