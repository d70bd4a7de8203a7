#include "answer/instructions.hpp"

#include "sass/cubin.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <span>

namespace gputomo::answer {
namespace {

double of(const costs::StallCycles& cycles, costs::Stall stall) { return cycles[static_cast<std::size_t>(stall)]; }

void add(costs::StallCycles& to, const costs::StallCycles& cycles) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += cycles[i];
}

}  // namespace

std::string complete(std::vector<Instruction>& instructions, std::string_view code, const std::string& kernel) {
    const double all = costs::sum_of(stalls_of(instructions));
    for (Instruction& one : instructions) one.share_of_wait = all > 0 ? costs::sum_of(one.cycles) / all : 0;
    if (!sass::is_cubin(code)) return {};
    try {
        const sass::LineTable lines(sass::Cubin(std::as_bytes(std::span(code))), kernel);
        for (Instruction& one : instructions)
            if (const auto* const place = lines.at(one.address)) one.source = *place;
    } catch (const InputError& error) {
        return fmt::format("instructions have no lines of source: {}", error.what());
    }
    return {};
}

std::vector<const Instruction*> costliest(const std::vector<Instruction>& instructions, std::size_t most) {
    std::vector<const Instruction*> order;
    for (const Instruction& one : instructions)
        if (costs::sum_of(one.cycles) > 0) order.push_back(&one);
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [](const Instruction* one) { return costs::sum_of(one->cycles); });
    if (order.size() > most) order.resize(most);
    return order;
}

costs::StallCycles stalls_of(const std::vector<Instruction>& instructions) {
    costs::StallCycles all{};
    for (const Instruction& one : instructions) add(all, one.cycles);
    return all;
}

std::vector<LineCost> lines_of(const std::vector<Instruction>& instructions) {
    std::map<sass::SourceLine, LineCost> by_line;
    for (const Instruction& one : instructions) {
        if (!one.source) continue;
        LineCost& line = by_line[one.source->at];
        line.at = one.source->at;
        line.executed += one.executed;
        line.share_of_wait += one.share_of_wait;
        add(line.cycles, one.cycles);
    }
    std::vector<LineCost> lines;
    for (auto& [at, line] : by_line) lines.push_back(std::move(line));
    std::ranges::stable_sort(lines, std::ranges::greater(),
                             [](const LineCost& line) { return costs::sum_of(line.cycles); });
    return lines;
}

std::vector<costs::Stall> by_cycles(const costs::StallCycles& cycles) {
    std::vector<costs::Stall> stalls;
    for (std::size_t i = 0; i < costs::kStalls; ++i)
        if (cycles[i] > 0) stalls.push_back(static_cast<costs::Stall>(i));
    std::ranges::stable_sort(stalls, std::ranges::greater(), [&](costs::Stall stall) { return of(cycles, stall); });
    return stalls;
}

std::optional<costs::Stall> main_stall(const costs::StallCycles& cycles) {
    for (const auto stall : by_cycles(cycles))
        if (stall != costs::Stall::selected) return stall;
    return {};
}

}  // namespace gputomo::answer
