#include "costs/scattered_accesses.hpp"

#include <algorithm>

namespace gputomo::costs {

ScatteredSpec scattered_spec_of(const machine::Machine& machine) {
    const auto& memory = machine.memory;
    return {.read = static_cast<double>(memory.scattered_read_bytes.value_or(0)),
            .write = static_cast<double>(memory.scattered_write_bytes.value_or(0))};
}

double ScatteredAccesses::cost(std::uint64_t address, double bytes, double alone) {
    if (alone <= bytes || bytes >= static_cast<double>(kLine)) return bytes;
    const std::uint64_t place = address / kNear;
    std::uint64_t& oldest = recent_[next_];
    next_ = (next_ + 1) % recent_.size();
    const bool near = latest_.contains(place);
    if (++count_ > recent_.size())
        if (const auto of_oldest = latest_.find(oldest); of_oldest->second == count_ - recent_.size())
            latest_.erase(of_oldest);
    oldest = place;
    latest_[place] = count_;
    return near ? std::max(bytes, kBurst) : alone;
}

}  // namespace gputomo::costs
