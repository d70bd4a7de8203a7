#include "deduce/pipeline/functional_units.hpp"

#include <algorithm>
#include <utility>

namespace gputomo::deduce {
namespace {

/// A smaller share is noise. It is a difference of two rates that are known to a percent or two. Warps that queue
/// for two units also lose issue slots of both: an H200's MUFU beside FADD shows 0.14.
constexpr double kUsed = 0.18;
/// From this share on, a unit limits the operation alone, and a sum of shares explains all of its throughput. It is
/// below 1 by the same noise.
constexpr double kWhole = 0.85;
/// A second unit counts only above this share if a first one limits the operation. Warps that queue for the first come
/// late to the second, the more so the longer an operation occupies its unit. With 16 warps and operations of 150
/// cycles, 0.2 was seen.
constexpr double kAlsoUsed = 0.22;
/// A share is measurable if executing one after the other is slower than issuing both by at least this share of the
/// shorter time. With less, errors of a percent decide.
constexpr double kLeastMeasurable = 0.15;

}  // namespace

Interference interference(const PairTiming& timing) {
    const double one_by_one = timing.first + timing.second;
    const double beside = std::max({timing.first, timing.second, std::min(timing.issue, one_by_one)});
    const double shorter = std::min(timing.first, timing.second);
    // A pair that is faster than the known issue limit shows that more can be issued.
    const double floor = std::min(beside, std::max({timing.first, timing.second, timing.together}));
    if (one_by_one - floor < kLeastMeasurable * shorter) return {0, false};
    return {std::clamp((timing.together - floor) / (one_by_one - floor), 0.0, 1.0), true};
}

UnitVerdict classify_unit_use(const std::map<std::size_t, Interference>& by_unit) {
    UnitVerdict verdict;
    std::vector<std::pair<double, std::size_t>> used;
    std::vector<std::size_t> not_measurable;
    for (const auto& [unit, found] : by_unit) {
        if (!found.measurable)
            not_measurable.push_back(unit);
        else if (found.share >= kUsed)
            used.emplace_back(found.share, unit);
        if (found.measurable && found.share >= kUsed) verdict.total += found.share;
    }
    std::ranges::stable_sort(used, std::ranges::greater{}, [](const auto& entry) { return entry.first; });
    if (!used.empty() && used.front().first >= kWhole)
        std::erase_if(used, [](const auto& entry) { return entry.first < kAlsoUsed; });
    for (const auto& [share, unit] : used) verdict.units.push_back(unit);
    if (used.empty()) {
        verdict.units = not_measurable;
        verdict.use = not_measurable.empty() ? UnitUse::none : UnitUse::issue_limited;
    } else if (used.front().first >= kWhole) {
        verdict.use = used.size() == 1 ? UnitUse::single : UnitUse::all;
    } else if (verdict.total >= kWhole) {
        verdict.use = UnitUse::alternatives;
    } else {
        verdict.use = UnitUse::unexplained;
    }
    return verdict;
}

std::optional<std::size_t> UnitMap::next(std::size_t operation) const {
    const auto& done = pairs(operation);
    for (std::size_t unit = 0; unit < units_.size(); ++unit)
        if (!done.contains(unit)) return unit;
    return std::nullopt;
}

void UnitMap::add(std::size_t operation, std::size_t unit, const Interference& found) {
    found_[operation][unit] = found;
}

std::size_t UnitMap::add_unit(const std::string& name, std::size_t representative) {
    const auto taken = [&](const std::string& wanted) {
        return std::ranges::find(units_, wanted, &Unit::name) != units_.end();
    };
    std::string free = name;
    for (int number = 2; taken(free); ++number) free = name + std::to_string(number);
    units_.push_back({free, representative});
    found_[representative][units_.size() - 1] = {1, true};
    return units_.size() - 1;
}

UnitVerdict UnitMap::verdict(std::size_t operation) const { return classify_unit_use(pairs(operation)); }

const std::map<std::size_t, Interference>& UnitMap::pairs(std::size_t operation) const {
    static const std::map<std::size_t, Interference> kNone;
    const auto found = found_.find(operation);
    return found == found_.end() ? kNone : found->second;
}

}  // namespace gputomo::deduce
