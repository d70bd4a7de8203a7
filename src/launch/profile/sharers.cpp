#include "launch/profile/sharers.hpp"

#include "machine/gpc_size.hpp"
#include "units/number_set.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gputomo::launch {
namespace {

/// Calls visit(place, moment) for each line that a warp of the block loads. `place` is that in BlockTrace::lines. The
/// moment is the same for accesses of the same number by the same warp.
template <class Visit>
void visit_loads(const BlockTrace& trace, Visit&& visit) {
    constexpr std::uint64_t kWarps = 64;
    for (std::size_t warp = 0; warp < trace.warps.size(); ++warp) {
        std::uint64_t number = 0;
        for (const WarpEvent& event : trace.warps[warp]) {
            if (event.access >= trace.accesses.size()) continue;
            const WarpAccess& access = trace.accesses[event.access];
            const std::uint64_t moment = number++ * kWarps + warp;
            if (access.kind != AccessKind::load) continue;
            for (std::size_t i = 0; i < access.lines; ++i) visit(access.first + i, moment);
        }
    }
}

/// One number for a line that is loaded at a moment.
std::uint64_t meeting(std::uint64_t line, std::uint64_t moment) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;  // spreads moments over all bits (Knuth, 6.4)
    return (line << 1) ^ (moment * kOdd);
}

std::uint8_t rounded(double sharers) { return static_cast<std::uint8_t>(std::min(255L, std::lround(sharers))); }

}  // namespace

std::vector<std::uint64_t> blocks_of_gpc(const machine::Machine& machine, std::uint64_t blocks, std::uint64_t block) {
    const auto gpcs = machine::gpcs_of_sms(machine.topology);
    if (gpcs.empty()) return {};
    const bool by_gpc = machine::places_by_gpc(machine);
    const auto first = by_gpc ? machine::first_sms(machine.topology, blocks) : std::vector<std::uint32_t>{};
    const auto gpc_of = [&](std::uint64_t number) { return gpcs[by_gpc ? first[number] : number]; };
    const std::uint64_t count = std::min<std::uint64_t>(blocks, gpcs.size()), own = block % gpcs.size();
    std::vector<std::uint64_t> found;
    for (std::uint64_t number = 0; number < count; ++number)
        if (number != own && gpc_of(number) == gpc_of(own)) found.push_back(number);
    return found;
}

void add_sharers(std::span<BlockTrace> of_sm, std::span<const std::uint64_t> others, const Executed& executed) {
    if (of_sm.empty()) return;
    BlockTrace& first = of_sm.front();
    std::vector<std::vector<std::uint64_t>> meetings(first.lines.size());  // by place of a line
    visit_loads(first, [&](std::size_t place, std::uint64_t moment) {
        meetings[place].push_back(meeting(first.lines[place].line, moment));
    });
    std::vector<double> counts(first.lines.size());
    double compared = 0;
    for (const std::uint64_t block : others) {
        const BlockTrace* const other = executed(block);
        if (other == nullptr) break;
        ++compared;
        NumberSet met;
        visit_loads(*other, [&](std::size_t place, std::uint64_t moment) {
            met.insert(meeting(other->lines[place].line, moment));
        });
        for (std::size_t place = 0; place < meetings.size(); ++place)
            counts[place] += std::ranges::any_of(meetings[place],
                                                 [&](std::uint64_t one) { return met.find(one) != NumberSet::kNone; });
    }
    if (compared == 0) return;
    const double each = static_cast<double>(others.size()) / compared;
    double requests = 0, merged = 0;
    first.sharers.clear();
    for (const double count : counts) {
        const double sharers = 1 + count * each;
        first.sharers.push_back(rounded(sharers));
        ++requests;
        merged += 1 / sharers;
    }
    const double mean = merged > 0 ? requests / merged : 1;
    for (BlockTrace& block : of_sm.subspan(1)) block.sharers.assign(block.lines.size(), rounded(mean));
}

}  // namespace gputomo::launch
