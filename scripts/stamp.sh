# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # root
# Checks if the set-up of this checkout is complete and belongs to its present commit. Sourced with
# `root` set. Runs on every start of kbench, so it starts no process.

# kbench_home: what set-up makes for all checkouts (venv, downloads). build_base: the builds of this
# checkout, or copies of the programs of an installed kbench, whose own folder may be read-only.
kbench_home=${KBENCH_HOME:-}
if [[ -n $kbench_home ]]; then
  case $kbench_home in /*) ;; *) kbench_home=$PWD/$kbench_home ;; esac
else
  case ${XDG_CACHE_HOME:-} in
    /*) kbench_home=$XDG_CACHE_HOME/kbench ;;
    *) kbench_home=${HOME:-/tmp}/.cache/kbench ;;
  esac
fi
build_base=$root/build
[[ -z ${KBENCH_HOME:-} && ! -f $root/kbench.json ]] ||
  build_base=$kbench_home/build/${root//[^A-Za-z0-9._-]/_}

# stamp_path full|driver: sets `stamp` to the file for this mode and Python.
stamp_path() {
  local python=${KBENCH_PYTHON:-own}
  stamp=$build_base/.ready-$1-${python//[^A-Za-z0-9._-]/_}
}

# Sets head_commit to the id of the commit that is checked out, or to "none" without git.
read_head() {
  local git=$root/.git line='' common ref id name
  head_commit=none
  if [[ -f $git ]]; then # a linked work tree
    read -r line <"$git"
    git=${line#gitdir: }
    case $git in /*) ;; *) git=$root/$git ;; esac
  fi
  [[ -r $git/HEAD ]] || return 0
  read -r line <"$git/HEAD"
  if [[ $line != ref:* ]]; then
    head_commit=$line
    return 0
  fi
  ref=${line#ref: }
  common=$git
  if [[ -f $git/commondir ]]; then
    read -r line <"$git/commondir"
    case $line in /*) common=$line ;; *) common=$git/$line ;; esac
  fi
  if [[ -r $common/$ref ]]; then
    read -r head_commit <"$common/$ref"
  elif [[ -r $common/packed-refs ]]; then
    while read -r id name; do
      [[ $name == "$ref" ]] && head_commit=$id
    done <"$common/packed-refs"
  fi
  return 0
}

# stamp_is_current full|driver: true if no set-up is needed; sets stamp_bin.
stamp_is_current() {
  local stamp_head='' stamp_root='' stamp_home='' stamp_python='' input
  stamp_bin=
  stamp_path "$1"
  [[ -r $stamp ]] || return 1
  {
    read -r stamp_bin
    read -r stamp_head
    read -r stamp_root
    read -r stamp_home
    read -r stamp_python
  } <"$stamp" || return 1
  read_head
  [[ $stamp_head == "$head_commit" && $stamp_root == "$root" && $stamp_home == "$kbench_home" ]] ||
    return 1
  [[ -x $stamp_bin/kbench && -f $stamp_bin/kbench.json ]] || return 1
  if [[ $1 == full ]]; then
    [[ -x $stamp_bin/kbench-cc && -x $stamp_bin/kbench-worker && -x $stamp_python ]] || return 1
  fi
  for input in "$root"/CMakeLists.txt "$root"/scripts/{requirements.txt,setup.sh} \
    "$root"/scripts/cmake/*; do
    [[ $input -nt $stamp ]] && return 1
  done
  # Copies have the date of the installed program, unless another version was installed since.
  for input in kbench kbench-cc kbench-worker; do
    [[ -f $root/kbench.json ]] || break
    [[ $root/$input -nt $stamp_bin/$input || $root/$input -ot $stamp_bin/$input ]] && return 1
  done
  return 0
}

# write_stamp full|driver BIN PYTHON: records a complete set-up.
write_stamp() {
  stamp_path "$1"
  stamp_bin=$2
  read_head
  printf '%s\n' "$2" "$head_commit" "$root" "$kbench_home" "$3" >"$stamp.$$" &&
    mv -f -- "$stamp.$$" "$stamp"
}
