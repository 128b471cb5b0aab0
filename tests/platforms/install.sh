#!/bin/sh
# Installs what the tests in this folder need to execute binaries for other platforms, on Debian, as root: wine for
# Windows, qemu and a C library for ARM, a C library for 32-bit Linux, localedef. A second run changes nothing.
# The binaries themselves, and zig: `make platforms`.
set -e
WANTED="wine wine64 wine32:i386 qemu-user libc6-arm64-cross libc6:i386 locales"
absent=
for package in $WANTED; do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || absent="$absent $package"
done
if [ -n "$absent" ]; then
  dpkg --add-architecture i386
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $absent
fi
cd "$(dirname "$0")/../.."
.venv/bin/python -m ziglang version >/dev/null 2>&1 || echo "zig is absent: make platforms installs it and builds the binaries"
