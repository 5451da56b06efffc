#!/usr/bin/env bash
# Fails on C++ sources that are formatted otherwise than .clang-format says.
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
if (($#)); then
  printf '%s\0' "$@"
else
  find . \( -name '.?*' -o -path './build*' \) -prune -o \( -name '*.h' -o -name '*.cc' \) -print0
fi | xargs -0 -n 50 -P 2 "$tool" "${mode[@]}" && exit 0
echo "Cure: scripts/check_format.sh --fix"
exit 1
