#include "measure/chase/unfiltered_tlb_chase.hpp"

#include "measure/chase/unfiltered_line_chase.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gputomo::measure {
namespace {

/// Inserts into a list of a few dozen, where a search tree would be slower.
void insert(std::vector<std::uint64_t>& few, std::uint64_t value) {
    if (std::ranges::find(few, value) == few.end()) few.push_back(value);
}

}  // namespace

UnfilteredTlbChase::UnfilteredTlbChase(TranslationChase& chase, std::vector<UpperTlb> upper, std::uint64_t span)
    : chase_(&chase), upper_(std::move(upper)), span_(span) {
    for (const auto& tlb : upper_) step_ = std::lcm(step_, tlb.sets * tlb.span);
}

std::uint64_t UnfilteredTlbChase::end() const {
    std::uint64_t evicting_entries = 0;
    for (const auto& tlb : upper_) evicting_entries = std::max(evicting_entries, tlb.evicting_entries);
    const std::uint64_t neighbours = 2 * (evicting_entries + 8) * step_;
    return span_ > 2 * neighbours ? span_ - neighbours : 0;
}

std::uint64_t UnfilteredTlbChase::missing_fillers(const UpperTlb& upper, const Places& sequence,
                                                  const std::vector<Places>& fillers, std::size_t at,
                                                  std::unordered_set<std::uint64_t>& between) const {
    const std::uint64_t own = sequence[at] / upper.span;
    Places entries;
    const auto add = [&](std::uint64_t offset) {
        if (offset / upper.span != own && (offset / upper.span) % upper.sets == own % upper.sets)
            insert(entries, offset / upper.span);
        between.insert(offset);
    };
    for (std::size_t i = at; i < at + sequence.size() && entries.size() < upper.evicting_entries; ++i) {
        const std::size_t load = i % sequence.size();
        if (i > at && sequence[load] / upper.span == own) break;
        add(sequence[load]);
        for (const auto offset : fillers[load]) add(offset);
    }
    return upper.evicting_entries - std::min<std::uint64_t>(upper.evicting_entries, entries.size());
}

std::vector<UnfilteredTlbChase::Places> UnfilteredTlbChase::filler_loads(const Places& sequence) const {
    std::unordered_set<std::uint64_t> taken;
    for (const auto offset : sequence) taken.insert(offset / step_);
    std::vector<Places> fillers(sequence.size());
    std::unordered_set<std::uint64_t> between;
    // From the last load backwards, so that what follows a load is already known, except across the end of the pass.
    for (std::size_t at = sequence.size(); at-- > 0;) {
        std::uint64_t missing = 0;
        between.clear();
        for (const auto& tlb : upper_)
            missing = std::max(missing, missing_fillers(tlb, sequence, fillers, at, between));
        const auto try_place = [&](std::uint64_t offset) {
            if (missing == 0 || taken.contains(offset / step_) || !between.insert(offset).second) return;
            fillers[at].push_back(offset);
            --missing;
        };
        for_each_filler_distance(span_ / step_, [&](std::uint64_t ways) {
            const std::uint64_t distance = ways * step_;
            if (sequence[at] + distance < span_) try_place(sequence[at] + distance);
            if (distance <= sequence[at]) try_place(sequence[at] - distance);
            return missing == 0;
        });
    }
    return fillers;
}

deduce::ChaseTrace UnfilteredTlbChase::operator()(const deduce::ChaseRequest& request) {
    const auto fillers = filler_loads(request.offsets);
    deduce::ChaseRequest with_fillers{{}, request.warm_passes, request.recorded_passes};
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < request.offsets.size(); ++i) {
        positions.push_back(with_fillers.offsets.size());
        with_fillers.offsets.push_back(request.offsets[i]);
        with_fillers.offsets.insert(with_fillers.offsets.end(), fillers[i].begin(), fillers[i].end());
    }
    const auto all = (*chase_)(with_fillers).latencies;
    deduce::ChaseTrace trace;
    for (std::size_t pass = 0; pass < all.size(); pass += with_fillers.offsets.size())
        for (const auto position : positions) trace.latencies.push_back(all[pass + position]);
    return trace;
}

}  // namespace gputomo::measure
