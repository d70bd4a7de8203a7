#!/usr/bin/env bash
# Installs one package, goes with it from nothing to the report of a simulated GPU, removes it, and looks for leftovers.
#
#   scripts/try_package.sh [--extract] FILE KERNEL
#
# FILE is a .deb, a .tar.gz or a .whl. KERNEL is a cubin with the kernel stream_copy_x4, which is predicted. --extract
# unpacks a .deb instead of installing it, for systems that are used otherwise, and allows a compiler. EXPERIMENTS limits
# the scan, say to "caches,tlb"; it is whole without.
set -euo pipefail

extract=
if [[ ${1:-} == --extract ]]; then extract=yes; shift; fi
[[ $# -eq 2 ]] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
file=$1
kernel=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# gputomo-0.1.0-linux-x86_64.tar.gz, gputomo_0.1.0_amd64.deb, gputomo-0.1.0-cp311-cp311-PLATFORM.whl
version=$(basename "$file" | sed -E 's/^gputomo[-_]([^-_]+)[-_].*/\1/; s/~dev/.dev/')

fail() {
    echo "try_package: $(basename "$file"): $1" >&2
    exit 1
}

# Every file of the system but those that package managers and this script keep.
files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/log \
        -o -path /var/cache \) -prune -o -print | sort
}

# exercise PROGRAM: the commands of a first quarter of an hour.
exercise() {
    local program=$1 only=()
    [[ -z ${EXPERIMENTS:-} ]] || only=(--only "$EXPERIMENTS")
    [[ $("$program" --version) == "$version ("* ]] || fail "it says that it is $("$program" --version)"
    "$program" scan --device sim:gtx280 --quick --quiet "${only[@]}" --out "$work/scan" >"$work/table" 2>"$work/messages" ||
        fail "scan failed: $(tail -n 1 "$work/messages")"
    grep -q '</html>' "$work/scan/report.html" || fail "the report is not whole"
    "$program" show '*' "$work/scan/machine.json" >"$work/values" || fail "show failed"
    grep -q '[0-9]' "$work/values" || fail "the description has no value"
    "$program" predict "$kernel" --kernel stream_copy_x4 --machine h200 --grid 132 --block 256 --arg buf:8650752 \
        --arg buf:8650752 --arg u64:540672 --arg u32:2 --json >"$work/answer.json" || fail "predict failed"
    grep -q '"microseconds"' "$work/answer.json" || fail "the answer has no time"
    # The loader says so if the library of `capture` does not fit the C library.
    "$program" capture --out "$work/capture" -- true >"$work/captured" 2>&1 || true
    if grep -q 'ld\.so' "$work/captured"; then fail "capture: $(grep 'ld\.so' "$work/captured" | head -n 1)"; fi
}

if [[ -z $extract ]]; then
    for compiler in cc gcc g++ clang nvcc; do
        if command -v $compiler >/dev/null; then fail "there is a compiler here: $compiler"; fi
    done
    files >"$work/before"
fi
start=$SECONDS
case $file in
    *.deb)
        if [[ -n $extract ]]; then
            dpkg-deb -x "$file" "$work/root"
            exercise "$work/root/usr/bin/gputomo"
        else
            dpkg -i "$file" >"$work/dpkg" 2>&1 || fail "dpkg -i failed: $(tail -n 1 "$work/dpkg")"
            exercise gputomo
            hash -r
            dpkg --purge gputomo >>"$work/dpkg" 2>&1 || fail "dpkg --purge failed: $(tail -n 1 "$work/dpkg")"
        fi
        ;;
    *.tar.gz)
        mkdir "$work/unpacked"
        tar -xzf "$file" -C "$work/unpacked"
        exercise "$work/unpacked/gputomo-$version-"*/bin/gputomo
        ;;
    *.whl)
        python3 -m venv "$work/venv"
        "$work/venv/bin/pip" install -q --no-index --disable-pip-version-check "$file" >"$work/pip" 2>&1 || {
            grep -q 'not a supported wheel' "$work/pip" || fail "pip: $(tail -n 1 "$work/pip")"
            echo "$(basename "$file"): skipped: $(python3 --version) takes no such wheel"
            exit 77
        }
        exercise "$work/venv/bin/gputomo"
        "$work/venv/bin/python" - "$kernel" "$version" <<'PYTHON'
import sys
import gputomo
assert gputomo.__version__ == sys.argv[2], gputomo.__version__
h200 = gputomo.load("h200")
step = 16 * 132 * 256
answer = gputomo.kernel(sys.argv[1], name="stream_copy_x4").predict(
    132, [gputomo.Buffer(step * 16), gputomo.Buffer(step * 16), step, 2], h200, block=256)
assert answer.time.microseconds > 0
PYTHON
        "$work/venv/bin/pip" uninstall -q -y gputomo
        left=$(find "$work/venv" -iname '*gputomo*')
        [[ -z $left ]] || fail "pip uninstall left $left"
        ;;
    *) fail "it is no package; expected .deb, .tar.gz or .whl" ;;
esac
took=$((SECONDS - start))
if [[ -z $extract ]]; then
    files >"$work/after"
    left=$(comm -13 "$work/before" "$work/after")
    [[ -z $left ]] || fail "it left $left"
fi
echo "$(basename "$file"): works, from file to report and removed again in $took s"
