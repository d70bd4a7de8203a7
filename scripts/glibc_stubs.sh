#!/usr/bin/env bash
# Makes libraries to link against that have the functions of an older glibc, and nothing in them.
#
#   scripts/glibc_stubs.sh DIR [VERSION]
#
# VERSION is 2.28 by default. Zig's compiler makes them; it comes from the Python package ziglang, which is installed
# into DIR/venv. Then configure with -DGPUTOMO_GLIBC_STUBS=DIR.
set -euo pipefail
folder=$(mkdir -p "${1:?usage: glibc_stubs.sh DIR [VERSION]}" && cd "$1" && pwd)
version=${2:-2.28}
[[ -x $folder/venv/bin/python ]] || python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check ziglang
export ZIG_GLOBAL_CACHE_DIR=$folder/zig
echo 'int main(void) { return 0; }' >"$folder/empty.c"
"$folder/venv/bin/python" -m ziglang cc -target "$(uname -m)-linux-gnu.$version" "$folder/empty.c" -o "$folder/empty"
made=$(dirname "$(find "$folder/zig/o" -name libc.so.6 -print -quit)")
cp "$made"/lib*.so.* "$folder/"
cp "$(find "$folder/zig/o" -name libc_nonshared.a -print -quit)" "$folder/"
for name in m dl pthread rt util resolv; do
    ln -sf "$(basename "$(find "$folder" -maxdepth 1 -name "lib$name.so.*" -print -quit)")" "$folder/lib$name.so"
done
echo 'GROUP ( libc.so.6 libc_nonshared.a )' >"$folder/libc.so"
echo "glibc_stubs: $folder has the functions of glibc $version"
