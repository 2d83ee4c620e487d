#!/usr/bin/env bash
# Builds Vectable and runs its tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'USAGE'
Usage: test.sh [--sanitize]
  Installs missing packages, builds the release preset with its tests, and runs them.
  --sanitize   first also: a clang build with thread-safety analysis, whose fuzz targets run for some seconds;
               lint; and the tests under the address and undefined-behaviour sanitizers and under the
               thread sanitizer
  The last lines are the summary of the release tests and, if anything failed, what did; the exit status is 0
  only if everything passed.
USAGE
}

sanitize=false
for argument in "$@"; do
  case "$argument" in
    --sanitize) sanitize=true ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done

# What the builds take, rounded up.
need_mib=2048
! $sanitize || need_mib=6144
free_mib=$(df -Pm . | awk 'NR == 2 {print $4}')
((free_mib >= need_mib)) || {
  echo "test.sh: not enough disk space: $PWD has $free_mib MiB free, the builds need $need_mib MiB" >&2
  exit 1
}

jobs=$(nproc)
failed=()
failed_tests=

step() {
  local name=$1 begin=$SECONDS
  shift
  printf '\n== %s: %s\n' "$name" "$*"
  if "$@"; then
    echo "== $name: passed in $((SECONDS - begin)) s"
  else
    echo "== $name: FAILED" >&2
    failed+=("$name")
    return 1
  fi
}

# Prints a build's output only when it fails, with one line per tenth of the way.
build() {
  local preset=$1
  local log=build/$preset/build.log
  mkdir -p "build/$preset"
  if ! cmake --preset "$preset" >"$log" 2>&1 ||
    ! cmake --build --preset "$preset" --parallel "$jobs" >>"$log" 2>&1; then
    tail -n 60 "$log"
    echo "The whole log is $PWD/$log"
    return 1
  fi
}

# Notes which tests failed.
run_tests() {
  local list=build/$1/Testing/Temporary/LastTestsFailed.log
  rm -f "$list"
  ctest --preset "$1" --parallel "$jobs" && return
  [[ ! -s $list ]] || failed_tests+=$(sed "s/^[0-9]*:/  $1: /" "$list")$'\n'
  return 1
}

scripts/install_deps.sh --test

if $sanitize; then
  step "clang build" build clang && step "fuzzing" run_tests clang || true
  step "lint" scripts/lint.sh || true
  step "address sanitizer build" build asan && step "address sanitizer" run_tests asan || true
  step "thread sanitizer build" build tsan && step "thread sanitizer" run_tests tsan || true
fi

step "release build" build release || exit 1
printf '\n== tests: ctest --preset release\n'
run_tests release || failed+=("tests")
((${#failed[@]} > 0)) || exit 0
printf '\n== FAILED: %s\n' "$(printf '%s; ' "${failed[@]}")" >&2
printf '%s' "$failed_tests" >&2
exit 1
