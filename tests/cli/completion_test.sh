#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# completion_test.sh KBENCH: the words that may follow, the scripts of three shells, and examples in the help.
set -u
kbench=$(realpath -- "$1")
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
failures=0

fail() {
  echo "$*" >&2
  failures=$((failures + 1))
}

# completes EXPECTED INDEX WORD…: EXPECTED is one of the words that may stand there.
completes() {
  local expected=$1 index=$2
  shift 2
  "$kbench" completion words "$index" "$@" | cut -f 1 | grep -Fxq -- "$expected" ||
    fail "at $index of '$*' there is no $expected: $("$kbench" completion words "$index" "$@" | head -n 3)"
}
# never WORD INDEX WORD…
never() {
  local word=$1 index=$2
  shift 2
  ! "$kbench" completion words "$index" "$@" | cut -f 1 | grep -Fxq -- "$word" ||
    fail "at $index of '$*' there is $word"
}

completes eval 1 kbench ''
completes eval 1 kbench ev
never report 1 kbench ev
completes --version 1 kbench --
completes --candidates 2 kbench eval --ca
never --probe 2 kbench doctor --
completes cold 3 kbench eval --l2 ''
completes warm 3 kbench eval --l2 w
never cold 3 kbench eval --l2 w
completes html 3 kbench report --format ''
completes json 3 kbench list --format ''
never html 3 kbench list --format ''
completes report 2 kbench help r
completes latex 3 kbench eval --format l
never latex 3 kbench compare --format ''
completes fast_1= 3 kbench eval --fail-under f
completes new-failure 3 kbench report --fail-on n
completes outcome= 3 kbench report --select ''
completes :files 3 kbench eval --out ''
completes :files 2 kbench report ''
completes level1/2_RowNorm 2 kbench list ''
completes 2_RowNorm 3 kbench list --names 2_
completes level1/2_RowNorm 3 kbench eval --problem level1/2
never level1/2_RowNorm 2 kbench report ''
# A flag takes no value, so what follows it is a word of its own.
completes level1/2_RowNorm 3 kbench list --names ''
completes zsh 2 kbench completion ''
# Names of what a run file holds, and of what is asked for.
run=$scratch/run.jsonl
cat >"$run" <<'END'
{"type":"run","schema":"2.0","run_id":"5f0c2a9be1d34c77","started":"2026-01-31T09:30:00Z","kbench_version":"0.1.0","arguments":[],"options":{"baselines":["eager","compile"]},"environment":{"device":"cuda"},"problem_set_hash":"9d3b"}
{"type":"manifest","entries":[{"problem":"level1/2_RowNorm","level":1,"model":"mine","samples":[0,1],"tags":[]}]}
END
completes 2_RowNorm 3 kbench show "$run" ''
completes level1/2_RowNorm 3 kbench show "$run" level1/
completes 2_RowNorm/1 3 kbench show "$run" 2_RowNorm/
never :files 3 kbench show "$run" ''
completes :files 2 kbench show ''
completes model=mine 5 kbench show "$run" 2_RowNorm --select model=
completes eager 4 kbench report "$run" --baseline ''
completes best 4 kbench report "$run" --baseline b
completes outcome=mismatch 4 kbench report "$run" --select outcome=
completes outcome!=correct,crash 4 kbench report "$run" --select 'outcome!=correct,c'
completes model=mine 4 kbench report "$run" --select model=
completes problem=level1/2_RowNorm 4 kbench compare "$run" --select problem=level
never model=mine 4 kbench report "$scratch/none" --select model=
completes kernelbench 4 kbench export "$run" --format ''
completes ROWS= 4 kbench eval 2_RowNorm --set ''
completes fast_1@ci= 3 kbench eval --fail-under fast_1
completes geomean@ci= 3 kbench eval --fail-under geo
"$kbench" completion words x kbench 2>/dev/null && fail "an index that is no number is taken"

for shell in bash zsh fish; do
  "$kbench" completion "$shell" >"$scratch/$shell" || fail "there is no script for $shell"
  [[ -s $scratch/$shell ]] || fail "the script for $shell is empty"
  if command -v "$shell" >/dev/null; then
    "$shell" -n "$scratch/$shell" || fail "$shell cannot read its script"
  else
    echo "not checked: there is no $shell here"
  fi
done
KBENCH=$kbench bash -c '
  source "$1"
  try() {
    COMP_WORDS=("$KBENCH" "$@") COMP_CWORD=$#
    _kbench
    printf "%s|" "${COMPREPLY[@]}"
  }
  cd "$2" && touch a_run.jsonl
  [[ $(try report --form) == "--format|" ]] || exit 1
  [[ $(try report a_r) == "a_run.jsonl|" ]] || exit 2
  [[ $(try eval --sanitize m) == "memory|" ]] || exit 3
  # As bash hands them over, with = and @ as words of their own.
  [[ $(try report x --select outcome = mism) == "mismatch|" ]] || exit 4
  [[ $(try report x --select outcome =) == *"|mismatch|"* ]] || exit 5
  [[ $(try report x --fail-under pass @) == "1=|1@ci=|" ]] || exit 6
  [[ $(try report x --format html = a_r) == "a_run.jsonl|" ]] || exit 7' _ "$scratch/bash" "$scratch"
status=$?
[[ $status -eq 0 ]] || fail "bash does not complete (case $status)"

if command -v fish >/dev/null; then
  # As where somebody types it; of a path, its name alone is known.
  typed() { (cd "$scratch" && PATH=$(dirname -- "$kbench"):$PATH fish -c "source '$scratch/fish'; complete -C '$1'"); }
  [[ $(typed "kbench rep" | cut -f 1) == report ]] || fail "fish does not complete commands"
  typed "kbench report --form" | grep -q "^--format" || fail "fish does not complete options"
  typed "kbench report a_r" | grep -Fxq a_run.jsonl || fail "fish does not complete files"
  typed "kbench list 2_" | grep -Fxq 2_RowNorm || fail "fish does not complete problems"
fi
if command -v zsh >/dev/null; then
  # What zsh is given to show, which its line editor alone can draw.
  typed() {
    zsh -f -c 'compdef() { :; }
      _describe() { print -rl -- "${(P@)2}"; }
      _files() { print files; }
      source "$1"; shift
      words=("$@") CURRENT=$#; _kbench' zsh "$scratch/zsh" "$@"
  }
  [[ $(typed "$kbench" rep) == report:* ]] || fail "zsh does not complete commands"
  typed "$kbench" report --form | grep -q "^--format:" || fail "zsh does not complete options"
  [[ $(typed "$kbench" report a_r) == files ]] || fail "zsh does not complete files"
  typed "$kbench" list 2_ | grep -q "^2_RowNorm:" || fail "zsh does not complete problems"
fi

for command in $("$kbench" completion words 1 kbench '' | cut -f 1); do
  # Each command's help ends with examples of it, and names no other's.
  "$kbench" "$command" --help | grep -q "^  .*kbench.* $command\|^  kbench $command" ||
    fail "the help of $command has no examples"
done
[[ $("$kbench" completion tcsh 2>&1) == *"bash, zsh, fish"* ]] || fail "an unknown shell is not told the known"

# What is misspelt is told what it may have been.
suggests() {
  local expected=$1
  shift
  local said
  said=$("$kbench" "$@" 2>&1)
  [[ $? -eq 2 && $said == *"did you mean $expected?"* ]] || fail "kbench $*: $said"
  [[ $(wc -l <<<"$said") -eq 1 ]] || fail "kbench $* says more than one sentence: $said"
}
suggests eval evla
suggests report reprot
suggests --candidates eval --canidates x
suggests --format report --fromat html run.jsonl
suggests junit report run.jsonl --format juint
suggests outcome report run.jsonl --select outcom=correct
suggests level1/3_Softmax list 3_Sotfmax
suggests fish completion fisch
[[ $failures -eq 0 ]]
