#include "launch/profile/sharers.hpp"

#include "machine/gpc_size.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gputomo::launch {
namespace {

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

void add_sharers(std::span<BlockTrace> of_sm, std::span<const std::uint64_t> others, const LoadedBy& loaded_by) {
    if (of_sm.empty()) return;
    BlockTrace& first = of_sm.front();
    NumberSet own;
    for (const TouchedLine& line : first.lines) own.insert(line.line);
    std::vector<double> counts(own.size());
    double executed = 0;
    for (const std::uint64_t block : others) {
        const auto* const sectors = loaded_by(block);
        if (sectors == nullptr) break;
        ++executed;
        NumberSet lines;
        for (const std::uint64_t sector : *sectors) lines.insert(sector * kTouchedSectorBytes / kTouchedLineBytes);
        for (const std::uint64_t line : lines)
            if (const std::size_t found = own.find(line); found != NumberSet::kNone) ++counts[found];
    }
    if (executed == 0) return;
    const double each = static_cast<double>(others.size()) / executed;
    double requests = 0, merged = 0;
    first.sharers.clear();
    for (const TouchedLine& line : first.lines) {
        const double sharers = 1 + counts[own.find(line.line)] * each;
        first.sharers.push_back(rounded(sharers));
        ++requests;
        merged += 1 / sharers;
    }
    const double mean = merged > 0 ? requests / merged : 1;
    for (BlockTrace& block : of_sm.subspan(1)) block.sharers.assign(block.lines.size(), rounded(mean));
}

}  // namespace gputomo::launch
