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

# libFuzzer and the sanitizers of the installed clang, where the distribution packages them apart from it.
fuzz_runtime() {
    local package
    package=libclang-rt-$(clang -dumpversion | cut -d . -f 1)-dev
    if apt-cache show "$package" >/dev/null 2>&1; then install "$package"; fi
}

install "${packages[@]}"
if [[ "${1:-}" == lint ]]; then lint_tools; fi
if [[ "${1:-}" == fuzz ]]; then fuzz_runtime; fi
