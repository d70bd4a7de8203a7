#include "history/repeatability.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gputomo::history {
namespace {

using machine::Leaf;
using Numbers = std::vector<double>;

/// Three scans of one H200 within an hour differ by at most 3.2% beyond their intervals in what was timed
/// (paths.global.transaction_cost in recordings/h200-scan-*.json.gz). Smaller, healthy GPUs are reported; larger, the
/// second scan of a GPU hides more.
constexpr double kFirstSteps = 0.033;
/// From the third scan on, the GPU's own steps count, and steps below this are no news. It lies just above what an
/// H200 does: its clock moves by 0.03% between scans, and the time between blocks by 0.4%.
constexpr double kLeastStep = 0.005;
constexpr std::size_t kEnoughScans = 3;
/// A step of a normally distributed value exceeds 5 times the median step once in some 1500 times, so that a scan of
/// 600 values has less than one such step. The median ignores the step of an earlier change.
constexpr double kMedianSteps = 5;

std::optional<Numbers> numbers_of(const Leaf& leaf) {
    if (leaf.knowledge != machine::Knowledge::known) return std::nullopt;
    if (const auto number = results::as_number(leaf.value)) return Numbers{*number};
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&leaf.value)) return Numbers(v->begin(), v->end());
    if (const auto* v = std::get_if<std::vector<double>>(&leaf.value)) return *v;
    return std::nullopt;
}

/// The sizes of the steps from one scan to the next in one element of the leaf.
void add_steps(const Run& run, std::size_t element, std::size_t size, Numbers& steps) {
    std::optional<double> last;
    for (const auto& leaf : run) {
        const auto numbers = numbers_of(leaf);
        if (!numbers || numbers->size() != size) continue;
        if (last) steps.push_back(std::abs((*numbers)[element] - *last));
        last = (*numbers)[element];
    }
}

bool was_seen(const Leaf& after, const Run& own) {
    return std::any_of(own.begin(), own.end(), [&](const Leaf& leaf) { return machine::same_value(leaf, after, 0); });
}

}  // namespace

bool is_repeatable(const machine::Difference& change, const Run& own, const std::vector<Run>& others) {
    const auto from = numbers_of(change.a), to = numbers_of(change.b);
    if (!from || !to || from->size() != to->size()) return was_seen(change.b, own);
    const double step = own.size() < kEnoughScans ? kFirstSteps : kLeastStep;
    for (std::size_t i = 0; i < from->size(); ++i) {
        Numbers steps;
        add_steps(own, i, from->size(), steps);
        for (const auto& other : others) add_steps(other, i, from->size(), steps);
        double allowed = steps.empty() ? 0 : kMedianSteps * median(steps);
        if (machine::describes_time(change.unit))
            allowed = std::max(allowed, step * std::max(std::abs((*from)[i]), std::abs((*to)[i])));
        if (std::abs((*to)[i] - (*from)[i]) > allowed) return false;
    }
    return true;
}

}  // namespace gputomo::history
