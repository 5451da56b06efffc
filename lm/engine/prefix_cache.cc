#include "lm/engine/prefix_cache.h"

#include <algorithm>
#include <cassert>

namespace agentr {

struct PrefixCache::Node {
  Node* parent = nullptr;
  uint64_t scope = 0;
  std::vector<int32_t> tokens = {};
  int32_t block = -1;
  int32_t pins = 0;    // tables that hold it
  int64_t let_go = 0;  // the time when it was last unpinned
  Children children = {};
};

namespace {

template <typename T>
std::span<const int32_t> TokensOf(const T& node) {
  return node->tokens;
}
std::span<const int32_t> TokensOf(const std::span<const int32_t>& tokens) { return tokens; }

int32_t CommonLength(std::span<const int32_t> a, std::span<const int32_t> b) {
  return static_cast<int32_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

bool StartsWith(std::span<const int32_t> tokens, std::span<const int32_t> beginning) {
  return CommonLength(tokens, beginning) == static_cast<int32_t>(beginning.size());
}

std::span<const int32_t> Part(std::span<const int32_t> tokens, size_t begin, int32_t length) {
  return tokens.subspan(begin, std::min(tokens.size() - begin, static_cast<size_t>(length)));
}

}  // namespace

template <typename A, typename B>
bool PrefixCache::ByTokens::operator()(const A& a, const B& b) const {
  return std::ranges::lexicographical_compare(TokensOf(a), TokensOf(b));
}

bool PrefixCache::LetGoEarlier::operator()(const Node* a, const Node* b) const {
  return a->let_go < b->let_go;
}

PrefixCache::PrefixCache(Decoder& decoder, bool keep)
    : decoder_(decoder), block_tokens_(decoder.shape().block_tokens), keep_(keep) {
  for (int32_t block = decoder.shape().blocks; block > 0; --block) free_.push_back(block - 1);
}

PrefixCache::~PrefixCache() = default;

int32_t PrefixCache::available() const { return static_cast<int32_t>(free_.size()) + unpinned_; }

int32_t PrefixCache::in_use() const {
  return decoder_.shape().blocks - static_cast<int32_t>(free_.size());
}

// The child with the longest common prefix with `tokens`, of at most one block. In lexicographic
// order it is a neighbour of the position that `tokens` would have.
PrefixCache::Node* PrefixCache::Nearest(const Node& parent, std::span<const int32_t> tokens,
                                        int32_t& common) const {
  const std::span<const int32_t> wanted = Part(tokens, 0, block_tokens_);
  Node* nearest = nullptr;
  common = 0;
  const auto consider = [&](Node* node) {
    const int32_t length = CommonLength(node->tokens, wanted);
    if (length > common) {
      nearest = node;
      common = length;
    }
  };
  const auto at = parent.children.lower_bound(wanted);
  if (at != parent.children.end()) consider(at->get());
  if (at != parent.children.begin()) consider(std::prev(at)->get());
  return nearest;
}

PrefixCache::Prefix PrefixCache::Find(uint64_t scope, std::span<const int32_t> tokens) const {
  Prefix prefix;
  const auto root = roots_.find(scope);
  const Node* node = root == roots_.end() ? nullptr : root->second.get();
  while (node != nullptr) {
    int32_t common = 0;
    node = Nearest(*node, tokens.subspan(static_cast<size_t>(prefix.tokens)), common);
    prefix.tokens += common;
    if (common < block_tokens_) break;
    ++prefix.blocks;
    prefix.pinning += node->pins == 0;
  }
  return prefix;
}

void PrefixCache::Match(BlockTable& table, std::span<const int32_t> tokens) {
  assert(table.blocks_.empty());
  const auto root = roots_.find(table.scope_);
  Node* node = root == roots_.end() ? nullptr : root->second.get();
  while (node != nullptr) {
    int32_t common = 0;
    node = Nearest(*node, tokens.subspan(static_cast<size_t>(table.tokens_)), common);
    if (common < block_tokens_) {
      if (common > 0) CopyPart(table, *node, common);
      return;
    }
    Pin(*node);
    table.nodes_.push_back(node);
    table.blocks_.push_back(node->block);
    table.tokens_ += block_tokens_;
  }
}

void PrefixCache::CopyPart(BlockTable& table, Node& node, int32_t tokens) {
  Pin(node);  // Allocate could otherwise evict the source
  const int32_t block = Allocate();
  Unpin(node);
  if (block < 0) return;
  table.blocks_.push_back(block);
  decoder_.CopyBlock(node.block, block, tokens);
  table.tokens_ += tokens;
}

bool PrefixCache::Reserve(BlockTable& table, int32_t positions) {
  const int32_t missing =
      (positions + block_tokens_ - 1) / block_tokens_ - static_cast<int32_t>(table.blocks_.size());
  if (missing > available()) return false;
  for (int32_t i = 0; i < missing; ++i) table.blocks_.push_back(Allocate());
  return true;
}

void PrefixCache::Commit(BlockTable& table, std::span<const int32_t> tokens) {
  std::unique_ptr<Node>& root = roots_[table.scope_];
  if (!root) root = std::make_unique<Node>(Node{.scope = table.scope_});
  table.tokens_ = static_cast<int32_t>(tokens.size());
  const size_t block_tokens = static_cast<size_t>(block_tokens_);
  if (!table.nodes_.empty() && table.nodes_.back()->tokens.size() < block_tokens) {
    // The table's partly filled last block: its node is removed here and inserted again below with
    // its present tokens.
    Node& tail = *table.nodes_.back();
    assert(tail.pins == 1);
    table.nodes_.pop_back();
    tail.parent->children.erase(tail.parent->children.find(TokensOf(&tail)));
  }
  while (table.nodes_.size() * block_tokens < tokens.size()) {
    const size_t i = table.nodes_.size();
    Node& parent = i == 0 ? *root : *table.nodes_.back();
    Node* node = Insert(parent, Part(tokens, i * block_tokens, block_tokens_), table.blocks_[i]);
    if (node == nullptr) return;
    if (node->block != table.blocks_[i]) free_.push_back(table.blocks_[i]);
    table.blocks_[i] = node->block;
    table.nodes_.push_back(node);
  }
}

// A pinned node with `tokens`: the existing one, or a new one with `block`. Null for a partly
// filled block if a node already has these tokens and more, because they can be matched there.
PrefixCache::Node* PrefixCache::Insert(Node& parent, std::span<const int32_t> tokens,
                                       int32_t block) {
  const auto next = parent.children.lower_bound(tokens);
  if (next != parent.children.end() && StartsWith((*next)->tokens, tokens)) {
    if (static_cast<int32_t>(tokens.size()) < block_tokens_) return nullptr;
    Pin(**next);
    return next->get();
  }
  auto node = std::make_unique<Node>(
      Node{&parent, parent.scope, {tokens.begin(), tokens.end()}, block, 1, 0});
  const auto at = parent.children.insert(next, std::move(node));
  if (at != parent.children.begin()) {
    Node& previous = **std::prev(at);
    if (previous.pins == 0 && StartsWith(tokens, previous.tokens)) Remove(previous);
  }
  return at->get();
}

void PrefixCache::Release(BlockTable& table) {
  for (size_t i = table.nodes_.size(); i < table.blocks_.size(); ++i) {
    free_.push_back(table.blocks_[i]);
  }
  while (!table.nodes_.empty()) {  // from the leaf upwards, so that leaves are evicted before their
                                   // parents
    Unpin(*table.nodes_.back());
    table.nodes_.pop_back();
  }
  table = BlockTable(table.scope_);
}

void PrefixCache::Clear() {
  while (!evictable_.empty()) Remove(**evictable_.begin());
  assert(in_use() == 0);
}

void PrefixCache::Pin(Node& node) {
  if (node.pins++ > 0) return;
  --unpinned_;
  evictable_.erase(&node);
}

void PrefixCache::Unpin(Node& node) {
  if (--node.pins > 0) return;
  node.let_go = ++clock_;
  ++unpinned_;
  if (node.children.empty()) evictable_.insert(&node);
  if (!keep_) Remove(node);
}

// An unpinned leaf.
void PrefixCache::Remove(Node& node) {
  assert(node.pins == 0 && node.children.empty());
  Node& parent = *node.parent;
  free_.push_back(node.block);
  evictable_.erase(&node);
  --unpinned_;
  parent.children.erase(parent.children.find(TokensOf(&node)));
  if (!parent.children.empty()) return;
  if (parent.parent == nullptr) {
    roots_.erase(parent.scope);
  } else if (parent.pins == 0) {
    evictable_.insert(&parent);
  }
}

int32_t PrefixCache::Allocate() {
  if (free_.empty()) {
    if (evictable_.empty()) return -1;
    Remove(**evictable_.begin());
    ++evicted_;
  }
  const int32_t block = free_.back();
  free_.pop_back();
  return block;
}

}  // namespace agentr
