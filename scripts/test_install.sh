#!/usr/bin/env bash
# Installs a build into a folder of its own and checks it: programs run from there and find their
# data, documents are there, and a project outside uses the libraries.
#   scripts/test_install.sh BUILD_FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/usr

say() { printf 'test_install: %s\n' "$*"; }
fail() { say "$*" && exit 1; }

say "cmake --install"
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log" ||
  { cat "$scratch/install.log" && fail "the installation failed"; }

cd "$scratch"
export PATH=$prefix/bin:$PATH HOME=$scratch
agentr --version | grep -q '^agentr ' || fail "agentr --version"
agentr collect --task textcraft --min 31 --max 34 >collect.log 2>&1 || { cat collect.log; fail "collect"; }
agentr report mcts_result | grep -q agentr_report.html || fail "report"
agentr collect --task textcraft --min 31 --max 32 --model_name bundled --max_depth 4 --iterations 1 \
  --output_dir bundled >bundled.log 2>&1 || { cat bundled.log; fail "the bundled model is not found"; }
self_train --config configs/loop/none.toml >none.log 2>&1 && fail "self_train ran without its configuration"
grep -q 'configs/loop/none.toml' none.log ||
  fail "a missing configuration is not named"
# Reads its options, and then wants a model.
self_train --config configs/loop/textcraft.toml >loop.log 2>&1 && fail "self_train ran without a model"
grep -q 'textcraft.toml' loop.log && { cat loop.log; fail "the installed configuration is not found"; }

for program in "$prefix"/bin/*; do
  name=$(basename "$program")
  [[ -s $prefix/share/man/man1/$name.1 ]] || fail "there is no man page of $name"
  bash -n "$prefix/share/bash-completion/completions/$name" || fail "completion of $name"
  [[ -s $prefix/share/zsh/vendor-completions/_$name ]] || fail "there is no zsh completion of $name"
done
python=$prefix/lib/python3/dist-packages
[[ -x $python/agentr_env.py ]] || fail "there is no agentr_env.py"
if command -v python3 >/dev/null; then
  PYTHONPATH=$python python3 -c 'import agentr; assert len(list(agentr.trees("mcts_result"))) == 3' ||
    fail "the Python package does not read the trees"
fi
# What bash would offer.
# shellcheck source=/dev/null
source "$prefix/share/bash-completion/completions/mcts_collect"
# shellcheck source=/dev/null
source "$prefix/share/bash-completion/completions/tree_show"
COMP_WORDS=(mcts_collect --trees_in_f) COMP_CWORD=1
_agentr_mcts_collect
[[ ${COMPREPLY[*]} == --trees_in_flight ]] || fail "bash completes --trees_in_f to '${COMPREPLY[*]}'"
COMP_WORDS=(tree_show --color n) COMP_CWORD=2
_agentr_tree_show
[[ ${COMPREPLY[*]} == never ]] || fail "bash completes --color n to '${COMPREPLY[*]}'"

say "a project outside"
if ! { cmake -S "$here/tests/package" -B outside -DCMAKE_PREFIX_PATH="$prefix" &&
       cmake --build outside; } >outside.log 2>&1; then
  cat outside.log
  fail "the project outside"
fi
[[ $(outside/outside) == "2 nodes, action look, instruction of 2 messages" ]] || fail "outside"

say "an environment outside"
if ! { cmake -S "$prefix/share/doc/agentr/examples/own_environment" -B own -DCMAKE_PREFIX_PATH="$prefix" &&
       cmake --build own && own/own_environment --max 10; } >own.log 2>&1; then
  cat own.log
  fail "the environment outside"
fi
grep -q '^7 of 7 trees contain a success' own.log || { cat own.log; fail "the trees of the environment outside"; }
say "all right"
