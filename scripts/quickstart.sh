#!/usr/bin/env bash
# From a bare machine to the first result: builds the programs, searches a tree for each task of the
# embedded WebShop environment, and shows what was made. AGENTR_SKIP_SETUP=1 installs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
set_up
build programs

bin=build/$preset/bin
result=mcts_result/webshop/planner
printf '\n== %s\n' "$bin/mcts_collect --task webshop --min 0 --max 200"
"$bin/mcts_collect" --task webshop --min 0 --max 200

trees=$(find "$result" -name 'search_results_*.json' | sort -V)
first=$(head -n 1 <<<"$trees")
printf '\n== %s\n' "$bin/tree_show $first"
"$bin/tree_show" "$first" |
  awk 'NR <= 25 { print substr($0, 1, 110) } END { if (NR > 25) print "… and", NR - 25, "more lines" }'

printf '\n== Made in %s\n' "$PWD"
printf '%-10s %s\n' trees "$result/search_results_*.json ($(wc -l <<<"$trees") files)" \
  summary "$result/run.json" programs "$bin/"
