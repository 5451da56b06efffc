#!/usr/bin/env bash
# Fails on C++ sources that are formatted otherwise than .clang-format says, and on comments beyond
# 100 columns, which clang-format leaves as they are.
#   scripts/check_format.sh [--fix] [FILE…]     --fix: format them; without FILE, all sources
# Every version of clang-format formats a little differently, so only the one that the sources are
# formatted with (Debian 12's) can judge. Without it the exit code is 77, which ctest counts as skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
major=14
mode=(--dry-run -Werror)
if [[ ${1:-} == --fix ]]; then mode=(-i) && shift; fi
for tool in "clang-format-$major" clang-format ''; do
  if [[ $("$tool" --version 2>/dev/null) == *" version $major."* ]]; then break; fi
done
if [[ -z $tool ]]; then
  echo "Skipped: there is no clang-format $major"
  exit 77
fi
files() {
  if (($#)); then
    printf '%s\0' "$@"
  else
    find . \( -name '.?*' -o -path './build*' \) -prune -o \( -name '*.h' -o -name '*.cc' \) -print0
  fi
}
if files "$@" | { LC_ALL=C.UTF-8 xargs -0 grep -HnE '^ *//' || true; } |
  LC_ALL=C.UTF-8 grep -E '^[^:]*:[0-9]+:.{101,}'; then
  echo "Cure: break these comments before column 100"
  exit 1
fi
files "$@" | xargs -0 -n 50 -P 2 "$tool" "${mode[@]}" && exit 0
echo "Cure: scripts/check_format.sh --fix"
exit 1
