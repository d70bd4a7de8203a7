#include "sass/machine_code.hpp"

#include "sass/code.hpp"
#include "sass/instruction.hpp"
#include "sass/special_registers.hpp"
#include "sass/table.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace gputomo::sass {
namespace {

constexpr int kFirstSm = 70;
constexpr int kLastSm = 121;
/// From this compute capability on, a branch has the low 8 bits of its distance in a separate field.
constexpr int kSplitDistanceSm = 90;
constexpr std::uint64_t kAlways = 7;  // predicate PT
constexpr std::size_t kShortestRun = 3;

std::string_view name_of(const Row& row) {
    const std::string_view name = facts_of(row).name;
    return name.empty() ? name_of(row.operation) : name;
}

/// Bytes from the end of a branch to its target. The encoded distance is a number of 4-byte words in bits 34 to 81;
/// newer code has its low byte in bits 16 to 23.
std::int64_t branch_distance(const MachineInstruction& branch, int sm) {
    const std::uint64_t raw = branch.low >> 34 | (branch.high & 0x3ffff) << 30;
    const auto high = static_cast<std::int64_t>(raw << 16) >> 16;
    if (sm < kSplitDistanceSm) return high * 4;
    return (high * 256 + static_cast<std::int64_t>(branch.low >> 16 & 0xff)) * 4;
}

std::optional<std::size_t> branch_target(const MachineInstruction& branch, std::size_t index, std::size_t count,
                                         int sm) {
    const auto target = static_cast<std::int64_t>((index + 1) * kInstructionBytes) + branch_distance(branch, sm);
    const auto end = static_cast<std::int64_t>(count * kInstructionBytes);
    if (target < 0 || target >= end || target % static_cast<std::int64_t>(kInstructionBytes) != 0) return std::nullopt;
    return static_cast<std::size_t>(target) / kInstructionBytes;
}

}  // namespace

std::string MachineInstruction::name() const {
    const auto* const row = row_of(opcode());
    return row == nullptr ? fmt::format("{:#05x}", opcode()) : std::string(name_of(*row));
}

bool MachineInstruction::is(std::string_view opcode_name) const {
    const auto* const row = row_of(opcode());
    return row != nullptr && name_of(*row) == opcode_name;
}

bool MachineInstruction::waits() const {
    constexpr int kMaskAt = 116 - 64;
    constexpr std::uint64_t kMask = 0x3f;
    return (high >> kMaskAt & kMask) != 0 || is("DEPBAR");
}

bool MachineInstruction::slow() const {
    const auto* const row = row_of(opcode());
    return row != nullptr && facts_of(*row).slow;
}

int MachineInstruction::access_bytes() const {
    const auto* const row = row_of(opcode());
    if (row == nullptr) return 0;
    const bool accesses = facts_of(*row).what == Class::memory;
    if (!accesses || row->modifiers.find("width@73") == std::string_view::npos) return 0;
    constexpr int kBytes[] = {1, 1, 2, 2, 4, 8, 16, 0};  // signed and unsigned bytes and halves, then words
    return kBytes[high >> 9 & 7];
}

std::optional<std::uint8_t> MachineInstruction::special_register() const {
    if (!is("CS2R") && !is("CS2UR") && !is("S2R") && !is("S2UR")) return std::nullopt;
    return static_cast<std::uint8_t>(high >> 8 & 0xff);
}

bool MachineInstruction::reads_clock() const {
    const auto number = special_register();
    return number && counts_cycles(*number);
}

std::vector<RegisterOperand> MachineInstruction::three_operands() const {
    constexpr std::uint64_t kForm = 0xe00, kAllRegisters = 0x200;
    constexpr std::uint8_t kZero = 255;
    constexpr int kReuseAt = 122 - 64;
    std::vector<RegisterOperand> operands;
    if ((low & kForm) != kAllRegisters) return operands;
    int slot = 0;
    for (const std::uint64_t field : {low >> 24, low >> 32, high}) {
        const auto number = static_cast<std::uint8_t>(field & 0xff);
        if (number != kZero) operands.push_back({slot, number, (high >> (kReuseAt + slot) & 1) != 0});
        ++slot;
    }
    return operands;
}

std::string MachineInstruction::guard() const {
    const std::uint64_t predicate = low >> 12 & 7;
    const bool negated = (low >> 15 & 1) != 0;
    if (predicate == kAlways && !negated) return {};
    return fmt::format("@{}P{} ", negated ? "!" : "", predicate == kAlways ? "T" : fmt::to_string(predicate));
}

std::string MachineInstruction::text() const {
    std::string text = guard() + name();
    if (const int bytes = access_bytes(); bytes != 0) text += fmt::format(".{}", 8 * bytes);
    if (target) text += fmt::format(" {:#x}", *target * kInstructionBytes);
    const auto number = special_register();
    if (!number) return text;
    const auto known = special_register_text(*number);
    return text + (known.empty() ? fmt::format(" SR{}", *number) : fmt::format(" {}", known));
}

OpcodeCounts KernelCode::counts(CodeRange range) const {
    OpcodeCounts counts;
    for (std::size_t i = range.first; i < range.last; ++i) ++counts[instructions_.at(i).name()];
    return counts;
}

std::vector<CodeRange> KernelCode::between_clock_reads() const {
    std::vector<CodeRange> ranges;
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < instructions_.size(); ++i) {
        if (!instructions_[i].reads_clock()) continue;
        if (last) ranges.push_back({*last + 1, i});
        last = i;
    }
    return ranges;
}

std::vector<CodeRange> KernelCode::loops() const {
    std::vector<CodeRange> loops;
    for (std::size_t i = 0; i < instructions_.size(); ++i)
        if (const auto target = instructions_[i].target; target && *target < i) loops.push_back({*target, i + 1});
    return loops;
}

std::string KernelCode::listing(CodeRange range) const {
    std::string lines;
    for (std::size_t i = range.first; i < range.last;) {
        const auto& instruction = instructions_.at(i);
        const std::string text = instruction.text();
        std::size_t end = i + 1;
        while (end < range.last && instructions_.at(end).text() == text) ++end;
        if (end - i < kShortestRun) end = i + 1;
        const std::string times = end - i > 1 ? fmt::format(" (x {})", end - i) : "";
        lines += fmt::format("  {:04x}  {:<30} {:016x} {:016x}\n", i * kInstructionBytes, text + times, instruction.low,
                             instruction.high);
        i = end;
    }
    return lines;
}

std::string unsupported_reason(const Cubin& cubin) {
    if (!cubin.sm()) return fmt::format("not supported: {} is an unknown format", cubin.abi());
    const int sm = *cubin.sm();
    if (sm < kFirstSm)
        return fmt::format("not supported: sm_{} has another instruction encoding than sm_{} and newer", sm, kFirstSm);
    if (sm > kLastSm)
        return fmt::format("not supported: sm_{} is newer than sm_{}, the last that was checked", sm, kLastSm);
    return {};
}

KernelCode kernel_code(const Cubin& cubin, std::string_view kernel) {
    if (const auto reason = unsupported_reason(cubin); !reason.empty()) throw InputError("cubin: " + reason);
    const auto text = cubin.text(kernel);
    if (text.bytes.size() % kInstructionBytes != 0)
        throw InputError(fmt::format(
            "cubin: at offset {:#x}: expected instructions of {} bytes each in the code of '{}'; found {} bytes",
            text.offset, kInstructionBytes, kernel, text.bytes.size()));
    KernelCode code;
    code.name_ = kernel;
    const std::size_t count = text.bytes.size() / kInstructionBytes;
    for (std::size_t i = 0; i < count; ++i) {
        const Word word = word_at(text.bytes, i * kInstructionBytes);
        MachineInstruction instruction{word.low, word.high, {}};
        if (instruction.is("BRA")) instruction.target = branch_target(instruction, i, count, *cubin.sm());
        code.instructions_.push_back(instruction);
    }
    return code;
}

}  // namespace gputomo::sass
