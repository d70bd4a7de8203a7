#include "compare/suites/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace gputomo::compare {
namespace {

/// The smallest of the sorted values that is not below this share of them.
double percentile(const std::vector<double>& sorted, double share) {
    if (sorted.empty()) return 0;
    const auto at = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
    return sorted[std::clamp<std::size_t>(at, 1, sorted.size()) - 1];
}

double mean_of(const std::vector<double>& values) {
    if (values.empty()) return 0;
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// A profiler's utilisations, in percent of the highest possible one.
constexpr std::array<std::pair<const char*, const char*>, 4> kUtilisations{{
    {"SM", "sm__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"L1", "l1tex__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"L2", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"DRAM", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
}};

}  // namespace

std::string_view name_of(Method method) { return method == Method::simulation ? "simulate" : "predict"; }

double Scored::error(Method method) const {
    const auto& given = answer(method);
    if (!given || !given->failure.empty()) return 1;
    const double measured = entry.counters.at(kCyclesCounter);
    return std::abs(given->cycles - measured) / measured;
}

std::optional<double> Scored::ratio(Method method, double EntryAnswer::*value,
                                    std::initializer_list<const char*> counters) const {
    const auto& given = answer(method);
    double measured = 0;
    for (const char* const counter : counters)
        if (const auto found = entry.counters.find(counter); found != entry.counters.end()) measured += found->second;
    if (!given || !given->failure.empty() || measured == 0) return std::nullopt;
    return (*given).*value / measured;
}

std::optional<double> Scored::instruction_ratio(Method method) const {
    return ratio(method, &EntryAnswer::instructions, {"smsp__inst_executed.sum"});
}
std::optional<double> Scored::dram_ratio(Method method) const {
    return ratio(method, &EntryAnswer::dram_bytes, {"dram__bytes_read.sum", "dram__bytes_write.sum"});
}

std::optional<std::string> measured_limiter(const SuiteEntry& entry) {
    std::optional<std::string> limiter;
    double highest = 100 * kBusy;
    for (const auto& [unit, counter] : kUtilisations) {
        const auto found = entry.counters.find(counter);
        if (found == entry.counters.end()) continue;
        if (!limiter) limiter = "latency";
        if (found->second <= highest) continue;
        highest = found->second;
        limiter = unit;
    }
    return limiter;
}

std::string limiter_by_use(const answer::Limiter& limiter) {
    const std::array<std::pair<const char*, double>, 4> units{
        {{"SM", limiter.used_sm}, {"L1", limiter.used_l1}, {"L2", limiter.used_l2}, {"DRAM", limiter.used_dram}}};
    const auto* const busiest = std::ranges::max_element(units, {}, &std::pair<const char*, double>::second);
    return busiest->second > kBusy ? busiest->first : "latency";
}

EntryAnswer entry_answer(const answer::Answer& answer) {
    EntryAnswer given{.cycles = answer.time.cycles,
                      .instructions = answer.work.warp_instructions,
                      .dram_bytes = answer.work.dram_bytes,
                      .warnings = answer.warnings};
    if (answer.limiter) given.limiter = limiter_by_use(*answer.limiter);
    if (answer.method == answer::Method::simulate)
        given.blocks = {.simulated = answer.coverage.timed_blocks,
                        .of = answer.coverage.blocks,
                        .error = answer.coverage.error.value_or(0)};
    return given;
}

Accuracy accuracy_of(std::span<const Scored> scored, Method method) {
    Accuracy accuracy;
    std::vector<double> errors, of_answered, seconds;
    for (const Scored& one : scored) {
        const auto& given = one.answer(method);
        if (one.entry.async || !given) continue;
        errors.push_back(one.error(method));
        if (!given->failure.empty()) continue;
        of_answered.push_back(one.error(method));
        seconds.push_back(given->seconds);
        const auto limiter = measured_limiter(one.entry);
        if (given->limiter.empty() || !limiter) continue;
        ++accuracy.limiters;
        if (given->limiter == *limiter) ++accuracy.right_limiters;
    }
    std::ranges::sort(errors);
    std::ranges::sort(of_answered);
    std::ranges::sort(seconds);
    accuracy.entries = errors.size();
    accuracy.answered = of_answered.size();
    accuracy.mean = mean_of(errors);
    accuracy.median = percentile(errors, 0.5);
    accuracy.percentile_90 = percentile(errors, 0.9);
    accuracy.mean_of_answered = mean_of(of_answered);
    accuracy.median_of_answered = percentile(of_answered, 0.5);
    accuracy.median_seconds = percentile(seconds, 0.5);
    accuracy.percentile_90_seconds = percentile(seconds, 0.9);
    return accuracy;
}

}  // namespace gputomo::compare
