#include "sim/sm/shared_banks.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

template <class T>
T need(const machine::Field<T>& field, std::string_view leaf) {
    if (!field) throw InputError(fmt::format("shared.{}: missing; the simulator needs it", leaf));
    return *field;
}

}  // namespace

SharedBanks::SharedBanks(const machine::SharedMemory& shared)
    : banks_(static_cast<std::uint32_t>(need(shared.banks, "banks"))),
      width_(static_cast<std::uint32_t>(need(shared.bank_width, "bank_width"))),
      group_(static_cast<std::uint32_t>(shared.access_group.value_or(32))),
      latency_(static_cast<double>(need(shared.latency, "latency"))),
      conflict_cost_(static_cast<double>(shared.conflict_cost.value_or(0))) {
    if (banks_ == 0 || banks_ > 64 || width_ == 0 || group_ == 0 || group_ > 32) throw InputError("shared.banks: expected 1 to 64 banks, access_group 1 to 32");
    const double rate = shared.bytes_per_cycle.value_or(static_cast<double>(banks_) * width_);
    group_cycles_ = group_ * 4.0 / rate;
}

SharedBanks::Access SharedBanks::access(const std::array<std::uint64_t, 32>& addresses, std::uint32_t mask, std::uint32_t bytes) const {
    Access total;
    std::uint32_t groups = 0;
    // Wide elements take the place of several threads: a group moves group_ x 4 bytes.
    const std::uint32_t threads = std::max<std::uint32_t>(1, group_ * 4 / std::max<std::uint32_t>(4, bytes));
    for (std::uint32_t first = 0; first < 32; first += threads) {
        std::array<std::array<std::uint64_t, 32>, 64> words;
        std::array<std::uint32_t, 64> counts{};
        std::uint32_t ways = 0;
        for (std::uint32_t lane = first; lane < std::min(32U, first + threads); ++lane) {
            if (((mask >> lane) & 1) == 0) continue;
            for (std::uint64_t word = addresses[lane] / width_; word <= (addresses[lane] + bytes - 1) / width_; ++word) {
                const auto bank = static_cast<std::uint32_t>(word % banks_);
                auto& list = words[bank];
                auto& count = counts[bank];
                if (std::find(list.begin(), list.begin() + count, word) == list.begin() + count && count < 32) list[count++] = word;
                ways = std::max(ways, count);
            }
        }
        if (ways == 0) continue;
        ++groups;
        total.ways = std::max(total.ways, ways);
        total.occupancy += group_cycles_ * ways;
    }
    total.conflict = conflict_cost_ * (total.ways - 1);
    total.latency = latency_ + total.conflict + (groups > 1 ? group_cycles_ * (groups - 1) : 0);
    return total;
}

}  // namespace gputomo::sim
