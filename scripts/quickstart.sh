#!/usr/bin/env bash
# From a bare machine to the first results: builds the programs, then searches, revises and evaluates
# on the embedded WebShop environment, trains the bundled model on TextCraft by one iteration of
# the loop, and shows the results. AGENTR_SKIP_SETUP=1 installs nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
set_up
build programs

bin=build/$preset/bin

# The programs would read these variables.
unset TASK ITERA MAX_DEPTH N_GEN TEMP MODEL_NAME MODEL_DIR MODEL_TYPE MAX_TOKEN_LENGTH \
  OPENAI_API_BASE

# run PROGRAM ARGUMENTS…: prints the command, then runs it.
run() {
  printf '\n== %s\n' "$bin/$*"
  "$bin/$@"
}

# at_most LINES: prints the first lines of its input.
at_most() {
  awk -v most="$1" 'NR <= most
                    END { if (NR > most) print "… and", NR - most, "more lines" }'
}

trees=mcts_result/webshop/planner
run mcts_collect --task webshop --min 0 --max 200
first=$(find "$trees" -name 'search_results_*.json' | sort -V | sed -n 1p)
run tree_show "$first" | at_most 25
run path_collect --revise 1 --input_dir "$trees"
run agent_eval --max_steps 30

# One iteration of self-improvement, a few minutes: the bundled model searches TextCraft, is trained on
# its own good paths and corrected mistakes and on demonstrations, and plays the test tasks before
# and after.
run make_demos --output_dir demos_result --seed 77 --textcraft_books 60 --slips 0 --judgements 0 \
  --chat_rows 0 --webshop_shops 0
run self_train --config configs/loop/textcraft.toml --iterations 1 --name quickstart \
  --model_dir bundled --demonstrations demos_result/textcraft.jsonl:0.5 --seed 1

printf '\n== Made in %s\n' "$PWD"
printf '%-12s %s\n' trees "$trees/search_results_*.json" rows path_result/webshop_centric.jsonl \
  episodes test_result/webshop/planner_scripted/ loop loop_result/quickstart/table.txt \
  programs "$bin/"
