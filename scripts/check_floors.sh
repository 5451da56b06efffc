#!/usr/bin/env bash
# Fails on an #include that runs upwards between the rooms of scripts/floors.txt, and on a LibTorch
# header outside lm/decoder, training and rl.
#   scripts/check_floors.sh [FOLDER]     FOLDER: the sources; without it, this project
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$here/..}"
# Folders with sources that are not rooms: tests may include everything.
mapfile -t sources < <(find . -name '*.h' -o -name '*.cc' | sed 's|^\./||' |
                       grep -vE '^(tests|build[^/]*|configs|scripts|\.[^/]*)/' | LC_ALL=C sort)
awk '
  FNR == NR {                                   # the table
    if ($1 == "interface") { interface[$2] = 1; next }
    if (/^#/ || NF == 0) next
    ++floors
    for (i = 1; i <= NF; ++i) floor[$i] = floors
    next
  }
  # The room of a file: the longest named folder that contains it.
  function Room(path) {
    while (sub(/\/[^\/]*$/, "", path)) if (path in floor) return path
    return ""
  }
  function Complain(what) { printf "%s:%d: %s\n", FILENAME, FNR, what; ++faults }
  FNR == 1 {
    room = Room(FILENAME)
    if (room == "") Complain("in no room: name its folder in scripts/floors.txt")
  }
  /^#include <(torch|ATen|c10)\// && room !~ /^(lm\/decoder|training|rl)/ {
    Complain("only lm/decoder, training and rl may include LibTorch: " $2)
  }
  /^#include "/ && room != "" {
    header = $2
    gsub(/"/, "", header)
    other = Room(header)
    if (other == "") { Complain("include paths start at the root of the project: " header); next }
    if (other == room || header in interface || floor[other] < floor[room]) next
    Complain(room " may not include " other " (" header "): see scripts/floors.txt")
  }
  END {
    if (faults > 0) exit 1
    print "no include runs upwards"
  }
' "$here/floors.txt" "${sources[@]}"
