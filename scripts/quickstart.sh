#!/usr/bin/env bash
# From a bare machine to the first result: builds the programs, searches trees for all tasks of the
# embedded TextCraft environment, and shows what was made. AGENTR_SKIP_SETUP=1 installs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
set_up
build programs

bin=build/$preset/bin
result=mcts_result/textcraft/planner
printf '\n== Searching (%s) ==\n' "$bin/mcts_collect --task textcraft --min 0 --max 200"
"$bin/mcts_collect" --task textcraft --min 0 --max 200

trees=$(find "$result" -name '*.json' ! -name 'run.json' | sort -V)
first=$(head -n 1 <<<"$trees")
printf '\n== The tree of one task (%s) ==\n' "$bin/tree_show $first"
"$bin/tree_show" "$first" | awk 'NR <= 25 { print substr($0, 1, 110) } END { if (NR > 25) print "… " NR - 25 " more lines" }'

printf '\n== What was made ==\n'
printf '%-12s %s\n' trees "$(wc -l <<<"$trees") in $PWD/$result" \
  'run summary' "$PWD/$result/run.json" programs "$PWD/$bin"
