#include "replay/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace gputomo::replay {
namespace {

constexpr std::size_t kWorst = 10;

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

std::string entry_name(const Scored& scored) {
    constexpr std::size_t kWidth = 70;
    const std::string name = scored.entry.suite + "/" + scored.entry.name;
    return name.size() <= kWidth ? name : name.substr(0, kWidth - 3) + "...";
}

std::string ratio_text(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.3f}", *ratio) : "-"; }

std::string row(const Scored& scored) {
    const double measured = scored.entry.counters.at(kCyclesCounter);
    return fmt::format("| {} | {:.0f} | {:.0f} | {:.1f}% | {} | {} |\n", entry_name(scored), measured, scored.cycles,
                       100 * scored.error(), ratio_text(scored.instruction_ratio()), ratio_text(scored.dram_ratio()));
}

constexpr const char* kHeader =
    "| kernel | cycles measured | simulated | error | instructions, simulated over measured | DRAM bytes |\n"
    "| --- | --- | --- | --- | --- | --- |\n";

}  // namespace

double Scored::error() const {
    if (!failure.empty()) return 1;
    const double measured = entry.counters.at(kCyclesCounter);
    return std::abs(cycles - measured) / measured;
}

std::optional<double> Scored::ratio(double simulated, std::initializer_list<const char*> counters) const {
    double measured = 0;
    for (const char* const counter : counters)
        if (const auto found = entry.counters.find(counter); found != entry.counters.end()) measured += found->second;
    if (!failure.empty() || measured == 0) return std::nullopt;
    return simulated / measured;
}

std::optional<double> Scored::instruction_ratio() const { return ratio(instructions, {"smsp__inst_executed.sum"}); }
std::optional<double> Scored::dram_ratio() const {
    return ratio(dram_bytes, {"dram__bytes_read.sum", "dram__bytes_write.sum"});
}

Accuracy accuracy_of(std::span<const Scored> scored) {
    Accuracy accuracy;
    std::vector<double> errors, of_simulated;
    for (const Scored& one : scored) {
        if (one.entry.async) continue;
        errors.push_back(one.error());
        if (one.failure.empty()) of_simulated.push_back(one.error());
    }
    std::ranges::sort(errors);
    std::ranges::sort(of_simulated);
    accuracy.entries = errors.size();
    accuracy.simulated = of_simulated.size();
    accuracy.mean = mean_of(errors);
    accuracy.median = percentile(errors, 0.5);
    accuracy.percentile_90 = percentile(errors, 0.9);
    accuracy.mean_of_simulated = mean_of(of_simulated);
    accuracy.median_of_simulated = percentile(of_simulated, 0.5);
    return accuracy;
}

std::string accuracy_page(std::span<const Scored> scored, const std::string& device, const std::string& gpu) {
    const Accuracy accuracy = accuracy_of(scored);
    std::string page = fmt::format(
        "# Simulated cycles beside those of a GPU\n\n{} simulates what the suites measured "
        "on `{}`. The error is of {}; a kernel without a simulation counts as 100%.\n\n",
        device, gpu, kCyclesCounter);
    page += fmt::format(
        "| entries | simulated | mean | median | 90th percentile | mean of simulated | median |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n"
        "| {} | {} | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}% |\n",
        accuracy.entries, accuracy.simulated, 100 * accuracy.mean, 100 * accuracy.median, 100 * accuracy.percentile_90,
        100 * accuracy.mean_of_simulated, 100 * accuracy.median_of_simulated);
    std::vector<const Scored*> run, failed;
    for (const Scored& one : scored) (one.failure.empty() ? run : failed).push_back(&one);
    std::ranges::stable_sort(run, std::ranges::greater(), [](const Scored* one) { return one->error(); });
    page += fmt::format("\n## The {} largest errors\n\n{}", std::min(kWorst, run.size()), kHeader);
    for (std::size_t i = 0; i < std::min(kWorst, run.size()); ++i) page += row(*run[i]);
    page += "\n## Not simulated\n\n";
    for (const Scored* const one : failed) page += fmt::format("- {}: {}\n", entry_name(*one), one->failure);
    if (failed.empty()) page += "None.\n";
    page += fmt::format("\n## All that were simulated\n\n{}", kHeader);
    std::ranges::stable_sort(run, {}, [](const Scored* one) { return one->entry.suite + "/" + one->entry.name; });
    for (const Scored* const one : run) page += row(*one);
    page += "\n## Of which only some blocks were simulated\n\n";
    bool whole = true;
    for (const Scored* const one : run) {
        if (one->blocks.complete()) continue;
        whole = false;
        page += fmt::format("- {}: {} of {} blocks; the cycles may be off by {:.1f}%\n", entry_name(*one),
                            one->blocks.simulated, one->blocks.of, 100 * one->blocks.error);
    }
    if (whole) page += "None.\n";
    page += "\n## What captures could not prove\n\n";
    bool proven = true;
    for (const Scored& one : scored)
        if (!one.lost.empty()) page += fmt::format("- {}: {}\n", entry_name(one), one.lost), proven = false;
    return page + (proven ? "Nothing.\n" : "");
}

}  // namespace gputomo::replay
