#include "costs/shared_queue.hpp"

#include <algorithm>

namespace gputomo::costs {

SharedQueueSpec shared_queue_spec_of(const machine::SharedMemory& shared) {
    const auto entries = [](const machine::Integer& leaf) {
        return static_cast<std::size_t>(std::max<std::int64_t>(0, leaf.value_or(0)));
    };
    return {.of_scheduler = entries(shared.queue), .loads_of_sm = entries(shared.load_queue)};
}

SharedQueue::SharedQueue(const SharedQueueSpec& spec, std::size_t schedulers) {
    if (spec.of_scheduler == 0) return;
    queues_.assign(schedulers, Entries(spec.of_scheduler));
    if (spec.loads_of_sm > 0) loads_.emplace_back(spec.loads_of_sm);
    last_.assign(schedulers, 0.0);
}

void SharedQueue::note(std::size_t scheduler, bool load, double issued, double starts) {
    double leaves = starts;
    if (load && !loads_.empty()) {
        leaves = std::clamp(loads_.front().oldest(), issued, std::max(issued, starts));
        loads_.front().add(starts);
    }
    // Entries leave in order.
    leaves = last_[scheduler] = std::max(leaves, last_[scheduler]);
    queues_[scheduler].add(leaves);
}

}  // namespace gputomo::costs
