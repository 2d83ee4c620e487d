#!/usr/bin/env bash
# From a fresh checkout to the first answers: installs packages, builds, starts a server on a throw-away
# folder, and asks it a few questions. Prints every command, to be repeated by hand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if (($# > 0)); then
  echo "Usage: quickstart.sh"
  [[ $1 == -h || $1 == --help ]] && exit 0 || exit 2
fi

build=build/release
vectable=$build/bin/vectable
work=
server_pid=

stop_server() {
  [[ -n $server_pid ]] || return 0
  kill -TERM "$server_pid" 2>/dev/null || true
  local status=0
  wait "$server_pid" || status=$?
  server_pid=
  return "$status"
}

clean_up() {
  local status=$?
  trap - EXIT
  stop_server || true
  [[ -z $work ]] || rm -rf "$work"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die() {
  echo "quickstart.sh: $*" >&2
  exit 1
}

heading() { printf '\n== %s\n' "$*"; }

run() {
  printf '$ %s\n' "$*"
  "$@" || die "that command failed"
}

show_log_and_die() {
  tail -n 30 "$2" >&2
  die "$1; the whole log is $PWD/$2"
}

heading "Packages"
run scripts/install_deps.sh

heading "Build"
# What a release build of the two programs takes, rounded up.
need_mib=1024
free_mib=$(df -Pm . | awk 'NR == 2 {print $4}')
((free_mib >= need_mib)) ||
  die "not enough disk space: $PWD has $free_mib MiB free, the build needs $need_mib MiB"
log=$build/quickstart.log
mkdir -p "$build"
echo '$ cmake --preset release'
cmake --preset release >"$log" 2>&1 || show_log_and_die "configuring failed" "$log"
echo '$ cmake --build --preset release --target vectable-server vectable'
# Steps take one line on a terminal, and every tenth percent a line elsewhere.
build_programs() {
  NINJA_STATUS='[%p] ' cmake --build --preset release --parallel "$(nproc)" \
    --target vectable-server vectable 2>&1
}
show_progress() {
  local line percent shown=-1
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    [[ $line =~ ^\[\ *([0-9]+)%\] ]] || continue
    percent=${BASH_REMATCH[1]}
    if [[ -t 1 ]]; then
      printf '\r%3d %%' "$percent"
    elif ((percent / 10 > shown / 10 || shown < 0)); then
      printf '%3d %%\n' "$percent"
    fi
    shown=$percent
  done
  [[ ! -t 1 ]] || printf '\r'
}
build_programs | show_progress || show_log_and_die "the build failed" "$log"
echo "Built $build/bin/vectable-server and $vectable."

heading "Server"
work=$(mktemp -d "${TMPDIR:-/tmp}/vectable-quickstart.XXXXXX")
printf '$ %s\n' "$build/bin/vectable-server --data $work/data --listen 127.0.0.1:0"
mkdir "$work/data"
"$build/bin/vectable-server" --data "$work/data" --listen 127.0.0.1:0 \
  >"$work/address" 2>"$work/server.log" &
server_pid=$!
for ((i = 0; i < 300; ++i)); do
  [[ ! -s $work/address ]] || break
  kill -0 "$server_pid" 2>/dev/null || break
  sleep 0.1
done
address=$(sed -n 's/^listening on //p' "$work/address")
if [[ -z $address ]]; then
  tail -n 30 "$work/server.log" >&2
  die "the server did not start"
fi
echo "listening on $address"
export VECTABLE_SERVER=$address
echo "\$ export VECTABLE_SERVER=$address"

heading "A toy table: two dimensions, three words"
run "$vectable" table create toy --dim 2 --dim-names Object,Animal
run "$vectable" put toy cat 0 1
run "$vectable" put toy dog 0 1
run "$vectable" put toy car 1 0
run "$vectable" similarity toy cat dog
run "$vectable" similarity toy cat car
run "$vectable" nearest toy cat -k 2
run "$vectable" size toy

heading "Real words: 10,000 GloVe vectors of 100 dimensions"
run "$vectable" import tests/data/glove-10k.100d.txt.gz --table glove
run "$vectable" nearest glove king -k 10
run "$vectable" size glove

heading "Stop"
echo "\$ kill -TERM <the server's process id>"
stop_server || die "the server did not stop cleanly"
rm -rf "$work"
work=

cat <<NEXT

Done. To go on, start a server that keeps its data, and use it from another terminal:

  cd $(printf %q "$PWD")
  $build/bin/vectable-server --data ./data

  $vectable import tests/data/glove-10k.100d.txt.gz --table glove
  $vectable nearest glove king queen
  $vectable size glove
  $vectable --help
NEXT
