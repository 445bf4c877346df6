#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# package_test.sh CPACK BUILD: the Debian package holds programs that run, and depends on each package
# that a library of theirs is of. On a machine without the Python for which it was built, it sets
# another one up. Exits with 77 where there is no dpkg.
set -eu
cpack=$1 build=$2
for program in dpkg-deb dpkg-query readelf; do
  command -v "$program" >/dev/null || {
    echo "skipped: there is no $program"
    exit 77
  }
done
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

"$cpack" -G DEB --config "$build/CPackConfig.cmake" -B "$scratch" >"$scratch/cpack.log" 2>&1 || {
  cat "$scratch/cpack.log"
  fail "cpack failed"
}
packages=("$scratch"/*.deb)
[[ ${#packages[@]} -eq 1 && -s ${packages[0]} ]] || fail "cpack made: ${packages[*]}"
depends=" $(dpkg-deb --field "${packages[0]}" Depends | tr -d ',') "
dpkg-deb --extract "${packages[0]}" "$scratch/root"

"$scratch/root/usr/bin/kbench" --version >/dev/null || fail "the packed kbench does not run"
for file in kbench/host/kbench_host.hpp doc/kbench/src/plan/PLAN.md doc/kbench/src/record/RUN_FILE.md \
  doc/kbench/src/report/format/report.schema.json doc/kbench/scripts/ci/github-actions.yml; do
  [[ -s $scratch/root/usr/share/$file ]] || fail "there is no share/$file"
done

# What ldd finds where a package put it; libtorch and its like are of no package.
found=0
for program in "$scratch"/root/usr/lib/kbench/kbench*; do
  [[ -x $program ]] || continue
  needed=$(readelf --dynamic "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
  while read -r name _ file _; do
    [[ $file == /* ]] && grep -qxF -- "$name" <<<"$needed" || continue
    file=$(readlink -f -- "$file")
    owner=$(dpkg-query --search "$file" "${file#/usr}" 2>/dev/null | head -n 1)
    owner=${owner%%:*}
    [[ -n $owner ]] || continue
    found=$((found + 1))
    [[ $depends == *" $owner "* ]] || fail "${program##*/} needs $name of $owner; Depends:$depends"
  done < <(ldd "$program")
done
[[ $found -gt 3 ]] || fail "only $found libraries were looked at"

lib=$scratch/root/usr/lib/kbench
[[ -x $lib/kbench-worker ]] || exit 0
for package in clang 'g\+\+' 'python3\.[0-9]+-dev' 'python3\.[0-9]+-venv'; do
  grep -qE " $package " <<<"$depends" || fail "it does not depend on $package:$depends"
done

# This Python stands for that of another machine, if set-up would not have to download for it.
python=$(sed -n 's/^ *"python" *: *"\(.*\)",$/\1/p' "$lib/kbench.json")
"$python" "$lib/scripts/cmake/query_python.py" | grep -q '"problems": \[\]' || exit 0
sed -i 's#^\( *"python" *: *\)".*"#\1"/nonexistent/python"#' "$lib/kbench.json"
kbench=$scratch/root/usr/bin/kbench
export KBENCH_HOME=$scratch/home
"$kbench" help plan | grep -q '^# The plan' || fail "it has no plan.md"
"$kbench" eval --help >/dev/null || fail "it has no help before the set-up"
[[ ! -e $KBENCH_HOME ]] || fail "help sets the machine up"
export KBENCH_PYTHON=$python
"$kbench" list level1/2_RowNorm --format json | grep -q '"level1/2_RowNorm"' || fail "list does not work after the set-up"
placed=$(echo "$KBENCH_HOME"/build/*/py*/bin)
[[ -e $placed/torch/libtorch.so ]] || fail "the copy of the worker has no link to libtorch"
readelf --dynamic "$placed/kbench-worker" | grep -qF "\$ORIGIN/torch" || fail "the worker does not search that link"
grep -q nonexistent "$placed/kbench.json" && fail "the copies look for the other Python"

# Another torch than that for which it was built is refused in a sentence.
sed -i 's#^\( *"torch_version" *: *\)".*"#\1"0.1"#' "$lib/kbench.json"
said=$(KBENCH_HOME=$scratch/other "$kbench" list level1/2_RowNorm 2>&1) && fail "it takes another torch"
[[ $said == *"was built for Python 3."*" with torch 0.1" ]] || fail "it refuses another torch with: $said"
