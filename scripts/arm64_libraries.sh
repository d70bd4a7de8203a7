#!/usr/bin/env bash
# Unpacks Debian's arm64 packages of the libraries that gputomo holds, to link against when cross-compiling.
#
#   scripts/arm64_libraries.sh DIR [PYTHON]
#
# DIR gets usr/include and usr/lib/aarch64-linux-gnu. The packages are those of this system's release, and neither dpkg
# nor apt of this system knows of them afterwards. PYTHON (python3 by default) says which Python's headers come along.
# Where the release has no such Python, they are those of PYTHON itself: headers of 64-bit Linux differ in nothing that
# an extension with the stable interface uses.
set -euo pipefail
[[ $# -ge 1 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
into=$(cd "$1" && pwd)
python=$("${2:-python3}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

packages=(
    libfmt-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev zlib1g-dev nettle-dev libzstd-dev liblz4-dev libxxhash-dev
    libgtest-dev libgmock-dev
)
# An apt of its own for arm64, on which nothing is installed.
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/packages"
chmod -R a+rX "$work"
: >"$work/status"
options=(-o "Dir::State=$work/state" -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
    -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Acquire::Languages=none -o APT::Sandbox::User=root)
apt-get "${options[@]}" -qq update || true  # lists that have no arm64 fail; a package that is missing ends the script
headers=
if apt-cache "${options[@]}" show "libpython$python-dev" >/dev/null 2>&1; then
    packages+=("libpython$python-dev")
else
    headers=$("${2:-python3}" -c 'import sysconfig; print(sysconfig.get_path("include"))')
    [[ -e $headers/Python.h ]] ||
        { echo "arm64_libraries: $headers has no Python.h; expected the headers of Python $python" >&2; exit 1; }
fi
# CMake's files of libraries ask for the shared ones, too, on which the packages depend.
mapfile -t libraries < <(apt-cache "${options[@]}" depends --important "${packages[@]}" |
    sed -nE 's/^  (Pre)?Depends: (lib[a-z0-9.+-]*)$/\2/p' | grep -v '^libc6' | sort -u)
(cd "$work/packages" && apt-get "${options[@]}" -qq download "${packages[@]}" "${libraries[@]}") ||
    { echo "arm64_libraries: the packages could not be fetched; expected a Debian mirror with arm64" >&2; exit 1; }
for file in "$work/packages"/*.deb; do dpkg-deb -x "$file" "$into"; done
# Where these are on the system that the packages come from: in /lib.
[[ ! -d $into/lib/aarch64-linux-gnu ]] || cp -an "$into/lib/aarch64-linux-gnu/." "$into/usr/lib/aarch64-linux-gnu/"
if [[ -n $headers ]]; then
    mkdir -p "$into/usr/include/python$python"
    cp -a "$headers/." "$into/usr/include/python$python/"
fi
touch "$into/whole"
