#!/usr/bin/env bash
# Lays out all C++ files as .clang-format says (clang-format 14); with --check, only reports.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
  '') mode=(-i) ;;
  --check) mode=(--dry-run -Werror) ;;
  *) echo "Usage: format.sh [--check]" && { [[ $1 == -h || $1 == --help ]] && exit 0 || exit 2; } ;;
esac

find . \( -name '.?*' -o -path ./build -o -path ./data \) -prune -o \
  -type f \( -name '*.cc' -o -name '*.h' \) -print0 |
  xargs -0 --no-run-if-empty "${CLANG_FORMAT:-clang-format}" --style=file "${mode[@]}"
