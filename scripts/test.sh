#!/usr/bin/env bash
# Installs what is missing, builds everything and runs all tests.
#   scripts/test.sh [ARGUMENTS OF CTEST…]      e.g. scripts/test.sh -R Tree
# AGENTR_PRESET=dev|asan|tsan selects another preset than release; AGENTR_SKIP_SETUP=1 installs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
set_up
build all
exec ctest --preset "$preset" "$@"
