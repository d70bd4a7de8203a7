#!/usr/bin/env bash
# Installs the apt packages that building and testing need and that are missing. If none is missing, it does nothing and
# needs no network.
set -euo pipefail

packages=(
    g++ cmake ninja-build ccache
    libfmt-dev nlohmann-json3-dev libcli11-dev libsqlite3-dev zlib1g-dev
    libgtest-dev libgmock-dev
    python3 python3-jsonschema
)
if [[ "${1:-}" == bench ]]; then packages+=(libbenchmark-dev); fi
if [[ "${1:-}" == lint ]]; then packages+=(clang-format clang-tidy); fi
if [[ "${1:-}" == browser ]]; then
    packages+=(chromium)
    command -v npm >/dev/null || packages+=(nodejs npm)  # Node.js often comes from elsewhere
fi
if [[ "${1:-}" == fuzz ]]; then packages+=(clang); fi

missing=()
for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
    [[ "$status" == "install ok installed" ]] || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

sudo=()
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
