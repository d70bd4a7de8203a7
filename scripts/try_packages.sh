#!/usr/bin/env bash
# Tries the packages of a folder: on this system from an empty environment, or in freshly made roots without a compiler.
#
#   scripts/try_packages.sh PACKAGES [ROOTS [SYSTEM ...]]
#
# ROOTS gets the root file systems (0.4 GB each, made when missing) of debian12, debian13, ubuntu22.04 and ubuntu24.04, or
# of the SYSTEMs named, also debian11. That needs root and debootstrap. Without ROOTS, a .deb is unpacked and not
# installed. With NOTEBOOK set, wheels also execute the notebook in each root, for which pip needs a network.
#
# ARCH=arm64 is for packages of that processor on another one. Its roots are those of debian12 and debian13. Their
# programs run under qemu-user-static, so that scans are limited to the experiment `caches` unless EXPERIMENTS is set.
set -euo pipefail

[[ $# -ge 1 ]] || { sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
kernel=$here/../tests/data/cubin/stream_copy_x4.sm_90.cubin
packages=$(cd "$1" && pwd)
shift
shopt -s nullglob
files=("$packages"/*.deb "$packages"/*.tar.gz "$packages"/*.whl)
[[ ${#files[@]} -gt 0 ]] || { echo "try_packages: $packages has no package" >&2; exit 2; }

suffix=
systems=(debian12 debian13 ubuntu22.04 ubuntu24.04)
experiments=${EXPERIMENTS:-}
if [[ -n ${ARCH:-} && $ARCH != "$(dpkg --print-architecture)" ]]; then
    suffix=-$ARCH
    systems=(debian12 debian13)
    experiments=${EXPERIMENTS:-caches}
    export ARCH
else
    unset ARCH
fi

failed=0
# tried NAME COMMAND...: says what became of it.
tried() {
    local name=$1 status=0
    shift
    "$@" 2>&1 | sed "s/^/$name: /" || status=$?
    [[ $status -eq 0 || $status -eq 77 ]] || failed=1
}

if [[ $# -eq 0 && -n $suffix ]]; then
    echo "try_packages: packages for $ARCH are tried in roots alone: scripts/try_packages.sh $packages ROOTS"
    exit 0
fi
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
[[ $# -eq 0 ]] || systems=("$@")
for system in "${systems[@]}"; do
    release=$(release_of "$system") ||
        { echo "try_packages: $system is unknown; expected debian11, debian12, debian13, ubuntu22.04 or ubuntu24.04" >&2; exit 2; }
    root=$roots/$system$suffix-packages
    make_root "$root" "$release" python3,python3-venv >"$root.log" 2>&1 ||
        { echo "$system: no root could be made: $(tail -n 1 "$root.log")"; failed=1; continue; }
    rm -rf "$root/tmp/packages"
    mkdir "$root/tmp/packages"
    cp "${files[@]}" "$here/try_package.sh" "$kernel" "$root/tmp/packages/"
    for file in "${files[@]}"; do
        tried "$system" in_root "$root" "EXPERIMENTS=$experiments /tmp/packages/try_package.sh \
            '/tmp/packages/$(basename "$file")' /tmp/packages/$(basename "$kernel")"
        [[ -n ${NOTEBOOK:-} && $file == *.whl ]] || continue
        mkdir -p "$root/tmp/packages/tree"
        (cd "$here/.." && tar -c docs/notebooks machines python/examples recordings tests/answer/fixtures) |
            tar -x -C "$root/tmp/packages/tree"
        cp "$here/try_notebook.sh" "$root/tmp/packages/"
        certificates=
        if [[ -n ${PIP_CERT:-} ]]; then
            cp "$PIP_CERT" "$root/tmp/packages/certificates"
            certificates=PIP_CERT=/tmp/packages/certificates
        fi
        tried "$system" in_root "$root" "$certificates /tmp/packages/try_notebook.sh \
            '/tmp/packages/$(basename "$file")' /tmp/packages/tree"
    done
    rm -rf "$root/tmp/packages"
done
exit $failed
