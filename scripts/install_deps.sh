#!/usr/bin/env bash
# Installs the Debian packages that Vectable is built from. Does nothing when all are there.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: install_deps.sh [--test] [--bench] [--package]
  Installs what building and running Vectable needs (Debian 12 or newer).
  --test   also what scripts/test.sh needs: clang, its tools and its sanitizer runtime, and the Python packages
           whose readers and writers files are checked with
  --bench  also what bench/compare.sh compares with: hnswlib and gensim
  --package  also what cpack makes Debian packages with
USAGE
}

die() {
  echo "install_deps.sh: $*" >&2
  exit 1
}

packages=(
  g++ cmake ninja-build ccache pkg-config python3
  protobuf-compiler protobuf-compiler-grpc libprotobuf-dev libgrpc-dev libgrpc++-dev libssl-dev libabsl-dev
  librocksdb-dev libgflags-dev libsnappy-dev liblz4-dev libzstd-dev libbz2-dev zlib1g-dev libhdf5-dev libutf8proc-dev
  libfaiss-dev libopenblas-dev libhwy-dev libxxhash-dev libjemalloc-dev libsystemd-dev
  prometheus-cpp-dev libcpp-httplib-dev libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev libfast-float-dev
  libgtest-dev libgmock-dev
)
test_packages=(
  clang libclang-rt-14-dev libomp-dev clang-format clang-tidy
  python3-numpy python3-gensim python3-faiss python3-h5py python3-fasttext zstd
)
bench_packages=(libhnswlib-dev python3-gensim)
package_packages=(dpkg-dev file)

for argument in "$@"; do
  case "$argument" in
    --test) packages+=("${test_packages[@]}") ;;
    --bench) packages+=("${bench_packages[@]}") ;;
    --package) packages+=("${package_packages[@]}") ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done

command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
  die "this system has no apt-get; Vectable is built from Debian 12 packages: ${packages[*]}"

missing=()
installed=" $(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' |
  awk '$2 == "installed" {sub(/:.*/, "", $1); printf "%s ", $1}') "
for package in "${packages[@]}"; do
  [[ $installed == *" $package "* ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "All needed packages are installed."
  exit 0
fi

# What all packages take with everything they depend on, rounded up.
need_mib=3072
for folder in /usr /var; do
  free_mib=$(df -Pm "$folder" | awk 'NR == 2 {print $4}')
  ((free_mib >= need_mib)) ||
    die "not enough disk space: $folder has $free_mib MiB free, the packages need $need_mib MiB"
done

as_root=(env)
if (($(id -u) != 0)); then
  if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    as_root=(sudo -n env)
  else
    die "installing needs root; run: sudo apt-get install -y --no-install-recommends ${missing[*]}"
  fi
fi

log=$(mktemp "${TMPDIR:-/tmp}/vectable-install.XXXXXX")
trap 'rm -f "$log"' EXIT

apt() {
  "${as_root[@]}" DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -q \
    -o Acquire::Retries=2 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30 \
    -o DPkg::Lock::Timeout=120 "$@" </dev/null >>"$log" 2>&1
}

fail() {
  tail -n 15 "$log" | sed 's/^/  /' >&2
  die "$1"
}

echo "Installing ${#missing[@]} packages: ${missing[*]}"
# With no network, update only warns: Error-Mode makes it fail.
apt update -o APT::Update::Error-Mode=any ||
  fail "apt-get update failed (see above); is the network up, and are apt's sources right?"
apt install -y --no-install-recommends "${missing[@]}" ||
  fail "apt-get install failed (see above); Vectable needs Debian 12 or newer"

command -v g++ >/dev/null || die "the packages are installed, but there is still no g++"
echo "Installed."
