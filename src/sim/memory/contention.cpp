#include "sim/memory/contention.hpp"

#include "machine/dram_variation.hpp"
#include "sim/memory/description.hpp"

#include <algorithm>

namespace gputomo::sim {

Contention::Contention(const machine::Machine& machine) : write_delay_(machine.memory.write_delay.value_or(0)) {
    const auto& slopes = machine.memory.contention_slopes;
    const auto& limits = machine.memory.contention_limits;
    if (!slopes || !limits) return;
    if (slopes.value.size() != limits.value.size())
        reject("memory.contention_limits", fmt::format("found {} numbers", limits.value.size()),
               fmt::format("{} as in memory.contention_slopes", slopes.value.size()));
    const double mhz = need_rate(machine.clock.sm_mhz, "clock.sm_mhz");
    for (std::size_t i = 0; i < slopes.value.size(); ++i) {
        if (!(slopes.value[i] >= 0) || !(limits.value[i] > 0))
            reject("memory.contention_slopes",
                   fmt::format("found {} cycles with a limit of {} GB/s", slopes.value[i], limits.value[i]),
                   "a slope of at least 0 and a limit above 0");
        terms_.push_back({slopes.value[i], limits.value[i] * 1e3 / mhz});
    }
}

double Contention::wait(std::uint64_t address, double now) const {
    if (terms_.empty() && write_delay_ == 0) return 0;
    const auto current = static_cast<std::int64_t>(now / kBucket);
    Bucket sum;
    for (std::int64_t number = std::max<std::int64_t>(0, current - kBuckets); number < current; ++number) {
        const Bucket& bucket = buckets_[static_cast<std::size_t>(number % kKept)];
        if (bucket.number == number) sum.read += bucket.read, sum.writing += bucket.writing;
    }
    constexpr double kTime = kBucket * static_cast<double>(kBuckets);
    double cycles = machine::write_wait(address, now, std::min(1.0, sum.writing / kTime), write_delay_);
    for (const auto& [slope, limit] : terms_) {
        const double x = std::min(sum.read / kTime, kMostOfLimit * limit);
        cycles += slope * x / (limit - x);
    }
    return cycles;
}

Contention::Bucket* Contention::bucket(double now) {
    const auto number = static_cast<std::int64_t>(now / kBucket);
    Bucket& found = buckets_[static_cast<std::size_t>(number % kKept)];
    if (found.number < number) found = {.number = number};
    return found.number == number ? &found : nullptr;
}

void Contention::add_read(double now, double bytes) {
    if (Bucket* const found = bucket(now)) found->read += bytes;
}

void Contention::add_write(double now, double cycles) {
    if (Bucket* const found = bucket(now)) found->writing += cycles;
}

void Contention::begin_launch() { buckets_.fill({}); }

}  // namespace gputomo::sim
