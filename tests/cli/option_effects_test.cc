// What each option of each program decides: whether it determines the results, only their speed, or
// only the output. Think about which of the three a new option is, and list it here: a program goes
// on with what is in a folder if the options that determine it are the same.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/cli/program.h"

namespace agentr {
namespace {

constexpr const char* kEffects = R"(
determines: agent_eval
--cut --revision_from --slip_shown
determines: agent_eval agent_report agent_rl agent_train env_check env_server lm_server
make_demos mcts_collect model_convert path_collect self_train store_status
--simd
determines: agent_eval agent_rl agent_train
--max_steps
determines: agent_eval agent_rl agent_train lm_server mcts_collect model_convert path_collect
self_train
--base_model --model_dir
determines: agent_eval agent_rl agent_train lm_server mcts_collect path_collect self_train
--chat_template --dtype
determines: agent_eval agent_rl agent_train make_demos mcts_collect path_collect self_train
--seed
determines: agent_eval agent_rl env_server mcts_collect path_collect self_train
--task
determines: agent_eval agent_rl mcts_collect
--max_new_tokens --temperature
determines: agent_eval agent_train lm_server mcts_collect path_collect self_train
--chat_kwargs
determines: agent_eval env_server mcts_collect path_collect
--style
determines: agent_eval lm_server mcts_collect path_collect
--model_name
determines: agent_eval lm_server mcts_collect path_collect self_train
--chat_date --kv_dtype --model_context
determines: agent_eval mcts_collect
--context_slack --planner_error_rate --slip --slip_kind --snap_actions --stop --thinking
--top_p
determines: agent_eval mcts_collect path_collect
--llm_field --llm_seed --max_context
determines: agent_eval path_collect
--revision_action --revision_reply
determines: agent_rl
--algorithm --awr_max_weight --awr_temperature --batch --batch_tokens --chai_samples --clip
--critic_gate --critic_lr --critic_updates --critic_width --distractors --dpo_beta
--dpo_length_normalized --dpo_likelihood --draws --entropy_coefficient --environments
--episodes --eval_greedy --expectile --gae_lambda --gamma --groups --grpo_clip --grpo_clip_high
--grpo_divide_by_std --grpo_kl --grpo_loss --grpo_overlong --inverse_temperature --keep_share
--level --max_task --min_task --mission --noise --normalize_advantages --pairs --player
--ppo_epochs --recurrence --replay_capacity --reward_scale --split --step_advantage
--step_return --steps --subset --tau --token_baseline --transitions --trees --trees_model
--updates --value_activation --value_clip --value_coefficient --value_width --warmup_iterations
--weight_limit
determines: agent_rl agent_train
--adam_beta1 --adam_beta2 --adam_epsilon --from_scratch --initial_attention --lora_alpha
--lora_dropout --lora_rank --lora_rslora --lora_target --lr --lr_least --lr_schedule
--max_grad_norm --max_length --warmup --weight_decay
determines: agent_rl env_server
--reference
determines: agent_rl mcts_collect
--iterations
determines: agent_rl path_collect
--max_pairs_per_task --preference_margin --preference_refusals --preference_visits
--preferences_per_node
determines: agent_rl self_train
--attempts
determines: agent_train
--batch_rows --data --each_turn --epochs --held_out --too_long
determines: agent_train self_train
--train_tokens
determines: env_server
--attributes --babyai_level --babyai_task --human_goals --num_products --oracle_base
--oracle_model --products --recipes --scienceworld_jar --shop_seed --show_attributes
determines: env_server make_demos
--show_inventory
determines: lm_server
--adapter
determines: make_demos
--beliefs --built_in --chat_rows --goals --held_out_books --judgements --look --max_commands
--misreadings --questions --scenes --shop_checks --shop_goals --shop_products --shop_slips
--slips --textcraft_books --train_slips --webshop_shops
determines: mcts_collect
--exploration --max_depth --n_gen
determines: model_convert
--type
determines: path_collect
--data_type --good_margin --good_slips --input_dir --judge_evidence --judge_max_new_tokens
--judge_refusals --judge_temperature --keep_diverged --max_form_share --max_recovery
--min_evidence --min_success --notice --notice_steps --pairing --prefix_slips --prune --replay
--rollout_max_new_tokens --rollout_steps --rollout_temperature --rollouts --thoughts --verifier
--verifier_prompt
determines: path_collect self_train
--alpha --beta --revise
determines: self_train
--collect --demonstrations --eval_slip --evaluate --method --prefer --prefer_steps
--revised_weight --rows --train --train_from
output: agent_eval
--arm --attempts --compare --compare_json --model_type --revision_window --success --thoughts
output: agent_eval agent_report agent_rl agent_train env_check env_server lm_server make_demos
mcts_collect model_convert path_collect self_train store_status
--log_level
output: agent_eval agent_rl agent_train make_demos mcts_collect path_collect self_train
--output_dir
output: agent_eval agent_train mcts_collect
--metrics_port
output: agent_eval env_check mcts_collect path_collect self_train
--task_file
output: agent_eval mcts_collect
--split
output: agent_eval mcts_collect path_collect
--llm_budget --llm_logprobs --llm_price --llm_token_ids --max --min
output: agent_eval mcts_collect path_collect self_train
--report
output: agent_eval mcts_collect path_collect store_status
--store --store_run
output: agent_report
--rows --serve --trees
output: agent_report env_check
--episodes
output: agent_report env_check model_convert
--output
output: agent_rl
--eval_episodes --eval_prompts --eval_split
output: agent_rl agent_train
--eval_every --keep --save_every
output: agent_rl agent_train self_train
--name
output: agent_train
--eval_rows --export_dtype --export_gguf --inspect --merge_adapters --play --play_every
output: agent_train env_server
--export
output: env_check
--action --id --openenv --seed --steps
output: env_server lm_server
--allow_host --host --max_body --port
output: lm_server
--api_key
output: mcts_collect
--mix_options --sample --task_type --tree_format
output: path_collect
--audit --dedup --format --max_row_tokens --overwrite --parquet --preference_repeats
--revision_thinking --revision_turn --show --train_prefix --turn_thoughts --unclean
output: self_train
--iterations
output: store_status
--check --files_to --json --watch
output: tree_show
--color --levels --print --responses --rewarded --width
speed: agent_eval
--episodes_in_flight
speed: agent_eval agent_rl agent_train lm_server mcts_collect path_collect self_train
--model_threads
speed: agent_eval agent_rl lm_server mcts_collect path_collect self_train
--kv_cache_gib --max_batch
speed: agent_eval agent_train lm_server mcts_collect path_collect self_train
--device
speed: agent_eval env_check mcts_collect path_collect
--env_attempts --env_ca --env_connections --env_max_reply --env_max_reply_head
--env_server_base --env_timeout
speed: agent_eval lm_server mcts_collect path_collect self_train
--max_batched_tokens --prefix_cache
speed: agent_eval mcts_collect
--max_tries --model_delay_ms
speed: agent_eval mcts_collect path_collect
--give_up_after --llm_attempts --llm_base --llm_ca --llm_connections --llm_max_completion
--llm_max_reply --llm_max_reply_head --llm_rate --llm_timeout --sessions --store_lease
--store_patience
speed: agent_rl agent_train
--collective_timeout --meet_timeout --processes --transport
speed: agent_train
--batch_tokens --checkpoint_activations --share_prefixes --zero
speed: env_check
--base
speed: env_server
--jvm_heap --max_sessions --no_extensions --oracle_timeout --session_ttl --threads
speed: lm_server
--max_waiting
speed: mcts_collect
--trees_in_flight
speed: path_collect
--judge_ahead --tasks_in_flight)";

// The programs with a main function, without the command that starts the others.
std::set<std::string> Programs() {
  std::set<std::string> programs;
  for (const auto& entry : std::filesystem::directory_iterator(AGENTR_APPS_DIR)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kEnd = "_main.cc";
    if (name.ends_with(kEnd)) programs.insert(name.substr(0, name.size() - kEnd.size()));
  }
  programs.erase("agentr");
  return programs;
}

// The words in lines of at most 96 columns, each with a line end before it.
std::string Wrapped(const std::string& words) {
  std::string text;
  size_t column = 96;
  std::istringstream in(words);
  for (std::string word; in >> word; column += 1 + word.size()) {
    const bool fits = column + 1 + word.size() <= 96;
    text += (fits ? " " : "\n") + word;
    if (!fits) column = 0;
  }
  return text;
}

TEST(OptionEffectsTest, EveryOptionIsListedWithWhatItDecides) {
  const ScratchFolder folder;
  std::map<std::string, std::string> programs_of;  // "speed --threads" -> " env_server"
  for (const std::string& program : Programs()) {
    const Outcome outcome = RunProgram(program, {"--help_as=effects"}, folder.path());
    ASSERT_EQ(outcome.exit, 0) << program << outcome.err;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) programs_of[line] += " " + program;
  }
  std::map<std::string, std::string> groups;  // "speed: env_server" -> its options
  for (const auto& [option, programs] : programs_of) {
    const size_t space = option.find(' ');
    groups[option.substr(0, space) + ":" + programs] += option.substr(space);
  }
  std::string text;
  for (const auto& [heading, options] : groups) text += Wrapped(heading) + Wrapped(options);
  EXPECT_EQ(text, kEffects);
}

}  // namespace
}  // namespace agentr
