#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# package_test.sh CPACK BUILD: the Debian package holds programs that run, and depends on each package
# that a library of theirs is of. Exits with 77 where there is no dpkg.
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
[[ -s $scratch/root/usr/share/kbench/host/kbench_host.hpp ]] || fail "its headers are not there"

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
