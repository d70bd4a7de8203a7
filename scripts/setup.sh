#!/usr/bin/env bash
# Installs the apt packages that building and testing need and that are missing. If none is missing, it does nothing and
# needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(
    g++ cmake ninja-build
    libfmt-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev zlib1g-dev nettle-dev
    libzstd-dev liblz4-dev libxxhash-dev
    libgtest-dev libgmock-dev
    python3 python3-jsonschema
)
if [[ "${1:-}" == bench ]]; then packages+=(libbenchmark-dev); fi
if [[ "${1:-}" == lint ]]; then packages+=(clang-format python3-venv); fi
if [[ "${1:-}" == browser ]]; then
    packages+=(chromium)
    command -v npm >/dev/null || packages+=(nodejs npm)  # Node.js often comes from elsewhere
fi
if [[ "${1:-}" == fuzz ]]; then packages+=(clang); fi
if [[ "${1:-}" == package ]]; then
    packages+=(python3-dev python3-venv dpkg-dev file)
    if [[ ${ARCH:-} == arm64 && $(dpkg --print-architecture) != arm64 ]]; then
        packages+=(g++-aarch64-linux-gnu qemu-user-static)
    fi
fi
if [[ "${1:-}" == python ]]; then packages+=(python3-dev python3-venv); fi

# install PACKAGE...: those that are missing.
install() {
    local missing=() package status sudo=()
    for package in "$@"; do
        status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
        [[ "$status" == "install ok installed" ]] || missing+=("$package")
    done
    [[ ${#missing[@]} -gt 0 ]] || return 0
    if [[ $(id -u) -ne 0 ]]; then
        command -v sudo >/dev/null || {
            echo "setup: ${missing[*]}: these packages are missing; expected root or sudo to install them" >&2
            exit 1
        }
        sudo=(sudo)
    fi
    echo "setup: installing ${missing[*]}" >&2
    "${sudo[@]}" apt-get update -qq
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# The same clang-tidy on every system: distributions package versions that differ in what they find, and the older ones
# spend most of their time on the headers of libraries.
lint_tools() {
    local venv=build-lint/venv
    [[ -x $venv/bin/clang-tidy ]] && return
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check clang-tidy==23.1.4
}

# What the Python package is built and tested with. Without Python 3.10 or a network, the release build has no package,
# and its tests say so and are skipped. What could not be installed is tried again the next time. GPUTOMO_TRITON names
# another version of Triton, such as triton==3.6.0, for a folder build/venv that is not there yet.
python_tools() {
    local venv=build/venv whole=build/venv/whole
    [[ -e $whole ]] && return
    if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
        echo "setup: the Python package is not built: found $(python3 --version), expected Python 3.10 or newer" >&2
        return
    fi
    [[ -x $venv/bin/python ]] || python3 -m venv "$venv"
    local pip=("$venv/bin/pip" install -q --disable-pip-version-check --retries 1 --timeout 20)
    if ! "${pip[@]}" 'nanobind>=2.4'; then
        rm -rf "$venv"
        echo "setup: the Python package is not built: nanobind could not be installed" >&2
        return
    fi
    if "${pip[@]}" numpy pandas polars pyarrow mypy "${GPUTOMO_TRITON:-triton>=3.4}"; then
        touch "$whole"
    else
        echo "setup: some tests of the Python package are skipped: not all that they need could be installed" >&2
    fi
}

# libFuzzer and the sanitizers of the installed clang, where the distribution packages them apart from it.
fuzz_runtime() {
    local package
    package=libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev
    if apt-cache show "$package" >/dev/null 2>&1; then install "$package"; fi
}

install "${packages[@]}"
if [[ "${1:-}" == lint ]]; then lint_tools; fi
if [[ "${1:-}" == fuzz ]]; then fuzz_runtime; fi
if [[ "${1:-}" == python ]]; then python_tools; fi
