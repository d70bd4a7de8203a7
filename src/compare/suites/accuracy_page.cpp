#include "compare/suites/accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

namespace gputomo::compare {
namespace {

constexpr std::size_t kWorst = 10;

std::string entry_name(const Scored& scored) {
    constexpr std::size_t kWidth = 70;
    const std::string name = scored.entry.suite + "/" + scored.entry.name;
    return name.size() <= kWidth ? name : name.substr(0, kWidth - 3) + "...";
}

std::string ratio_text(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.3f}", *ratio) : "-"; }

bool answered(const Scored& scored, Method method) {
    return scored.answer(method) && scored.answer(method)->failure.empty();
}

std::string cycles_text(const Scored& scored, Method method) {
    if (!answered(scored, method)) return "- | -";
    return fmt::format("{:.0f} | {:.1f}%", scored.answer(method)->cycles, 100 * scored.error(method));
}

std::vector<Method> methods_of(std::span<const Scored> all) {
    std::vector<Method> asked;
    std::ranges::copy_if(kMethods, std::back_inserter(asked), [&](Method method) {
        return std::ranges::any_of(all, [&](const Scored& one) { return one.answer(method).has_value(); });
    });
    return asked;
}

std::string summary(std::span<const Scored> all) {
    std::string table =
        "| | entries | answered | mean | median | 90th percentile | mean of answered | median | seconds, median "
        "and 90th percentile | limiter right |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const Method method : methods_of(all)) {
        const Accuracy of = accuracy_of(all, method);
        table += fmt::format(
            "| {} | {} | {} | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}% | {:.1f}, {:.1f} | {} |\n",
            name_of(method), of.entries, of.answered, 100 * of.mean, 100 * of.median, 100 * of.percentile_90,
            100 * of.mean_of_answered, 100 * of.median_of_answered, of.median_seconds, of.percentile_90_seconds,
            of.limiters == 0 ? "-" : fmt::format("{} of {}", of.right_limiters, of.limiters));
    }
    return table;
}

std::string largest_errors(std::span<const Scored> all, Method method) {
    std::vector<const Scored*> sorted;
    for (const Scored& one : all)
        if (answered(one, method)) sorted.push_back(&one);
    std::ranges::stable_sort(sorted, std::ranges::greater(), [&](const Scored* one) { return one->error(method); });
    sorted.resize(std::min(kWorst, sorted.size()));
    std::string section = fmt::format(
        "\n## The {} largest errors of `{}`\n\n"
        "| kernel | cycles measured | answered | error | instructions, answered over measured | DRAM bytes |\n"
        "| --- | --- | --- | --- | --- | --- |\n",
        sorted.size(), name_of(method));
    for (const Scored* const one : sorted)
        section += fmt::format("| {} | {:.0f} | {} | {} | {} |\n", entry_name(*one),
                               one->entry.counters.at(kCyclesCounter), cycles_text(*one, method),
                               ratio_text(one->instruction_ratio(method)), ratio_text(one->dram_ratio(method)));
    return section;
}

std::string failures(std::span<const Scored> all) {
    std::string section;
    for (const Method method : kMethods)
        for (const Scored& one : all)
            if (one.answer(method) && !one.answer(method)->failure.empty())
                section +=
                    fmt::format("- `{}` {}: {}\n", name_of(method), entry_name(one), one.answer(method)->failure);
    return "\n## Not answered\n\n" + (section.empty() ? "None.\n" : section);
}

std::string all_answers(std::span<const Scored> all) {
    std::vector<const Scored*> sorted;
    for (const Scored& one : all) sorted.push_back(&one);
    std::ranges::stable_sort(sorted, {}, [](const Scored* one) { return one->entry.suite + "/" + one->entry.name; });
    const auto methods = methods_of(all);
    std::string header = "| kernel | cycles measured |", line = "| --- | --- |";
    for (const Method method : methods) {
        header += fmt::format(" `{}` | error | instructions | DRAM bytes |", name_of(method));
        line += " --- | --- | --- | --- |";
    }
    std::string section = fmt::format("\n## All entries\n\n{}\n{}\n", header, line);
    for (const Scored* const one : sorted) {
        section += fmt::format("| {} | {:.0f} |", entry_name(*one), one->entry.counters.at(kCyclesCounter));
        for (const Method method : methods)
            section += fmt::format(" {} | {} | {} |", cycles_text(*one, method),
                                   ratio_text(one->instruction_ratio(method)), ratio_text(one->dram_ratio(method)));
        section += '\n';
    }
    return section;
}

std::string sampled(std::span<const Scored> all) {
    std::string section;
    for (const Scored& one : all) {
        if (!answered(one, Method::simulation)) continue;
        const auto& blocks = one.answer(Method::simulation)->blocks;
        if (blocks.complete()) continue;
        section += fmt::format("- {}: {} of {} blocks; the cycles may be off by {:.1f}%\n", entry_name(one),
                               blocks.simulated, blocks.of, 100 * blocks.error);
    }
    return "\n## Of which only some blocks were simulated\n\n" + (section.empty() ? "None.\n" : section);
}

std::string unproven(std::span<const Scored> all) {
    std::string section;
    for (const Scored& one : all)
        if (!one.lost.empty()) section += fmt::format("- {}: {}\n", entry_name(one), one.lost);
    return "\n## What captures could not prove\n\n" + (section.empty() ? "Nothing.\n" : section);
}

}  // namespace

std::string accuracy_page(std::span<const Scored> scored, const std::string& device, const std::string& gpu) {
    std::string page = fmt::format(
        "# Kernels of suites beside a GPU\n\n`simulate` and `predict` answer with {} what the suites measured on "
        "`{}`. The error is of {}. A kernel without an answer counts as 100%. The limiter is the unit of the profiler "
        "with the highest utilisation above {:.0f}%, else latency.\n\n",
        device, gpu, kCyclesCounter, 100 * kBusy);
    page += summary(scored);
    for (const Method method : methods_of(scored)) page += largest_errors(scored, method);
    return page + failures(scored) + all_answers(scored) + sampled(scored) + unproven(scored);
}

}  // namespace gputomo::compare
