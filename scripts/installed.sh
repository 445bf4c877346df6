# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2154 # root, and what stamp.sh and setup.sh set
# shellcheck disable=SC2317,SC2329 # functions that set_up calls
# Starts an installed kbench: `root` holds programs, which were built for one Python and one torch,
# and no source. If this machine lacks that Python, set-up makes one with the same torch in
# KBENCH_HOME, as for a checkout, and copies the programs there. Sourced with `root` set, after
# stamp.sh; the caller uses start_installed.

# Sets built_python and built_python_version, with bash's builtins alone.
read_built() {
  local line
  built_python='' built_python_version=''
  while read -r line; do
    [[ $line =~ ^\"(python|python_version)\"\ *:\ *\"(.*)\",?$ ]] &&
      printf -v "built_${BASH_REMATCH[1]}" %s "${BASH_REMATCH[2]}"
  done <"$root/kbench.json"
}

# needs_torch ARGUMENT…: true for commands that start the worker.
needs_torch() {
  local word
  for word in "$@"; do
    [[ $word != -h && $word != --help* ]] || return 1
  done
  [[ ${1-} =~ ^(eval|check|list|audit|baseline|setup)$ ]]
}

start_installed() {
  read_built
  if [[ ! -x $root/kbench-worker ]] ||
    [[ -x $built_python && ${KBENCH_PYTHON:-$built_python} == "$built_python" ]]; then
    stamp_bin=$root
  elif ! stamp_is_current full; then
    needs_torch "$@" || exec "$root/kbench" "$@"
    # shellcheck source=scripts/setup.sh
    source "$root/scripts/setup.sh"
    use_installed_programs
    set_up full
  fi
  [[ ${1-} != setup ]] || { echo "kbench: ready: $stamp_bin/kbench" >&2 && exit 0; }
  exec "$stamp_bin/kbench" "$@"
}

# Replaces the steps of set_up that build kbench.
use_installed_programs() {
  local minor=${built_python_version#*.}
  python_range=${built_python_version%.*}
  python_test="version == (${built_python_version%%.*}, ${minor%%.*})"
  install_packages() { :; }
  require_build_tools() { :; }
  build_early() { :; }
  build() {
    local answer why
    answer=$(query "$python" ${cuda_root:+"$cuda_root"}) || stop "$python does not run; see $log"
    why=$("$python" "$root/scripts/place_installed.py" "$root" "$1/bin" <<<"$answer" 2>&1) ||
      stop "${why##*$'\n'}"
  }
}
