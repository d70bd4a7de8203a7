#!/usr/bin/env bash
# Tries the README's two commands on freshly made Debian systems, and the build with every compiler that is supported.
#
#   scripts/try_systems.sh DIR [SYSTEM ...]
#
# SYSTEM is debian12, debian13, or a compiler, say gcc-13 or clang-18; all by default. DIR gets the root file systems
# (about 3 GB each) and a log for each system. Needs root and debootstrap; MIRROR names another Debian mirror.
# A root that is missing is made from scratch, so that nothing installed by hand can help; delete one to make it again.
set -euo pipefail

[[ $# -ge 1 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
. "$(dirname "$0")/roots.sh"
roots_need try_systems
mkdir -p "$1"
place=$(cd "$1" && pwd)
shift
source=$(cd "$(dirname "$0")/.." && pwd)

# A compiler and the Debian release that packages it.
declare -A releases=(
    [debian12]=bookworm [debian13]=trixie
    [gcc-12]=bookworm [gcc-13]=trixie [gcc-14]=trixie
    [clang-14]=bookworm [clang-15]=bookworm [clang-16]=bookworm [clang-17]=trixie [clang-18]=trixie [clang-19]=trixie
)
systems=("$@")
[[ ${#systems[@]} -gt 0 ]] ||
    systems=(debian12 debian13 gcc-12 gcc-13 gcc-14 clang-14 clang-15 clang-16 clang-17 clang-18 clang-19)

# What is committed, as a clone would have it.
copy_tree() {
    rm -rf "$1/gputomo"
    git -C "$source" clone -q --no-hardlinks "$source" "$1/gputomo"
}

failed=0
for system in "${systems[@]}"; do
    release=${releases[$system]:-}
    [[ -n $release ]] || { echo "try_systems: $system is unknown; expected one of ${!releases[*]}" >&2; exit 2; }
    root=$place/$release
    log=$place/$system.log
    case $system in
        debian*) root=$place/$system commands="cd /gputomo; make scan; make test" ;;
        gcc-*) commands="apt-get update -qq; apt-get install -y -qq --no-install-recommends g++-${system#gcc-}
                 cd /gputomo; scripts/setup.sh
                 cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=g++-${system#gcc-}
                 cmake --build build" ;;
        clang-*) commands="apt-get update -qq; apt-get install -y -qq --no-install-recommends $system
                 cd /gputomo; scripts/setup.sh
                 cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_COMPILER=clang++-${system#clang-}
                 cmake --build build" ;;
    esac
    start=$SECONDS
    if { make_root "$root" "$release" make,ca-certificates && copy_tree "$root" && in_root "$root" "$commands"; } >"$log" 2>&1; then
        verdict=passed
    else
        verdict=FAILED
        failed=1
    fi
    echo "$system: $verdict after $((SECONDS - start)) s: $(tail -n 1 "$log")"
done
exit $failed
