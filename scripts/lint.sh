#!/usr/bin/env bash
# Runs clang-tidy as .clang-tidy says over our sources.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'USAGE'
Usage: lint.sh [FOLDER...]
  Runs clang-tidy on the sources of these folders (common sizing storage index engine).
  Folders that use gRPC take minutes and a debug build: name server or client to have them too.
USAGE
}

case "${1:-}" in
  -h | --help) usage && exit 0 ;;
  -*) usage >&2 && exit 2 ;;
esac
folders=("$@")
((${#folders[@]} > 0)) || folders=(common sizing storage index engine)

# The debug preset compiles each source file by itself, as clang-tidy does.
build=build/debug
cmake --preset debug >/dev/null
# -Wno-unknown-warning-option: the compile commands may be GCC's. The counts of suppressed warnings, all in
# the libraries' headers, say nothing.
find "${folders[@]}" -name '*.cc' -print0 |
  xargs -0 --no-run-if-empty -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build" \
    --extra-arg=-Wno-unknown-warning-option \
    2> >(grep -Ev '^[0-9]+ warnings? (generated|treated as errors?)' >&2)
