#include "sim/sm/load_store/shared_banks.hpp"

#include "sim/memory/description.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::sim {
namespace {

/// Twice as many banks as any GPU has; the size of the tables below.
constexpr std::int64_t kMostBanks = 64;
constexpr std::uint32_t kWarpThreads = kWarpSize;

std::uint32_t count_of(const machine::Integer& field, const std::string& path, std::int64_t most) {
    return static_cast<std::uint32_t>(need_count(field, path, most));
}

}  // namespace

SharedBanks::SharedBanks(const machine::SharedMemory& shared)
    : banks_(count_of(shared.banks, "shared.banks", kMostBanks)),
      paired_reads_(shared.paired_reads.value_or(false)),
      swap_accesses_(static_cast<double>(shared.swap_accesses.value_or(1))),
      group_(shared.access_group ? count_of(shared.access_group, "shared.access_group", kWarpThreads) : kWarpThreads),
      latency_(need_cycles(shared.latency, "shared.latency")),
      conflict_cost_(shared.conflict_cost ? need_cycles(shared.conflict_cost, "shared.conflict_cost") : 0) {
    const auto width = need_count(shared.bank_width, "shared.bank_width");
    if (!std::has_single_bit(width) || width < 4)
        reject("shared.bank_width", fmt::format("found {}", width), "a power of two from 4 up");
    if (!std::has_single_bit(group_)) reject("shared.access_group", fmt::format("found {}", group_), "a power of two");
    width_shift_ = static_cast<std::uint32_t>(std::countr_zero(width));
    row_ = banks_ * (shared.row_words ? count_of(shared.row_words, "shared.row_words", kMostBanks) : 1);
    const double rate = shared.bytes_per_cycle ? need_rate(shared.bytes_per_cycle, "shared.bytes_per_cycle")
                                               : static_cast<double>(banks_ * width);
    if (std::has_single_bit(banks_) && std::has_single_bit(row_)) {
        bank_mask_ = banks_ - 1;
        row_shift_ = static_cast<std::uint32_t>(std::countr_zero(row_));
    }
    group_cycles_ = group_ * 4.0 / rate;
    group_delay_ = group_cycles_;
    if (shared.warp_latency && group_ < kWarpThreads) {
        const std::uint32_t further_groups = kWarpThreads / group_ - 1;
        group_delay_ =
            std::max(0.0, need_cycles(shared.warp_latency, "shared.warp_latency") - latency_) / further_groups;
    }
}

std::uint32_t SharedBanks::ways_of(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                   Request request) const {
    constexpr std::uint32_t kMostPerBank = 32;
    std::array<std::array<std::uint64_t, kMostPerBank>, kMostBanks> rows;
    std::array<std::uint8_t, kMostBanks> counts{};
    std::uint32_t ways = 0;
    for (; mask != 0; mask &= mask - 1) {
        const std::uint64_t begin = addresses[static_cast<std::size_t>(std::countr_zero(mask))];
        for (std::uint64_t word = begin >> width_shift_; word <= (begin + request.bytes - 1) >> width_shift_; ++word) {
            // Words of one row of a bank are served together. Divisions would take most of the time.
            const auto bank = static_cast<std::size_t>(bank_mask_ != 0 ? word & bank_mask_ : word % banks_);
            const std::uint64_t row = bank_mask_ != 0 ? word >> row_shift_ : word / row_;
            auto& list = rows[bank];
            auto& count = counts[bank];
            const auto end = list.begin() + count;
            if (request.broadcasts && std::find(list.begin(), end, row) != end) continue;
            list[count++] = row;
            ways = std::max<std::uint32_t>(ways, count);
        }
    }
    return ways;
}

bool SharedBanks::are_pairs(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::size_t apart) {
    for (std::uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left)), other = lane ^ apart;
        if ((mask >> other & 1) != 0 && addresses[lane] != addresses[other]) return false;
    }
    return true;
}

SharedBanks::Access SharedBanks::access(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask,
                                        Request request) const {
    Access total;
    std::uint32_t groups = 0;
    // A group moves group_ x 4 bytes, so that it has fewer threads where their elements are wider.
    std::uint32_t threads = std::max<std::uint32_t>(1, group_ * 4 / std::max<std::uint32_t>(4, request.bytes));
    // Twice as many where each thread reads with a neighbour, or with the next but one.
    if (paired_reads_ && request.loads && threads < group_ && group_ == kWarpThreads &&
        (are_pairs(addresses, mask, 1) || are_pairs(addresses, mask, 2)))
        threads *= 2;
    for (std::uint32_t first = 0; first < kWarpThreads; first += threads) {
        const std::uint32_t group = threads >= kWarpThreads ? mask : mask & (((1U << threads) - 1) << first);
        if (group == 0) continue;
        const std::uint32_t ways = request.one_of_bank ? 1 : ways_of(addresses, group, request);
        ++groups;
        total.ways = std::max(total.ways, ways);
        total.occupancy += group_cycles_ * ways * (request.swaps ? swap_accesses_ : 1);
    }
    // A thread's compare-and-swap asks its bank again, behind its own access.
    const double accesses = total.ways * (request.swaps && !request.one_of_bank ? swap_accesses_ : 1);
    total.conflict = conflict_cost_ * (accesses - 1);
    total.returning = total.occupancy + std::max(0.0, conflict_cost_ - group_cycles_) * (total.ways - 1);
    total.latency = latency_ + total.conflict + (groups > 1 ? group_delay_ * (groups - 1) : 0);
    return total;
}

}  // namespace gputomo::sim
