#!/usr/bin/env bash
# Fails if the compiler keeps the sums of a product in memory: if an inner loop of a tile of
# lm/kernels stores a vector register. Such a kernel gives right results, ten times slower.
#   scripts/check_kernels.sh LIBRARY     the compiled kernels, e.g. build/release/lm/libagentr_lm_kernels.a
# OBJDUMP is that of the library's processor.
set -euo pipefail
"${OBJDUMP:-objdump}" -d --no-show-raw-insn -C "$1" | awk '
  function Hex(text,    i, value) {
    for (i = 1; i <= length(text); ++i) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value
  }
  # A store: the last operand of a move is memory, the first a vector register. On aarch64: str, stp, st1.
  function Stores(text) {
    if (text ~ /^(str|stp|stur|st1)[ \t]+\{?[qv]/) return 1
    if (text !~ /^v?(mov|pmov|extract)[a-z0-9]*[ \t]+\$?[^(]*%[xyz]mm[0-9]+(\{[^}]*\})*,/) return 0
    return text ~ /\)(\{[^}]*\})*$/ && text !~ /^[^ \t]*[ \t]+[^%$]*\(/
  }
  # The loops from a jump back to its target that contain no other such loop. A jump back across a return is
  # none: it leads from a part that was moved behind the end of the function.
  function CheckFunction(    i, j, k, loops, inner, products, left) {
    for (i = 1; i <= count; ++i) {
      if (line[i] ~ /^ret/) left = i
      if (!(i in target) || !(target[i] in place) || place[target[i]] > i || place[target[i]] < left) continue
      begin[++loops] = place[target[i]]
      end[loops] = i
    }
    for (j = 1; j <= loops; ++j) {
      inner = 1
      for (k = 1; k <= loops; ++k)
        if (k != j && begin[k] >= begin[j] && end[k] <= end[j] && (begin[k] != begin[j] || end[k] != end[j])) inner = 0
      products = 0
      for (i = begin[j]; i <= end[j]; ++i) products += line[i] ~ /^v?(fn?m|mul|pmadd|madd|dp|pdp)|dot|mla/
      if (!inner || products < 2) continue
      ++checked
      for (i = begin[j]; i <= end[j]; ++i) {
        if (!Stores(line[i])) continue
        printf "%s\n    %s\n", name, line[i]
        ++faults
        break
      }
    }
  }
  function Leave() {
    if (name ~ /Tile</) CheckFunction()
    split("", line); split("", target); split("", place)
    count = 0
  }
  /^[0-9a-f]+ <.*>:$/ { Leave(); name = $0; next }
  name ~ /Tile</ && /^ +[0-9a-f]+:\t/ {
    split($0, parts, ":\t")
    text = parts[2]
    sub(/[ \t]*(#|\/\/).*/, "", text)
    line[++count] = text
    gsub(/ /, "", parts[1])
    place[Hex(parts[1])] = count
    # A conditional jump: j.. on x86, b.., cb.. and tb.. on aarch64.
    if (text ~ /^(j[a-z]+|b\.[a-z]+|cbn?z|tbn?z|b)[ \t]/ && match(text, /[0-9a-f]+ </)) {
      target[count] = Hex(substr(text, RSTART, RLENGTH - 2))
    }
  }
  END {
    Leave()
    if (checked < 20) { printf "only %d loops of tiles found\n", checked; exit 1 }
    if (faults > 0) { printf "%d of %d inner loops store a vector\n", faults, checked; exit 1 }
    printf "%d inner loops of tiles, none stores a vector\n", checked
  }
'
