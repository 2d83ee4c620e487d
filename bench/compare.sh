#!/usr/bin/env bash
# Builds the benchmarks and compares Vectable with hnswlib and FAISS; see compare.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() {
  cat <<'USAGE'
Usage: compare.sh GLOVE_TEXT [OPTION...]
  GLOVE_TEXT is the full set of words as GloVe text; bench/full_set.py makes it (--text FILE). Nothing is
  fetched: scripts/install_deps.sh --bench installs what the comparison needs besides.
  Builds into build/bench (JOBS processes at once; all cores if not set), measures, writes build/bench/compare.json
  and docs/benchmarks.md. About 45 minutes on two quiet cores; needs 8 GiB of memory and of disk under TMPDIR.
  --quick   20,000 rows, one repeat, Markdown to stdout: three minutes
  Other options are those of bench/compare.py; compare.sh GLOVE_TEXT --help lists them.
USAGE
}

case "${1:-}" in
  -h | --help) usage && exit 0 ;;
  '' | -*) usage >&2 && exit 2 ;;
esac

folder=build/bench
mkdir -p "$folder"
log=$folder/build.log
if ! cmake --preset release -B "$folder" -DVECTABLE_BENCH=ON -DVECTABLE_TESTS=OFF >"$log" 2>&1 ||
  ! cmake --build "$folder" --parallel "${JOBS:-$(nproc)}" --target vectable vectable-server \
    vectable_make_data_set vectable_index_bench vectable_hnswlib_bench vectable_faiss_bench \
    vectable_served_bench vectable_rpc_api_bench >>"$log" 2>&1; then
  tail -n 60 "$log" >&2
  echo "The whole log is $PWD/$log" >&2
  exit 1
fi
exec python3 bench/compare.py --programs "$folder/bin" "$@"
