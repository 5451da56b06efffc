#!/usr/bin/env bash
# Tests what makes the wheel's programs run with an older glibc (packaging/wheel), on a small program.
#   scripts/test_old_glibc.sh [C++ COMPILER]
# Everything runs with this machine's glibc: what an older one lacks is tested by a library that never looks for it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
compiler=${1:-c++}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  printf 'test_old_glibc: error: %s\n' "$*" >&2
  exit 1
}
skip() {
  echo "Skipped: $*"
  exit 77
}
command -v python3 >/dev/null || skip "there is no python3"
command -v readelf >/dev/null || skip "there is no readelf"

# versions FILE: those of glibc and of the C++ runtime that it asks for
versions() { readelf -W --version-info "$1" | sed -n 's/.*Name: \([A-Z]*_[0-9.]*\) .*/\1/p' | LC_ALL=C sort -Vu; }
newest() { versions "$1" | grep "^$2_" | tail -n 1; }

"$compiler" -std=c++20 -O2 -pthread -o program "$here/tests/package/old_glibc.cc"
if [[ $(printf '%s\n' "$(newest program GLIBC)" GLIBC_2.28 | sort -V | tail -n 1) == GLIBC_2.28 ]]; then
  skip "this glibc is not newer than 2.28"
fi
for way in newer older; do
  flags=() && [[ $way == newer ]] || flags=(-DAGENTR_TEST_FALLBACKS)
  "$compiler" -x c "${flags[@]}" -O2 -Wall -Wextra -Werror -fPIC -shared -o "$way.so" "$here/packaging/wheel/old_glibc.c"
done
cp program aged
python3 "$here/packaging/wheel/old_glibc.py" 2.28 aged newer.so older.so
for file in aged newer.so older.so; do
  found=$(newest "$file" GLIBC)
  [[ $(printf '%s\n' "$found" GLIBC_2.28 | sort -V | tail -n 1) == GLIBC_2.28 ]] || fail "$file still asks for $found"
done
[[ $(versions aged | grep -c GLIBCXX) == 1 ]] || fail "the program still asks for $(newest aged GLIBCXX)"
for way in newer older; do
  [[ $(LD_PRELOAD=$PWD/$way.so ./aged) == ok ]] || fail "the program does not run, with $way.so"
done
# A file of another kind is named.
if python3 "$here/packaging/wheel/old_glibc.py" 2.28 "$here/README.md" 2>error; then fail "README.md is taken for a program"; fi
grep -q 'README.md is no 64-bit' error || fail "the message does not name the file: $(cat error)"
echo "test_old_glibc: all well"
