#!/usr/bin/env bash
# Runs clang-tidy as .clang-tidy says over our sources.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'USAGE'
Usage: lint.sh [BUILD_FOLDER] [FOLDER...]
  BUILD_FOLDER  a configured build with compile_commands.json, made by clang at best (build/clang)
  FOLDER        which of our folders (common sizing storage index engine)
  Folders that use gRPC take minutes: name server or client to have them too.
USAGE
}

case "${1:-}" in
  -h | --help) usage && exit 0 ;;
  -*) usage >&2 && exit 2 ;;
esac
build=${1:-build/clang}
(($# == 0)) || shift
folders=("$@")
((${#folders[@]} > 0)) || folders=(common sizing storage index engine)

[[ -f $build/compile_commands.json ]] || {
  echo "lint.sh: $build/compile_commands.json is missing; first run: cmake --preset clang" >&2
  exit 1
}
# -Wno-unknown-warning-option: the compile commands may be GCC's. The counts of suppressed warnings, all in
# the libraries' headers, say nothing.
find "${folders[@]}" -name '*.cc' -print0 |
  xargs -0 --no-run-if-empty -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build" \
    --extra-arg=-Wno-unknown-warning-option \
    2> >(grep -Ev '^[0-9]+ warnings? (generated|treated as errors?)' >&2)
