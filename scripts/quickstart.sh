#!/usr/bin/env bash
# From a bare machine to the first results.
#   scripts/quickstart.sh          builds five programs; searches, revises and evaluates the embedded WebShop; a report
#   scripts/quickstart.sh --loop   also trains the bundled model by one iteration of the loop on TextCraft
# Before each step it says how long the step takes on two cores. AGENTR_SKIP_SETUP=1 installs nothing, and
# AGENTR_BIN=FOLDER takes programs that are built already.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

loop=0
case "${1:-}" in
  '') ;;
  --loop) loop=1 ;;
  *)
    sed -n '2,6s/^# \{0,1\}//p' scripts/quickstart.sh
    [[ $1 == --help ]] && exit 0
    exit 2
    ;;
esac

# step WHAT HOW_LONG: announces a step, after the time of the one before.
began=''
step() {
  if [[ $began ]]; then printf -- '-- %d s\n' $((SECONDS - began)); fi
  printf '\n== %s (%s)\n' "$1" "$2"
  began=$SECONDS
}

# run PROGRAM ARGUMENTS…: prints the command, then runs it.
run() {
  printf '$ %s\n' "$*"
  "$bin/$1" "${@:2}"
}

# at_most LINES: prints the first lines of its input.
at_most() {
  awk -v most="$1" 'NR <= most
                    END { if (NR > most) print "… and", NR - most, "more lines" }'
}

programs=(mcts_collect tree_show path_collect agent_eval agent_report)
if ((loop)); then programs+=(make_demos self_train); fi
bin=${AGENTR_BIN:-$PWD/build/$preset/bin}
if [[ ! ${AGENTR_BIN:-} ]]; then
  step "Packages of the distribution" "a minute or two the first time, then a second"
  set_up
  step "Build of ${programs[*]}" "4 minutes the first time, then seconds"
  build "${programs[@]}"
fi

# The programs would read these variables.
unset TASK ITERA MAX_DEPTH N_GEN TEMP MODEL_NAME MODEL_DIR MODEL_TYPE MAX_TOKEN_LENGTH ALPHA BETA \
  OPENAI_API_BASE AGENTR_STORE

trees=mcts_result/webshop/planner
step "Search: 197 WebShop tasks, by a scripted player that makes mistakes" "10 s"
run mcts_collect --task webshop --min 0 --max 200
step "One of the trees" "1 s"
first=$(find "$trees" -name 'search_results_*.json' | sort -V | sed -n 1p)
run tree_show "$first" | at_most 25
step "Rows: each mistake is revised, and each row is replayed" "20 s"
run path_collect --revise 1 --input_dir "$trees" --show 1
step "Evaluation: the 200 test tasks" "2 s"
run agent_eval --max_steps 30

results=(mcts_result path_result test_result)
if ((loop)); then
  step "Demonstrations of TextCraft, because so small a model forgets" "5 s"
  run make_demos --output_dir demos_result --seed 77 --textcraft_books 60 --slips 0 --judgements 0 \
    --chat_rows 0 --webshop_shops 0
  step "One iteration of the loop: the bundled model searches TextCraft, is trained, and plays before and after" \
    "8 minutes"
  run self_train --config configs/loop/textcraft.toml --iterations 1 --name quickstart \
    --model_dir bundled --demonstrations demos_result/textcraft.jsonl:0.5 --seed 1
  results+=(loop_result)
fi
step "Report: one HTML file" "10 s"
run agent_report "${results[@]}"

printf -- '-- %d s\n\n== Made in %s\n' $((SECONDS - began)) "$PWD"
printf '%-10s %s\n' trees "$trees/search_results_*.json" rows path_result/webshop_centric.jsonl \
  episodes test_result/webshop/planner_scripted/
if ((loop)); then
  printf '%-10s %s\n' loop loop_result/quickstart/table.txt
else
  printf '%-10s %s\n' next "scripts/quickstart.sh --loop trains a model"
fi
printf '%-10s %s\n' programs "$bin/" report "file://$PWD/agentr_report.html"
