#include "predict/static/ptx_trip_counts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace gputomo::predict {
namespace {

using ptx::Opcode;

/// Longest loop whose counter is run to its end; longer ones need a trip count from the user.
constexpr std::int64_t kMostTrips = 1 << 24;

const ptx::Register* register_of(const ptx::Operand& operand) { return std::get_if<ptx::Register>(&operand.value); }

std::optional<std::int64_t> literal_of(const ptx::Operand& operand) {
    const auto* immediate = std::get_if<ptx::Immediate>(&operand.value);
    if (immediate == nullptr || immediate->is_float) return std::nullopt;
    return static_cast<std::int64_t>(immediate->bits);
}

bool writes(const ptx::Instruction& instruction, ptx::Register reg) {
    return std::any_of(instruction.destinations.begin(), instruction.destinations.end(),
                       [&](const auto& d) { return register_of(d) != nullptr && *register_of(d) == reg; });
}

struct Range {
    std::size_t first = 0, last = 0;  ///< indices into the kernel's body; both are part of the range
};

/// The only instruction of the range that writes the register; nullptr if there are several or none.
const ptx::Instruction* only_writer(const ptx::Kernel& kernel, Range range, ptx::Register reg) {
    const ptx::Instruction* found = nullptr;
    for (std::size_t i = range.first; i <= range.last; ++i) {
        if (!writes(kernel.body[i], reg)) continue;
        if (found != nullptr) return nullptr;
        found = &kernel.body[i];
    }
    return found;
}

/// The literal that the register holds when the loop is entered, if the last write before it is an unguarded move.
std::optional<std::int64_t> start_of(const ptx::Kernel& kernel, std::size_t head, ptx::Register reg) {
    for (std::size_t i = head; i-- > 0;) {
        const auto& instruction = kernel.body[i];
        if (!writes(instruction, reg)) continue;
        return instruction.opcode == Opcode::mov && !instruction.guard ? literal_of(instruction.sources.at(0))
                                                                       : std::nullopt;
    }
    return std::nullopt;
}

bool holds(std::string_view comparison, std::int64_t a, std::int64_t b) {
    if (comparison == "eq") return a == b;
    if (comparison == "ne") return a != b;
    if (comparison == "lt" || comparison == "lo") return a < b;
    if (comparison == "le" || comparison == "ls") return a <= b;
    if (comparison == "gt" || comparison == "hi") return a > b;
    return a >= b;
}

struct Counter {
    std::int64_t start = 0, step = 0, end = 0;
    std::string_view comparison;
    bool negated = false;
    bool tested_before_step = false;
};

std::optional<double> trips_of(const Counter& counter) {
    std::int64_t value = counter.start;
    for (std::int64_t trips = 1; trips <= kMostTrips; ++trips) {
        const std::int64_t tested = counter.tested_before_step ? value : value + counter.step;
        value += counter.step;
        if (holds(counter.comparison, tested, counter.end) == counter.negated) return static_cast<double>(trips);
    }
    return std::nullopt;
}

std::optional<double> trips_of_loop(const ptx::Kernel& kernel, Range loop) {
    const auto& branch = kernel.body[loop.last];
    const auto* test = only_writer(kernel, loop, branch.guard->predicate);
    if (test == nullptr || test->opcode != Opcode::setp || test->guard || test->sources.size() != 2 ||
        test->modifiers.empty())
        return std::nullopt;
    const auto* reg = register_of(test->sources[0]);
    const auto end = literal_of(test->sources[1]);
    const auto* step = reg == nullptr ? nullptr : only_writer(kernel, loop, *reg);
    if (!end || step == nullptr || step->guard || (step->opcode != Opcode::add && step->opcode != Opcode::sub))
        return std::nullopt;
    const auto* from = register_of(step->sources[0]);
    const auto by = literal_of(step->sources[1]);
    const auto start = start_of(kernel, loop.first, *reg);
    if (from == nullptr || !(*from == *reg) || !by || !start) return std::nullopt;
    static constexpr std::array<std::string_view, 10> kIntegerTests{"eq", "ne", "lt", "le", "gt",
                                                                    "ge", "lo", "ls", "hi", "hs"};
    const std::string_view comparison = test->modifiers.front();
    if (std::find(kIntegerTests.begin(), kIntegerTests.end(), comparison) == kIntegerTests.end()) return std::nullopt;
    return trips_of(
        {*start, step->opcode == Opcode::add ? *by : -*by, *end, comparison, branch.guard->negated, test < step});
}

}  // namespace

std::map<std::size_t, double> trip_counts(const ptx::Kernel& kernel) {
    std::map<std::size_t, double> found;
    for (std::size_t i = 0; i < kernel.body.size(); ++i) {
        const auto& branch = kernel.body[i];
        if (branch.opcode != Opcode::bra || !branch.guard) continue;
        const auto* label = std::get_if<ptx::SymbolRef>(&branch.sources.at(0).value);
        if (label == nullptr) continue;
        const auto target = kernel.labels.find(label->name);
        if (target == kernel.labels.end() || target->second > i) continue;
        if (const auto trips = trips_of_loop(kernel, {target->second, i})) found.insert({target->second, *trips});
    }
    return found;
}

}  // namespace gputomo::predict
