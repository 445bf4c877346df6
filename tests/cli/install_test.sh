#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install_test.sh BUILD WORKER: what `cmake --install` leaves works from another folder than it was
# put into, and from any working folder. WORKER is ON where there is a worker.
set -eu
build=$1 worker=$2
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

cmake --install "$build" --prefix "$scratch/first" >"$scratch/install.log" || {
  cat "$scratch/install.log"
  fail "cmake --install failed"
}
mv -- "$scratch/first" "$scratch/second"
prefix=$scratch/second
kbench=$prefix/bin/kbench
export KBENCH_HOME=$scratch/home
cd /

grep -R --binary-files=without-match -l -- "$scratch/first" "$prefix" && fail "something names the folder of the first installation"
manual=
command -v help2man >/dev/null && manual=share/man/man1/kbench-eval.1
for file in $manual share/bash-completion/completions/kbench \
  share/zsh/site-functions/_kbench share/fish/vendor_completions.d/kbench.fish \
  share/doc/kbench/LICENSE share/kbench/host/kbench_host.hpp; do
  [[ -s $prefix/$file ]] || fail "there is no $file"
done

grep -oE '\]\([^)#:]+' "$prefix/share/doc/kbench/README.md" | cut -c 3- | sort -u |
  while read -r link; do
    [[ -e $prefix/share/doc/kbench/$link ]] || echo "$link"
  done >"$scratch/dead"
[[ ! -s $scratch/dead ]] || fail "the README links to what is not installed: $(tr '\n' ' ' <"$scratch/dead")"

# Completion, as bash asks for it.
words=$(PATH=$prefix/bin:$PATH bash -c '
  source "$1"
  complete -p kbench >/dev/null || exit
  COMP_WORDS=(kbench list level1/2_) COMP_CWORD=2
  _kbench
  printf "%s\n" "${COMPREPLY[@]}"' _ "$prefix/share/bash-completion/completions/kbench")
[[ $words == level1/2_RowNorm ]] || fail "bash completes level1/2_ to: $words"

[[ $worker == ON ]] || exit 0
"$kbench" list level1/2_RowNorm --format json | grep -q '"level1/2_RowNorm"' || fail "list does not work"
"$kbench" eval level1/2_RowNorm --device cpu --out "$scratch/run.jsonl" --quiet \
  --fail-under correct=1 --format console --format "html=$scratch/run.html" >"$scratch/eval.txt" ||
  {
    cat "$scratch/eval.txt"
    fail "eval of the installed problems does not work"
  }
grep -q "second/share/kbench/problems" "$scratch/run.jsonl" || fail "eval scored other candidates"
"$kbench" show "$scratch/run.jsonl" 2_RowNorm | grep -q "Source\|Trials" || fail "show does not work"
