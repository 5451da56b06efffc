#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests.
#   scripts/test.sh [ARGUMENTS OF CTEST…]      e.g. scripts/test.sh -R Tree
# AGENTR_PRESET=dev|asan|tsan selects another preset than release; AGENTR_SKIP_SETUP=1 installs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
set_up
# The tests of --store start a PostgreSQL server of their own. They are skipped where it is missing.
if [[ ${AGENTR_SKIP_SETUP:-0} != 1 && -z ${AGENTR_PREFIX:-} ]]; then
  scripts/setup.sh --postgresql || echo "test: continuing without the tests of --store"
fi
build all
exec ctest --preset "$preset" "$@"
