#!/usr/bin/env bash
# Makes libraries to link against that have the functions of an older glibc, and no code.
#
#   scripts/glibc_stubs.sh VERSION DIR [PYTHON [PROCESSOR]]
#
# VERSION is that of glibc, say 2.28. DIR gets libc.so.6 and the others, for -DGPUTOMO_GLIBC_STUBS=DIR. The compiler of
# Zig knows which functions each glibc has, and writes them when it links an empty program. PYTHON (python3 by default)
# has the package `ziglang`. PROCESSOR is x86_64 or aarch64, this system's by default.
set -euo pipefail
[[ $# -ge 2 ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
version=$1
mkdir -p "$2"
into=$(cd "$2" && pwd)
python=${3:-python3}
processor=${4:-$(uname -m)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo 'int main(void) { return 0; }' >"$work/empty.c"
ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache "$python" -m ziglang cc \
    -target "$processor-linux-gnu.$version" -o "$work/empty" "$work/empty.c" -lm -lpthread -ldl

# take NAME AS...: a file that Zig wrote, under one name or several.
take() {
    local found
    found=$(find "$work/cache" -name "$1" | head -n 1)
    [[ -n $found ]] || { echo "glibc_stubs: Zig wrote no $1; expected a ziglang of 0.12 or newer" >&2; exit 1; }
    shift
    for name in "$@"; do cp "$found" "$into/$name"; done
}
take libc.so.6 libc.so.6
take libm.so.6 libm.so.6 libm.so
take libpthread.so.0 libpthread.so.0 libpthread.so
take libdl.so.2 libdl.so.2 libdl.so
# The loader: without its __tls_get_addr, GNU ld leaves an empty entry in the table of called functions, and programs do
# not start ("unexpected PLT reloc type 0x00").
take libld.so.2 loader.so
take libc_nonshared.a libc_nonshared.a
echo "$version" >"$into/version"
