# shellcheck shell=bash
# Functions for test.sh and quickstart.sh, which source this file. It changes to the project's root.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
preset=${AGENTR_PRESET:-release}

set_up() {
  if [[ ${AGENTR_SKIP_SETUP:-0} != 1 ]]; then scripts/setup.sh; fi
}

# build TARGET…: configures and builds the preset, with ninja if present.
build() {
  if [[ ! -e build/$preset/CMakeCache.txt ]] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
  fi
  export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
  cmake --preset "$preset"
  cmake --build --preset "$preset" --target "$@"
}
