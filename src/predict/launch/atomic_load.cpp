#include "predict/launch/atomic_load.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace gputomo::predict {
namespace {

constexpr std::uint64_t kSectors = launch::kTouchedLineBytes / launch::kTouchedSectorBytes;

/// Requests of a line count once, however many of its sectors they touch.
double requests_of(const launch::TouchedLine& line) { return std::popcount(line.sectors); }

}  // namespace

AtomicLoad::AtomicLoad(const launch::LaunchProfile& profile, const costs::AtomicUnits& units)
    : units_(units), requests_(units.count(), profile.scattered_atomics / static_cast<double>(units.count())) {
    for (const launch::AtomicSector& sector : profile.atomic_sectors) {
        requests_[units.unit_of(sector.sector * launch::kTouchedSectorBytes)] += sector.requests;
        if (sector.requests > 1) of_sector_[sector.sector] = sector.requests;
    }
    const auto busiest = std::ranges::max_element(requests_);
    most_ = *busiest;
    mean_ = std::accumulate(requests_.begin(), requests_.end(), 0.0) / static_cast<double>(requests_.size());
    for (const auto& [sector, requests] : of_sector_)
        if (units.unit_of(sector * launch::kTouchedSectorBytes) ==
            static_cast<std::size_t>(busiest - requests_.begin()))
            most_of_sector_ = std::max(most_of_sector_, requests);
}

double AtomicLoad::cycles(const launch::TouchedLine& line, costs::AtomicClass kind) const {
    const costs::AtomicRequest request{.kind = kind,
                                       .sectors = static_cast<std::uint32_t>(std::popcount(line.sectors)),
                                       .partial = line.partial,
                                       .lone = line.lone};
    double most = 0, others = 0;
    for (std::uint32_t bits = line.sectors; bits != 0; bits &= bits - 1) {
        const auto found = of_sector_.find(line.line * kSectors + static_cast<std::uint64_t>(std::countr_zero(bits)));
        const double requests = found == of_sector_.end() ? 1 : found->second;
        most = std::max(most, requests);
        others += requests;
    }
    // A request for several sectors counts in each of them.
    const double all = requests_[unit_of(line)] - others + most;
    const double meets = all > 0 ? std::min(1.0, most / all) : 1;
    return meets * units_.together(request) + (1 - meets) * units_.apart(request);
}

AtomicShares AtomicLoad::shares_of(std::span<const launch::BlockTrace> blocks, double factor, double part) const {
    std::vector<double> requests(requests_.size(), 0), busy(requests_.size(), 0);
    for (const launch::BlockTrace& block : blocks)
        for (const launch::WarpAccess& access : block.accesses)
            if (access.kind == launch::AccessKind::atomic)
                for (const auto& line : std::span(block.lines).subspan(access.first, access.lines)) {
                    requests[unit_of(line)] += requests_of(line);
                    busy[unit_of(line)] += cycles(line, access.atomic_class);
                }
    const double own_requests = std::accumulate(requests.begin(), requests.end(), 0.0);
    const double own = std::accumulate(busy.begin(), busy.end(), 0.0);
    AtomicShares shares;
    if (own_requests == 0) return shares;
    // A unit that the SM does not use takes the SM's mean time for a request.
    shares.parts.resize(requests_.size());
    for (std::size_t unit = 0; unit < requests_.size(); ++unit) {
        const double each = requests[unit] > 0 ? busy[unit] / requests[unit] : own / own_requests;
        shares.parts[unit] = std::max(0.0, part * requests_[unit] * each - factor * busy[unit]);
    }
    const double others = std::accumulate(shares.parts.begin(), shares.parts.end(), 0.0);
    if (others > 0)
        for (double& part : shares.parts) part /= others;
    shares.largest = std::ranges::max(shares.parts);
    shares.own = factor * own;
    shares.others = others / shares.own;
    return shares;
}

}  // namespace gputomo::predict
