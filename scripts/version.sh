#!/bin/sh
# Prints the version of this source tree: "0.2.0" for a release, "0.2.1.dev17" for a tree 17 commits after one.
#
# The newest tag vX.Y.Z before the commit decides. Without git or such a tag, the newest heading of CHANGELOG.md does:
# "0.2.0" where it names a release, "0.2.1.dev0" where it says Unreleased. Python orders the two forms as given here;
# Debian does so with "~dev" for ".dev".
set -eu
tree=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)

fail() {
    echo "version: $1" >&2
    exit 1
}

# after X.Y.Z COMMITS: the version of a tree that many commits after the release X.Y.Z.
after() {
    echo "${1%.*}.$((${1##*.} + 1)).dev$2"
}

# Git of an enclosing tree says nothing about this one. Git 2.35 and newer refuse the trees of other users.
if top=$(git -C "$tree" rev-parse --show-toplevel 2>/dev/null) && [ "$top" = "$tree" ] &&
    found=$(git -C "$tree" describe --tags --long --match 'v[0-9]*' 2>/dev/null); then
    commits=${found%-g*}
    commits=${commits##*-}
    release=${found#v}
    release=${release%-*-g*}
    echo "$release" | grep -Eqx '[0-9]+\.[0-9]+\.[0-9]+' ||
        fail "the tag v$release is no release; expected vX.Y.Z with three numbers"
    if [ "$commits" -eq 0 ]; then echo "$release"; else after "$release" "$commits"; fi
    exit
fi

[ -r "$tree/CHANGELOG.md" ] || fail "neither a tag of git nor $tree/CHANGELOG.md says which version this is"
heading=$(sed -n 's/^## *//p' "$tree/CHANGELOG.md" | head -n 1)
release=$(sed -nE 's/^## *([0-9]+\.[0-9]+\.[0-9]+)(,.*)?$/\1/p' "$tree/CHANGELOG.md" | head -n 1)
[ -n "$release" ] || fail "CHANGELOG.md has no heading of a release; expected '## X.Y.Z, DATE'"
case $heading in
    Unreleased*) after "$release" 0 ;;
    "$release"*) echo "$release" ;;
    *) fail "the first heading of CHANGELOG.md is '$heading'; expected 'Unreleased' or 'X.Y.Z, DATE'" ;;
esac
