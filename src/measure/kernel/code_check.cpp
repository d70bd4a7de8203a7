#include "measure/kernel/code_check.hpp"

#include "sass/machine_code.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gputomo::measure {
namespace {

using sass::CodeRange;
using sass::KernelCode;
using sass::MachineInstruction;

/// Most instructions between two clock reads besides the operation: waits for the first and last result, loop control,
/// register copies. The most that ptxas 13.0 produced for sm_75 to sm_120 were 13. A fault in the code (spills, split
/// or converted operands) adds one for each operation, which is far more.
constexpr int kMostOthers = 20;

/// Register copies that a compiler may have in one piece of code and not in the other.
constexpr int kMostMoved = 4;

/// Instructions whose count differs by at most this between n and 2n operations do not belong to the operation.
constexpr double kStray = kMostMoved + 0.5;

struct Verdict {
    bool passed = false;
    std::string expected;
    std::string found;
};

bool matches(const MachineInstruction& instruction, const MachineOperation& operation) {
    if (operation.access_bytes != 0 && instruction.access_bytes() != operation.access_bytes) return false;
    for (std::string_view rest = operation.opcodes; !rest.empty();) {
        const auto end = std::min(rest.find('|'), rest.size());
        if (instruction.is(rest.substr(0, end))) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

std::string text_of(const MachineOperation& operation) {
    if (operation.access_bytes == 0) return std::string(operation.opcodes);
    return fmt::format("{} of {} bytes", operation.opcodes, operation.access_bytes);
}

std::span<const MachineInstruction> instructions_of(const KernelCode& code, CodeRange range) {
    return code.instructions().subspan(range.first, range.size());
}

int count_of(const KernelCode& code, CodeRange range, const MachineOperation& operation) {
    return static_cast<int>(
        std::ranges::count_if(instructions_of(code, range), [&](const auto& i) { return matches(i, operation); }));
}

std::string text_of(const sass::OpcodeCounts& counts) {
    std::vector<std::string> parts;
    for (const auto& [name, count] : counts) parts.push_back(fmt::format("{} x {}", count, name));
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

/// "128 and 256", "1 in each of 16 places"
std::string text_of(const std::vector<int>& counts) {
    if (counts.size() < 3) return fmt::format("{}", fmt::join(counts, " and "));
    const bool alike = std::ranges::count(counts, counts.front()) == std::ssize(counts);
    if (alike) return fmt::format("{} in each of {} places", counts.front(), counts.size());
    return fmt::format("{}", fmt::join(counts, ", "));
}

/// Successive equal texts share one entry: "A; 3 times B".
std::string joined(const std::vector<std::string>& texts) {
    std::vector<std::string> parts;
    for (auto at = texts.begin(); at != texts.end();) {
        const auto end = std::find_if(at, texts.end(), [&](const std::string& text) { return text != *at; });
        parts.push_back(end - at > 1 ? fmt::format("{} times {}", end - at, *at) : *at);
        at = end;
    }
    return fmt::format("{}", fmt::join(parts, "; "));
}

/// From the first operation to the last, no instruction waits for a result or takes long.
bool stand_together(std::span<const MachineInstruction> section, const MachineOperation& operation) {
    const auto is_operation = [&](const MachineInstruction& instruction) { return matches(instruction, operation); };
    const auto first = std::ranges::find_if(section, is_operation);
    const auto last = std::find_if(section.rbegin(), section.rend(), is_operation).base();
    return std::all_of(first, last, [&](const auto& instruction) {
        return is_operation(instruction) || !(instruction.waits() || instruction.slow());
    });
}

bool holds(const KernelCode& code, CodeRange section, const TimedCode& timed, int count) {
    if (timed.together && !stand_together(instructions_of(code, section), timed.operation)) return false;
    int operations = 0;
    int others = 0;
    for (const auto& instruction : instructions_of(code, section)) {
        if (matches(instruction, timed.operation))
            ++operations;
        else if (instruction.slow())
            return false;
        else if (!instruction.is("NOP"))
            ++others;  // compilers wait with them where double precision is slow
    }
    return operations >= count && operations - count + others <= kMostOthers + timed.companions * count;
}

Verdict judge(const KernelCode& code, const TimedCode& timed) {
    const int least = std::max(1, (std::ranges::min(timed.counts) + 1) / 2);
    std::vector<CodeRange> sections = code.between_clock_reads();
    std::erase_if(sections, [&](CodeRange section) { return count_of(code, section, timed.operation) < least; });
    Verdict verdict{
        .passed = sections.size() == timed.counts.size(),
        .expected = fmt::format("between clock reads {} x {}{}, nothing else that is slow", text_of(timed.counts),
                                text_of(timed.operation), timed.together ? " one after the other" : "")};
    std::vector<std::string> found;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        found.push_back(text_of(code.counts(sections[i])));
        verdict.passed = verdict.passed && holds(code, sections[i], timed, timed.counts[i]);
    }
    if (found.empty())
        verdict.found = fmt::format("no {} between clock reads", text_of(timed.operation));
    else
        verdict.found = joined(found);
    return verdict;
}

/// Each group of `count` operations stands together, one group after the other.
bool groups_stand_together(std::span<const MachineInstruction> loop, const LoopedCode& looped) {
    for (auto first = loop.begin(); first != loop.end(); ++first) {
        if (!matches(*first, looped.operation)) continue;
        auto last = first;
        for (int seen = 1; seen < looped.count && last != loop.end(); ++seen)
            last = std::find_if(last + 1, loop.end(), [&](const auto& i) { return matches(i, looped.operation); });
        if (last == loop.end() || !stand_together({first, last + 1}, looped.operation)) return false;
        first = last;
    }
    return true;
}

Verdict judge(const KernelCode& code, const LoopedCode& looped) {
    Verdict verdict{.expected = fmt::format("a loop of {} x {}{}", looped.count, text_of(looped.operation),
                                            looped.together ? " one after the other" : "")};
    std::vector<int> counts;
    for (const CodeRange loop : code.loops()) {
        counts.push_back(count_of(code, loop, looped.operation));
        const bool whole = counts.back() > 0 && counts.back() % looped.count == 0;
        verdict.passed = verdict.passed ||
                         (whole && (!looped.together || groups_stand_together(instructions_of(code, loop), looped)));
    }
    verdict.found = counts.empty()
                        ? "no loop"
                        : fmt::format("loops of {} x {}", fmt::join(counts, ", "), text_of(looped.operation));
    return verdict;
}

/// The two longest pieces of code between clock reads, in code order.
std::optional<std::array<CodeRange, 2>> longest_sections(const KernelCode& code) {
    auto sections = code.between_clock_reads();
    if (sections.size() < 2) return std::nullopt;
    std::ranges::partial_sort(sections, sections.begin() + 2, std::ranges::greater{}, &CodeRange::size);
    std::ranges::sort(sections.begin(), sections.begin() + 2, {}, &CodeRange::first);
    return std::array{sections[0], sections[1]};
}

Verdict judge(const KernelCode& code, const GrowingCode& growing) {
    Verdict verdict{.expected = fmt::format("between clock reads {0} operations and {0} more", growing.operations)};
    const auto sections = longest_sections(code);
    if (!sections) {
        verdict.found = "fewer than two pieces of code between clock reads";
        return verdict;
    }
    const auto [shorter, longer] = *sections;
    verdict.passed =
        static_cast<int>(longer.size()) + kMostMoved >= static_cast<int>(shorter.size()) + growing.operations;
    verdict.found = fmt::format("{}; {}", text_of(code.counts(shorter)), text_of(code.counts(longer)));
    return verdict;
}

Verdict judge(const KernelCode& code, const ReadsBackToBack& reads) {
    const auto sections = code.between_clock_reads();
    const auto pairs = std::ranges::count(sections, 0U, &CodeRange::size);
    return {.passed = pairs >= reads.pairs,
            .expected = fmt::format("at least {} clock reads that directly follow another one", reads.pairs),
            .found = fmt::format("{} of {}", pairs, sections.size())};
}

Verdict judge(const KernelCode& code, const ReadInLoop&) {
    const auto loops = code.loops();
    const auto reads = std::ranges::count_if(loops, [&](CodeRange loop) {
        return std::ranges::any_of(instructions_of(code, loop), &MachineInstruction::reads_clock);
    });
    return {.passed = reads > 0,
            .expected = "a loop that reads the clock",
            .found = fmt::format("{} of {} loops", reads, loops.size())};
}

std::string expected_text(const CodeExpectation& expectation) {
    return std::visit([](const auto& wanted) { return judge(KernelCode{}, wanted).expected; }, expectation);
}

}  // namespace

results::CodeCheck check_code(const std::optional<device::MachineCode>& code, std::string_view kernel,
                              const CodeExpectation& expectation) {
    results::CodeCheck check{.kernel = std::string(kernel),
                             .result = results::CodeResult::unavailable,
                             .expected = expected_text(expectation)};
    if (!code) {
        check.found = "the device has no machine code";
        return check;
    }
    try {
        const sass::Cubin cubin(code->cubin);
        const KernelCode decoded = sass::kernel_code(cubin, kernel);
        const Verdict verdict = std::visit([&](const auto& wanted) { return judge(decoded, wanted); }, expectation);
        check.result = verdict.passed ? results::CodeResult::passed : results::CodeResult::failed;
        check.found = verdict.found;
        if (!verdict.passed) check.listing = decoded.listing(decoded.all());
    } catch (const InputError& error) {
        // An unknown format, as a new driver may bring, must not prevent measuring.
        check.found = error.what();
    }
    return check;
}

std::optional<Expansion> expansion_of(const std::optional<device::MachineCode>& code, std::string_view kernel,
                                      int operations) {
    if (!code) return std::nullopt;
    try {
        const sass::Cubin cubin(code->cubin);
        const KernelCode decoded = sass::kernel_code(cubin, kernel);
        const auto sections = longest_sections(decoded);
        if (!sections) return std::nullopt;
        Expansion expansion;
        for (const auto& [name, count] : decoded.counts((*sections)[1]))
            expansion.opcodes[name] += static_cast<double>(count) / operations;
        for (const auto& [name, count] : decoded.counts((*sections)[0]))
            expansion.opcodes[name] -= static_cast<double>(count) / operations;
        expansion.opcodes.erase("NOP");
        std::erase_if(expansion.opcodes,
                      [&](const auto& entry) { return std::abs(entry.second) * operations < kStray; });
        for (const auto& [name, count] : expansion.opcodes) expansion.instructions += count;
        return expansion;
    } catch (const InputError&) {
        return std::nullopt;
    }
}

CodeMismatch::CodeMismatch(results::CodeCheck check)
    : Error(fmt::format("kernel {}: the driver's compiler changed the measured code: expected {}; found {}\n{}",
                        check.kernel, check.expected, check.found, check.listing)),
      check_(std::move(check)) {}

void require(const results::CodeCheck& check) {
    if (check.result == results::CodeResult::failed) throw CodeMismatch(check);
}

}  // namespace gputomo::measure
