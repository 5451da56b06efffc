#include "training/distributed/sharded_parameters.h"

#include <algorithm>
#include <utility>

namespace agentr {
namespace {

using at::Tensor;

// Number of buckets that are exchanged while the next one is computed; from stage 1 on each needs
// memory.
constexpr size_t kMostUnderWay = 2;

int64_t Values(const Tensor& memory) {
  return static_cast<int64_t>(memory.storage().nbytes() / sizeof(float));
}

// All values of the memory of which `part` may be a part.
Tensor Whole(const Tensor& part) {
  return at::empty({0}, part.options()).set_(part.storage(), 0, {Values(part)});
}

// Moves all tensors of that memory into `flat`, beginning at `begin`.
void PointInto(const Tensor& memory, const Tensor& flat, int64_t begin) {
  const auto forget = [](void* context) { delete static_cast<Tensor*>(context); };
  memory.storage().set_data_ptr(
      at::DataPtr(flat.data_ptr<float>() + begin, new Tensor(flat), forget, flat.device()));
}

void Forget(const Tensor& memory) {
  memory.storage().set_data_ptr(at::DataPtr(nullptr, memory.device()));
}

}  // namespace

ShardedParameters::ShardedParameters(ProcessGroup& group, std::vector<Parameter> trained, int stage,
                                     int layers, bool tied, int64_t bucket_values)
    : group_(group), parameters_(std::move(trained)), stage_(stage), layers_(layers), tied_(tied) {
  FindBlocks(layers);
  buckets_ = PlanBuckets(blocks_, group.size(), bucket_values);
  LayOut();
  FindOwn();
}

// Parameters that are computed as one product share memory and stay together.
void ShardedParameters::FindBlocks(int layers) {
  for (const Parameter& p : parameters_) {
    const auto same = std::ranges::find_if(
        block_values_, [&](const Tensor& t) { return t.storage().is_alias_of(p.value.storage()); });
    block_of_.push_back(static_cast<size_t>(same - block_values_.begin()));
    if (same != block_values_.end()) continue;
    block_values_.push_back(p.value);
    block_gradients_.push_back(p.gradient);
    blocks_.push_back({Values(p.value), StageOf(p.name, layers)});
    TORCH_CHECK(Values(p.gradient) == blocks_.back().size &&
                    p.gradient.storage_offset() == p.value.storage_offset(),
                p.name);
  }
}

// Gives every bucket its memory and lets the blocks' tensors point into it: parameter by parameter
// the values stay the same, only their place changes. What a rank holds of a bucket of 8 values
// with 2 ranks (span 4): stage 0, 8 gradients (values stay where they are); stage 1, 8 values and 8
// gradients; stage 2, 8 values and 4 gradients, while the whole gradients exist only during a pass.
void ShardedParameters::LayOut() {
  for (size_t b = 0; b < buckets_.size(); ++b) {
    Held held;
    if (stage_ > 0) held.values = Zeros(Size(b));
    if (stage_ == 2) {
      held.own = Zeros(buckets_[b].span);
    } else {
      held.gradients = Zeros(Size(b));
    }
    for (const auto& [block, begin] : buckets_[b].blocks) {
      if (stage_ > 0) {
        const Tensor whole = Whole(block_values_[block]);
        held.values.narrow(0, begin, whole.numel()).copy_(whole);
        PointInto(block_values_[block], held.values, begin);
      }
      if (stage_ == 2) {
        Forget(block_gradients_[block]);
      } else {
        PointInto(block_gradients_[block], held.gradients, begin);
      }
    }
    held_.push_back(std::move(held));
  }
}

void ShardedParameters::FindOwn() {
  if (stage_ == 0) {
    for (size_t i = 0; i < parameters_.size(); ++i) own_.push_back({i, 0, parameters_[i]});
    return;
  }
  std::vector<Where> blocks(blocks_.size());
  for (size_t b = 0; b < buckets_.size(); ++b) {
    for (const auto& [block, begin] : buckets_[b].blocks) blocks[block] = {b, begin};
  }
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& p = parameters_[i];
    const auto [bucket, block_begin] = blocks[block_of_[i]];
    const Held& held = held_[bucket];
    const int64_t span = buckets_[bucket].span, mine = group_.rank() * span;
    const int64_t first = block_begin + p.value.storage_offset();
    const int64_t begin = std::max(first, mine);
    const int64_t count = std::min(first + p.value.numel(), mine + span) - begin;
    if (count <= 0) continue;
    const Tensor gradient = stage_ == 2 ? held.own.narrow(0, begin - mine, count)
                                        : held.gradients.narrow(0, begin, count);
    own_.push_back(
        {i, begin - first, {p.name, held.values.narrow(0, begin, count), gradient, p.decays}});
    where_.push_back({bucket, begin});
  }
}

void ShardedParameters::Materialise(size_t b) {
  Held& held = held_[b];
  if (stage_ < 2 || held.gradients.defined()) return;
  held.gradients = Zeros(Size(b));
  for (const auto& [block, begin] : buckets_[b].blocks) {
    PointInto(block_gradients_[block], held.gradients, begin);
  }
}

void ShardedParameters::BeginPass() {
  next_ = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const bool at_once = buckets_[b].first >= layers_ - 1 || (tied_ && buckets_[b].first < 0);
    if (at_once) Materialise(b);
  }
}

void ShardedParameters::LayerDone(int layer) {
  while (next_ < buckets_.size() && buckets_[next_].last >= layer) Launch();
  for (size_t b = next_; b < buckets_.size() && buckets_[b].first >= layer - 1; ++b) Materialise(b);
}

void ShardedParameters::EndPass() {
  while (next_ < buckets_.size()) Launch();
  while (!under_way_.empty()) FinishOldest();
}

void ShardedParameters::Launch() {
  Materialise(next_);  // if this rank had no rows for the pass
  const Tensor& gradients = held_[next_].gradients;
  under_way_.push_back(
      {next_, stage_ == 0 ? group_.AllReduce(gradients) : group_.ReduceScatter(gradients)});
  ++next_;
  if (stage_ > 0 && under_way_.size() > kMostUnderWay) FinishOldest();
}

void ShardedParameters::FinishOldest() {
  const auto [bucket, pending] = std::move(under_way_.front());
  under_way_.pop_front();
  pending->Wait();
  if (stage_ < 2) return;
  Held& held = held_[bucket];
  const int64_t span = buckets_[bucket].span;
  held.own.add_(held.gradients.narrow(0, group_.rank() * span, span));
  held.gradients = Tensor();
  for (const auto& placed : buckets_[bucket].blocks) Forget(block_gradients_[placed.block]);
}

void ShardedParameters::ClearGradients() {
  for (Held& held : held_) {
    for (const Tensor& gradients : {held.gradients, held.own}) {
      if (gradients.defined()) gradients.zero_();
    }
  }
}

void ShardedParameters::GatherValues() {
  if (stage_ == 0) return;
  std::vector<std::unique_ptr<ProcessGroup::Pending>> all;
  for (const Held& held : held_) all.push_back(group_.AllGather(held.values));
  for (const auto& pending : all) pending->Wait();
}

std::vector<Tensor> ShardedParameters::Gather(const std::vector<Tensor>& own) const {
  if (stage_ == 0) return own;
  std::vector<Tensor> whole;
  for (const Parameter& p : parameters_) {
    if (group_.rank() == 0) whole.push_back(at::empty(p.value.sizes(), p.value.options()));
  }
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const Tensor flat = Zeros(Size(b));
    for (size_t k = 0; k < own_.size(); ++k) {
      if (where_[k].bucket == b) flat.narrow(0, where_[k].begin, own[k].numel()).copy_(own[k]);
    }
    group_.AllGather(flat)->Wait();
    for (size_t i = 0; i < whole.size(); ++i) {
      for (const auto& [block, begin] : buckets_[b].blocks) {
        if (block != block_of_[i]) continue;
        const int64_t first = begin + parameters_[i].value.storage_offset();
        whole[i].view({-1}).copy_(flat.narrow(0, first, whole[i].numel()));
      }
    }
  }
  return whole;
}

int64_t ShardedParameters::gradient_bytes() const {
  int64_t bytes = 0;
  for (const Held& held : held_) {
    const Tensor& always = stage_ == 2 ? held.own : held.gradients;
    bytes += always.numel() * static_cast<int64_t>(sizeof(float));
  }
  return bytes;
}

int64_t ShardedParameters::passing_gradient_bytes() const {
  int64_t largest = 0, from_the_start = 0;
  for (size_t b = 0; b < buckets_.size(); ++b) {
    const int64_t bytes = Size(b) * static_cast<int64_t>(sizeof(float));
    largest = std::max(largest, bytes);
    if (tied_ && buckets_[b].first < 0) from_the_start += bytes;
  }
  if (stage_ == 0) return 0;
  // The memory for receiving buckets from the other ranks and, if gradients are not kept, for the
  // exchanged buckets in addition to the one being computed.
  const int64_t received = largest * static_cast<int64_t>(kMostUnderWay + 1);
  return stage_ == 1 ? received : from_the_start + 2 * received + largest;
}

}  // namespace agentr
