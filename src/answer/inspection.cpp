#include "answer/inspection.hpp"

#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sass/kernel_info.hpp"
#include "sass/operations.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/sm/units/costs.hpp"
#include "sim/sm/units/sass_costs.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>

namespace gputomo::answer {
namespace {

using Json = nlohmann::ordered_json;
using sim::machine_code::MachineProgram;
using sim::machine_code::Step;

constexpr std::string_view kComparisons[] = {"==", "!=", "<=", ">=", "<", ">"};  // longer ones first

/// What an assertion can be about, beside names of operations.
struct Count {
    std::string_view name;
    double (*of)(const InspectedKernel&);
};
constexpr Count kCounts[] = {
    {"spills", [](const InspectedKernel& k) { return static_cast<double>(k.local_loads + k.local_stores); }},
    {"registers", [](const InspectedKernel& k) { return static_cast<double>(k.registers); }},
    {"stack_bytes", [](const InspectedKernel& k) { return static_cast<double>(k.stack_bytes); }},
    {"shared_bytes", [](const InspectedKernel& k) { return static_cast<double>(k.static_shared_bytes); }},
    {"local_loads", [](const InspectedKernel& k) { return static_cast<double>(k.local_loads); }},
    {"local_stores", [](const InspectedKernel& k) { return static_cast<double>(k.local_stores); }},
    {"instructions", [](const InspectedKernel& k) { return static_cast<double>(k.instructions.size()); }},
    {"code_bytes", [](const InspectedKernel& k) { return static_cast<double>(k.code_bytes); }},
};

std::string operation_of(std::string_view text) {
    if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    return std::string(text.substr(0, text.find_first_of(" .")));
}

std::string what_executes(const sass::Instruction& instruction) {
    if (instruction.form == nullptr) return "unknown";
    const auto& facts = *instruction.form->facts;
    constexpr std::string_view kSpaces[] = {"global", "generic", "local", "shared", "constants"};
    switch (facts.what) {
        case sass::Class::memory: return fmt::format("{} memory", kSpaces[static_cast<std::size_t>(facts.space)]);
        case sass::Class::constant: return "constants";
        case sass::Class::texture: return "textures";
        case sass::Class::copy:
        case sass::Class::copy_barrier:
        case sass::Class::bulk_copy:
        case sass::Class::bulk_group: return "asynchronous copies";
        case sass::Class::shared_barrier:
        case sass::Class::block_barrier: return "barriers";
        case sass::Class::branch:
        case sass::Class::exit:
        case sass::Class::flow: return "control flow";
        case sass::Class::fence:
        case sass::Class::wait:
        case sass::Class::sleep: return "waiting";
        case sass::Class::compute: break;
    }
    switch (facts.unit) {
        case sass::Unit::none: return "issue slots alone";
        case sass::Unit::as_before:
        case sass::Unit::unknown: return "uniform datapath and others";
        default: return fmt::format("unit {}", sass::name_of(facts.unit));
    }
}

InspectedInstruction annotated(const MachineProgram& program, std::size_t at) {
    const auto& instruction = program.steps[at].instruction;
    const auto& control = instruction.control;
    InspectedInstruction to{.address = at * sass::kInstructionBytes,
                            .text = sass::text_of(instruction, at * sass::kInstructionBytes),
                            .unit = what_executes(instruction),
                            .stall = control.stall,
                            .yields = !control.stay,
                            .write_barrier = {},
                            .read_barrier = {},
                            .waits_for = {},
                            .latency = {},
                            .interval = {}};
    if (control.write_barrier != sass::kNoBarrier) to.write_barrier = control.write_barrier;
    if (control.read_barrier != sass::kNoBarrier) to.read_barrier = control.read_barrier;
    for (int barrier = 0; barrier < sass::kScoreboards; ++barrier)
        if ((control.wait >> barrier & 1) != 0) to.waits_for.push_back(barrier);
    return to;
}

/// Instructions up to the branch to itself behind which compilers fill the code up.
std::size_t without_padding(const InspectedKernel& kernel) {
    std::size_t count = kernel.instructions.size();
    while (count > 0 && operation_of(kernel.instructions[count - 1].text) == "NOP") --count;
    return count;
}

std::string barriers_text(const InspectedInstruction& one) {
    const auto number = [](const std::optional<int>& barrier) {
        return barrier ? fmt::format("{}", *barrier) : std::string("-");
    };
    std::string waits(sass::kScoreboards, '-');
    for (const int barrier : one.waits_for) waits[static_cast<std::size_t>(barrier)] = static_cast<char>('0' + barrier);
    return fmt::format("{:>2}{} W{} R{} {}", one.stall, one.yields ? "y" : " ", number(one.write_barrier),
                       number(one.read_barrier), waits);
}

void add_lines(InspectedKernel& to, const sass::Cubin& cubin) {
    try {
        const sass::LineTable lines(cubin, to.name);
        for (auto& one : to.instructions)
            if (const auto* const place = lines.at(one.address)) one.source = *place;
    } catch (const InputError& error) {
        to.damaged_lines = error.what();
    }
}

Json or_absent(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

InspectedKernel inspect(const sass::Cubin& cubin, std::string_view kernel, const machine::Machine* machine) {
    const auto program = sim::machine_code::prepare(cubin, kernel, [](std::string_view) -> std::uint64_t { return 0; });
    const auto info = sass::kernel_info(cubin, kernel);
    InspectedKernel to{.name = std::string(kernel),
                       .sm = program.sm,
                       .registers = program.registers,
                       .static_shared_bytes = program.shared_bytes - program.system_shared_bytes,
                       .stack_bytes = program.local_bytes,
                       .parameter_bytes = program.parameter_bytes,
                       .code_bytes = cubin.text(kernel).bytes.size(),
                       .max_threads = program.max_threads,
                       .block = info.block,
                       .mix = {},
                       .operations = {},
                       .instructions = {}};
    for (std::size_t at = 0; at < program.steps.size(); ++at) {
        if (!program.steps[at].refusal.empty() && program.steps[at].instruction.form == nullptr) {
            to.instructions.push_back({.address = at * sass::kInstructionBytes,
                                       .text = program.steps[at].refusal,
                                       .unit = "unknown",
                                       .write_barrier = {},
                                       .read_barrier = {},
                                       .waits_for = {},
                                       .latency = {},
                                       .interval = {}});
            continue;
        }
        to.instructions.push_back(annotated(program, at));
    }
    to.instructions.resize(without_padding(to));
    if (machine != nullptr) {
        const sim::CostModel model(*machine);
        const auto costs = sim::sass_costs_of(program, *machine, model);
        for (std::size_t at = 0; at < to.instructions.size(); ++at) {
            const auto& cost = costs.costs[costs.cost_of[at]];
            // What accesses memory has no latency of its own.
            if (cost.last_latency > 0) to.instructions[at].latency = cost.last_latency;
            if (!cost.units.empty()) to.instructions[at].interval = cost.units.front().interval;
            to.instructions[at].assumed = costs.assumed_of[at] != sim::SassCosts::kTimed;
        }
    }
    for (const auto& one : to.instructions) {
        const auto operation = operation_of(one.text);
        ++to.mix[one.unit];
        ++to.operations[operation];
        if (operation == "LDL") ++to.local_loads;
        if (operation == "STL") ++to.local_stores;
    }
    add_lines(to, cubin);
    return to;
}

namespace {

/// Whether machine code has such an operation. A misspelt one would never be found, and "== 0" would always hold.
bool is_operation(std::string_view name) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(sass::Operation::count); ++i)
        if (sass::name_of(static_cast<sass::Operation>(i)) == name) return true;
    return false;
}

}  // namespace

Assertion assertion_of(const std::string& text) {
    std::vector<std::string_view> names;
    for (const auto& count : kCounts) names.push_back(count.name);
    const auto refuse = [&](const std::string& why) {
        throw InputError(
            fmt::format("--assert {}: {}; expected NAME, one of {}, and a number, with NAME one of {} or the "
                        "name of an operation in capitals, such as \"spills==0\"",
                        text, why, fmt::join(kComparisons, " "), fmt::join(names, ", ")));
    };
    Assertion assertion{.text = text, .name = {}, .comparison = {}};
    for (const auto comparison : kComparisons) {
        const auto at = text.find(comparison);
        if (at == std::string::npos) continue;
        const auto trimmed = [](std::string part) {
            std::erase(part, ' ');
            return part;
        };
        assertion.name = trimmed(text.substr(0, at));
        assertion.comparison = comparison;
        const auto number = trimmed(text.substr(at + comparison.size()));
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), assertion.number);
        if (error != std::errc{} || end != number.data() + number.size())
            refuse(fmt::format("'{}' is no number", number));
        break;
    }
    if (assertion.comparison.empty()) refuse("there is no comparison");
    if (!is_operation(assertion.name) && std::ranges::find(names, assertion.name) == names.end())
        refuse(fmt::format("'{}' is not counted", assertion.name));
    return assertion;
}

double counted(const InspectedKernel& kernel, const Assertion& assertion) {
    for (const auto& count : kCounts)
        if (count.name == assertion.name) return count.of(kernel);
    const auto found = kernel.operations.find(assertion.name);
    return found == kernel.operations.end() ? 0 : static_cast<double>(found->second);
}

bool holds(const InspectedKernel& kernel, const Assertion& assertion) {
    const double found = counted(kernel, assertion), number = assertion.number;
    const auto& how = assertion.comparison;
    if (how == "==") return found == number;
    if (how == "!=") return found != number;
    if (how == "<=") return found <= number;
    if (how == ">=") return found >= number;
    return how == "<" ? found < number : found > number;
}

std::string inspection_text(const InspectedKernel& kernel, bool listing) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{} for sm_{}\n\n", kernel.name, kernel.sm);
    fmt::format_to(out, "  registers     {} of a thread\n", kernel.registers);
    fmt::format_to(out,
                   "  spills        {} loads and {} stores of local memory: spilled registers, or arrays of threads\n",
                   kernel.local_loads, kernel.local_stores);
    fmt::format_to(out, "  stack         at most {} bytes of a thread, for any kernel of the file\n",
                   kernel.stack_bytes);
    fmt::format_to(out, "  shared        {} bytes of a block, static\n", kernel.static_shared_bytes);
    if (kernel.block)
        fmt::format_to(out, "  block         {} x {} x {} threads, no other\n", (*kernel.block)[0], (*kernel.block)[1],
                       (*kernel.block)[2]);
    else if (kernel.max_threads > 0)
        fmt::format_to(out, "  block         at most {} threads\n", kernel.max_threads);
    fmt::format_to(out, "  code          {} instructions, {} bytes with padding\n", kernel.instructions.size(),
                   kernel.code_bytes);
    fmt::format_to(out, "\nInstructions in the code by what executes them\n");
    std::vector<std::pair<std::string, std::uint64_t>> mix(kernel.mix.begin(), kernel.mix.end());
    std::ranges::stable_sort(mix, std::ranges::greater(), &std::pair<std::string, std::uint64_t>::second);
    for (const auto& [what, count] : mix)
        fmt::format_to(out, "  {:<28}{:>8}  {:>5.1f}%\n", what, count,
                       100 * static_cast<double>(count) / static_cast<double>(kernel.instructions.size()));
    if (!listing) return text;
    fmt::format_to(out,
                   "\nStall count (y: yields), barriers released by the write and the read, barriers waited for,\n"
                   "latency and interval in cycles (~: not timed), address and instruction\n");
    if (!kernel.damaged_lines.empty())
        fmt::format_to(out, "Lines of source cannot be read: {}\n", kernel.damaged_lines);
    std::string place;
    for (const auto& one : kernel.instructions) {
        auto here = one.source ? short_text(*one.source) : std::string();
        if (here != place) fmt::format_to(out, "// {}\n", here.empty() ? "no line" : here);
        place = std::move(here);
        fmt::format_to(out, "  {}  {:>5}{} {:>5}  {:#06x}  {}\n", barriers_text(one),
                       one.latency ? fmt::format("{:.3g}", *one.latency) : "-", one.assumed ? "~" : " ",
                       one.interval ? fmt::format("{:.3g}", *one.interval) : "-", one.address, one.text);
    }
    return text;
}

Json inspection_json(const InspectedKernel& kernel) {
    Json listing = Json::array();
    for (const auto& one : kernel.instructions)
        listing.push_back({{"address", one.address},
                           {"text", one.text},
                           {"file", one.source ? Json(one.source->at.file) : Json()},
                           {"line", one.source ? Json(one.source->at.line) : Json()},
                           {"unit", one.unit},
                           {"stall_cycles", one.stall},
                           {"yields", one.yields},
                           {"write_barrier", one.write_barrier ? Json(*one.write_barrier) : Json()},
                           {"read_barrier", one.read_barrier ? Json(*one.read_barrier) : Json()},
                           {"waits_for", one.waits_for},
                           {"latency_cycles", or_absent(one.latency)},
                           {"interval_cycles", or_absent(one.interval)},
                           {"assumed", one.assumed}});
    return {{"kernel", kernel.name},
            {"sm", kernel.sm},
            {"registers_per_thread", kernel.registers},
            {"static_shared_bytes", kernel.static_shared_bytes},
            {"stack_bytes_per_thread", kernel.stack_bytes},
            {"parameter_bytes", kernel.parameter_bytes},
            {"code_bytes", kernel.code_bytes},
            {"max_threads", kernel.max_threads > 0 ? Json(kernel.max_threads) : Json()},
            {"block", kernel.block ? Json(*kernel.block) : Json()},
            {"local_loads", kernel.local_loads},
            {"local_stores", kernel.local_stores},
            {"mix", kernel.mix},
            {"operations", kernel.operations},
            {"instructions", listing}};
}

}  // namespace gputomo::answer
