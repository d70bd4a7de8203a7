#!/usr/bin/env bash
# Tries the packages of a folder: on this system from an empty environment, or in freshly made roots without a compiler.
#
#   scripts/try_packages.sh PACKAGES [ROOTS [SYSTEM ...]]
#
# ROOTS gets the root file systems (0.4 GB each, made when missing) of debian12, debian13, ubuntu22.04 and ubuntu24.04, or
# of the SYSTEMs named. That needs root and debootstrap. Without ROOTS, a .deb is unpacked and not installed. debian11 is
# for packages that GLIBC=2.28 made.
set -euo pipefail

[[ $# -ge 1 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
kernel=$here/../tests/data/cubin/stream_copy_x4.sm_90.cubin
packages=$(cd "$1" && pwd)
shift
shopt -s nullglob
files=("$packages"/*.deb "$packages"/*.tar.gz "$packages"/*.whl)
[[ ${#files[@]} -gt 0 ]] || { echo "try_packages: $packages has no package" >&2; exit 2; }

failed=0
# tried NAME COMMAND...: says what became of it.
tried() {
    local name=$1 status=0
    shift
    "$@" 2>&1 | sed "s/^/$name: /" || status=$?
    [[ $status -eq 0 || $status -eq 77 ]] || failed=1
}

if [[ $# -eq 0 ]]; then
    for file in "${files[@]}"; do
        tried here env -i PATH="$PATH" HOME=/nonexistent LANG=C.UTF-8 ${EXPERIMENTS:+EXPERIMENTS=$EXPERIMENTS} \
            "$here/try_package.sh" --extract "$file" "$kernel"
    done
    exit $failed
fi

. "$here/roots.sh"
roots_need try_packages
roots=$(mkdir -p "$1" && cd "$1" && pwd)
shift
systems=("$@")
[[ ${#systems[@]} -gt 0 ]] || systems=(debian12 debian13 ubuntu22.04 ubuntu24.04)
for system in "${systems[@]}"; do
    release=$(release_of "$system") ||
        { echo "try_packages: $system is unknown; expected debian11, debian12, debian13, ubuntu22.04 or ubuntu24.04" >&2; exit 2; }
    root=$roots/$system-packages
    make_root "$root" "$release" python3,python3-venv >"$root.log" 2>&1 ||
        { echo "$system: no root could be made: $(tail -n 1 "$root.log")"; failed=1; continue; }
    rm -rf "$root/tmp/packages"
    mkdir "$root/tmp/packages"
    cp "${files[@]}" "$here/try_package.sh" "$kernel" "$root/tmp/packages/"
    for file in "${files[@]}"; do
        tried "$system" in_root "$root" "EXPERIMENTS=${EXPERIMENTS:-} /tmp/packages/try_package.sh \
            '/tmp/packages/$(basename "$file")' /tmp/packages/$(basename "$kernel")"
    done
    rm -rf "$root/tmp/packages"
done
exit $failed
