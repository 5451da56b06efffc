#!/usr/bin/env bash
# Trains the bundled model anew, from random weights and demonstrations of our own, by the recipe
# that made models/bundled/model.safetensors:
#   scripts/train_bundled.sh [FOLDER]      FOLDER: for all that is made (train_result/bundled)
# The model is then in FOLDER/both/model. A run that was killed goes on with the same command.
# models/bundled/README.md says how long it took and what the model can do.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
build make_demos agent_train
bin=build/$preset/bin
folder=${1:-train_result/bundled}

# demos NAME SEED BOOKS CHAT_ROWS JUDGEMENTS SHOPS
demos() {
  [[ -e $folder/demos/$1/resolved.toml ]] ||
    "$bin/make_demos" --output_dir "$folder/demos/$1" --seed "$2" --textcraft_books "$3" \
      --chat_rows "$4" --judgements "$5" --built_in 0.3 --webshop_shops "$6" --shop_goals 60
}

# train NAME TEXTCRAFT_SHARE CHAT_SHARE OPTION…
train() {
  local name=$1 rows=$folder/demos/$1
  local data=(--data "$rows/textcraft.jsonl:$2" --data "$rows/chat.jsonl:$3")
  shift 3
  [[ -e $folder/$name/model/config.json ]] ||
    "$bin/agent_train" --config configs/train/bundled.toml --output_dir "$folder" --name "$name" --processes 2 \
      "${data[@]}" "$@"
}

demos copy 101 130 3000 0 0
demos plan 102 220 3000 0 0
demos refine 104 60 500 0.25 0
demos both 201 100 500 0.1 110

train copy 0.85 0.15 --model_dir models/bundled --from_scratch 1 --initial_attention induction \
  --seed 1 --lr 1.5e-3 --lr_schedule constant --max_steps 200
train plan 0.92 0.08 --model_dir "$folder/copy/model" --export_dtype float32 \
  --seed 2 --lr 1.5e-3 --lr_schedule constant --warmup 0.05 --max_steps 300
train refine 0.98 0.02 --model_dir "$folder/plan/model" --export_dtype bfloat16 \
  --seed 3 --lr 1.2e-3 --lr_schedule linear --lr_least 0.03 --max_steps 200
train both 0.70 0.02 --data "$folder/demos/both/webshop.jsonl:0.28" --max_length 3072 \
  --model_dir "$folder/refine/model" --export_dtype bfloat16 \
  --seed 4 --lr 1e-3 --lr_schedule linear --lr_least 0.03 --max_steps 300
printf '\nThe model is in %s\n' "$folder/both/model"
