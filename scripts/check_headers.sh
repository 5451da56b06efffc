#!/usr/bin/env bash
# Fails if a header does not compile when it is included first.
#   scripts/check_headers.sh COMPILER [FLAG…]     GCC or clang, and what it needs to find the packages
# Left out are headers that reach LibTorch, which take seconds each, and texts without "#pragma
# once", which are included in the middle of a file.
#
# Most of the time of such a compilation goes to the standard library. So each header is compiled
# after a precompiled one that contains only what the header includes anyway: of the sets of slow
# headers that several of ours have in common, the largest that is part of the header's own. What
# compiled once is not compiled again before something that it includes changes (the folder
# AGENTR_HEADER_STAMPS, if it is given).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
(($# > 0)) || { echo "usage: scripts/check_headers.sh COMPILER [FLAG…]" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Headers that take more than a tenth of a second, with about how many tenths. Those from 5 on are
# sets by themselves too.
slow='string:2 string_view:1 vector:1 optional:1 functional:3 span:1 memory:2 tl/expected.hpp:1 map:1
mutex:2 filesystem:4 algorithm:2 chrono:2 thread:3 condition_variable:2 unordered_map:1 regex:6
random:4 nlohmann/json.hpp:9 fmt/format.h:3 httplib.h:15 gtest/gtest.h:7 gmock/gmock.h:10'

# For each header: its precompiled set (a number, 0: none), its path, and all files of ours that it
# reaches. The sets go into files.
find . -name '*.h' -printf '%P\n' | grep -vE '^(build[^/]*|\.[^/]*)/' | LC_ALL=C sort > "$scratch/headers"
xargs grep -HE '^#(include|pragma once)' < "$scratch/headers" |
  awk -v slow="$slow" -v scratch="$scratch" '
  function Normal(path) {
    while (sub(/[^\/]+\/\.\.\//, "", path)) {}
    return path
  }
  {
    file = substr($0, 1, index($0, ":") - 1)
    text = substr($0, index($0, ":") + 1)
    if (text ~ /^#pragma once/) { files[++number] = file; next }
    split(text, words, /[<>"]/)
    if (text ~ /</) direct[file] = direct[file] " " words[2]
    else own[file] = own[file] " " words[2]
  }
  # All <…> of a header and of the headers that it includes.
  function Reach(file,    names, i, other, folder) {
    if (file in seen) return
    seen[file] = 1
    reached = reached direct[file] " "
    closure = closure " " file
    folder = file
    sub(/[^\/]*$/, "", folder)
    for (i = split(own[file], names, " "); i > 0; --i) {
      other = names[i] in direct || names[i] in own ? names[i] : Normal(folder names[i])
      if (other in direct || other in own) Reach(other)
    }
  }
  # Whether all words of `part` are in `all`; sets `saved` to the time that they take.
  function IsPart(part, all,    names, i) {
    saved = 0
    for (i = split(part, names, " "); i > 0; --i) {
      if (index(all " ", " " names[i] " ") == 0) return 0
      saved += cost[names[i]]
    }
    return 1
  }
  END {
    known = split(slow, entries, /[ \n]+/)
    for (k = 1; k <= known; ++k) {
      split(entries[k], words, ":")
      names[k] = words[1]
      cost[names[k]] = words[2]
      if (words[2] >= 5) sets[++count] = " " names[k]
    }
    for (i = 1; i <= number; ++i) {
      delete seen
      reached = closure = ""
      Reach(files[i])
      if (reached " " ~ / (torch|ATen|c10)\//) continue
      for (k = 1; k <= known; ++k) {
        if (index(reached " ", " " names[k] " ") > 0) slow_of[i] = slow_of[i] " " names[k]
      }
      closure_of[i] = closure
      if (++uses[slow_of[i]] == 6 && slow_of[i] != "") sets[++count] = slow_of[i]
    }
    for (k = 1; k <= count; ++k) {
      words_of = split(sets[k], set, " ")
      for (j = 1; j <= words_of; ++j) print "#include <" set[j] ">" > (scratch "/" k ".h")
    }
    for (i = 1; i <= number; ++i) {
      if (!(i in closure_of)) continue
      best = most = 0
      for (k = 1; k <= count; ++k) {
        if (IsPart(sets[k], slow_of[i]) && saved > most) { best = k; most = saved }
      }
      print best, files[i], closure_of[i]
    }
  }' > "$scratch/all"

# Left out is what compiled before, with the same content.
stamps=${AGENTR_HEADER_STAMPS:-$scratch/stamps}
mkdir -p "$stamps"
"$1" --version > "$scratch/version"
while read -r set header closure; do
  hash=$({ echo "$header" "$@"; cat "$scratch/version" $closure; } | sha256sum)
  [[ -e $stamps/${hash%% *} ]] || echo "$set" "$header" "$stamps/${hash%% *}"
done < "$scratch/all" > "$scratch/work"

compiler=("$@" -std=c++20 -I.)
declare -p compiler > "$scratch/compiler"
cat > "$scratch/compile" <<'END'
#!/usr/bin/env bash
# compile SET HEADER STAMP: makes the stamp, or writes a file with the compiler's complaint.
scratch=$(dirname "$0") first=()
source "$scratch/compiler"
(($1 == 0)) || first=(-include "$scratch/$1.h")
complaint=$("${compiler[@]}" -fsyntax-only "${first[@]}" -x c++ - 2>&1 <<< "#include \"$2\"") &&
  touch "$3" ||
  { echo "$2 does not compile when it is included first:"
    grep -m1 error <<< "$complaint" || echo "$complaint"; } > "$scratch/fault.$$"
END
chmod +x "$scratch/compile"

# Only the sets that are needed.
cut -d' ' -f1 "$scratch/work" | sort -u | sed "/^0$/d; s|.*|$scratch/&.h|" > "$scratch/sets"
xargs -r -P "$(nproc)" -I{} "${compiler[@]}" -x c++-header {} -o {}.gch < "$scratch/sets"
xargs -r -P "$(nproc)" -n3 "$scratch/compile" < "$scratch/work"
if compgen -G "$scratch/fault.*" > /dev/null; then
  cat "$scratch"/fault.*
  exit 1
fi
echo "$(wc -l < "$scratch/all") headers compile when they are included first" \
     "($(wc -l < "$scratch/work") were compiled)"
