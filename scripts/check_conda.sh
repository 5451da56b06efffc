#!/usr/bin/env bash
# The conda recipe has this version, and a package for each one that scripts/setup.sh installs for the build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
recipe=packaging/conda/meta.yaml
status=0
complain() { printf '%s: %s\n' "$recipe" "$*" && status=1; }

version=$(sed -n 's/^project(agentr VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
grep -q "set version = \"$version\"" "$recipe" || complain "its version is not $version"

# The lists of setup.sh; its tests need the word stemmer besides, which the recipe does not build.
declare -A wanted=()
for name in $(sed -n '/^build=(/,/^required=/p' scripts/setup.sh | grep -v '^faster=\|^required=' |
  sed 's/#.*//; s/^[a-z]*=(//; s/) *$//'); do
  [[ $name == libstemmer-dev ]] || wanted[$name]=1
done
((${#wanted[@]} > 15)) || complain "scripts/setup.sh names only ${#wanted[@]} packages"
for name in $(sed -n '/^requirements:/,/^  run:/s/^    - .* # *\(.*\)/\1/p' "$recipe"); do
  [[ ${wanted[$name]:-} ]] || complain "scripts/setup.sh does not install $name"
  unset "wanted[$name]"
done
for name in "${!wanted[@]}"; do complain "it has nothing for $name, which scripts/setup.sh installs"; done
exit $status
