#!/usr/bin/env bash
# Runs the quick browser test for `make test`: run.sh GPUTOMO FOLDER. If Chromium, Node.js or playwright-core is missing,
# it exits with 77, which CTest counts as skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
skip() { echo "skipped: $1; \`make browser-test\` installs what is missing"; exit 77; }

chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)}
[[ -x "$chromium" ]] || skip "no Chromium"
command -v node >/dev/null || skip "no Node.js"
if [[ ! -d $here/node_modules/playwright-core ]]; then
    command -v npm >/dev/null || skip "no npm"
    (cd "$here" && timeout 60 npm ci --no-audit --no-fund --silent) || skip "npm cannot fetch playwright-core"
fi
CHROMIUM=$chromium exec node "$here/report_test.mjs" "$1" "$2" --quick
