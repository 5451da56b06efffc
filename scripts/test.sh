#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests.
#   scripts/test.sh [ARGUMENTS OF CTEST…]      e.g. scripts/test.sh -R Tree
# After ctest's report it lists the tests that were skipped, each with its reason.
# AGENTR_PRESET=dev|asan|tsan selects another preset than release; AGENTR_SKIP_SETUP=1 installs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
set_up
# The tests of --store start a PostgreSQL server of their own. They are skipped where it is missing.
if [[ ${AGENTR_SKIP_SETUP:-0} != 1 && -z ${AGENTR_PREFIX:-} ]]; then
  scripts/setup.sh --postgresql || echo "test: continuing without the tests of --store"
fi
build all
log=build/$preset/Testing/Temporary/LastTest.log report=build/$preset/Testing/report.txt
rm -f "$log" "$report"
status=0
ctest --preset "$preset" --output-log "$report" "$@" || status=$?
if [[ ! -e $log ]]; then exit "$status"; fi
# GoogleTest prints "FILE:LINE: Skipped", the reason and "[  SKIPPED ] NAME (0 ms)"; other checks print
# "Skipped: " and the reason.
skipped=$(awk '
  / Test: / { check = $3; level = match(check, /@/) ? substr(check, RSTART) : "" }
  /^\[ RUN / || /^Test time/ { reading = 0; reason = "" }
  /^\[  SKIPPED \] .* \(/ { print "  " $4 level ":" reason; reading = 0 }
  reading && NF { reason = reason " " $0 }
  /: Skipped$/ { reading = 1; reason = "" }
  /^Skipped: / { sub(/^Skipped: /, ""); print "  " check ": " $0 }
' "$log" | LC_ALL=C sort)
if [[ -n $skipped ]]; then
  printf '\nSkipped (%d):\n%s\n\n' "$(wc -l <<<"$skipped")" "$skipped"
  grep -E '^[0-9]+% tests passed' "$report" || true  # again, to be the last line
fi
exit "$status"
