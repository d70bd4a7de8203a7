#include "deduce/pipeline/operand_banks.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace gputomo::deduce {
namespace {

/// The largest register file that is tried. More banks or ports would be reported as "not explained".
constexpr int kMostBanks = 16, kMostPorts = 2;
/// Loops whose times differ by less than this share have no conflicts: loop overhead and clock resolution explain the
/// difference. A larger share would miss conflicts of a slow instruction. Chosen by hand.
constexpr double kAlike = 0.03;
/// Models that explain less of the variance by at most this much are not distinguished from the best one.
constexpr double kTie = 0.02;

using Bank = int;

/// Registers that each instruction reads from each bank in the second pass of a loop, when the reuse cache is filled.
class BankReads {
public:
    BankReads(const OperandLoop& loop, const RegisterFileModel& file) : file_(file) {
        for (const auto& instruction : loop.instructions) (void)reads_of(instruction);
        for (const auto& instruction : loop.instructions) reads_.push_back(reads_of(instruction));
    }
    [[nodiscard]] const std::vector<std::map<Bank, int>>& each() const { return reads_; }

private:
    std::map<Bank, int> reads_of(const InstructionReads& instruction) {
        std::set<std::uint8_t> numbers;
        for (const auto& read : instruction)
            if (!in_reuse_cache(read)) numbers.insert(read.number);
        for (const auto& read : instruction) {
            if (read.reuse)
                reuse_cache_[{read.slot, bank_of(read.number)}] = read.number;
            else
                reuse_cache_.erase({read.slot, bank_of(read.number)});
        }
        std::map<Bank, int> reads;
        for (const auto number : numbers) ++reads[bank_of(number)];
        return reads;
    }
    [[nodiscard]] Bank bank_of(std::uint8_t number) const { return number % file_.banks; }
    [[nodiscard]] bool in_reuse_cache(const OperandRead& read) const {
        const auto at = reuse_cache_.find({read.slot, bank_of(read.number)});
        return file_.reuse_cache && at != reuse_cache_.end() && at->second == read.number;
    }

    RegisterFileModel file_;
    std::map<std::pair<int, Bank>, std::uint8_t> reuse_cache_;
    std::vector<std::map<Bank, int>> reads_;
};

/// Reads of an instruction at the busiest bank from which on reads alone limit a loop. With fewer, the instructions
/// that control the loop hide some.
constexpr double kLimitingReads = 1.9;

/// Mean reads of an instruction at the bank that all instructions together read most.
double reads_at_busiest_bank(const OperandLoop& loop, const RegisterFileModel& file) {
    const BankReads reads(loop, file);
    std::map<Bank, int> all;
    for (const auto& own : reads.each())
        for (const auto& [bank, count] : own) all[bank] += count;
    int most = 0;
    for (const auto& [bank, count] : all) most = std::max(most, count);
    return most / static_cast<double>(std::max<std::size_t>(1, loop.instructions.size()));
}

/// The least cycles of a read, because the end of a loop only adds to them.
double read_cycles(std::span<const OperandLoop> loops, const RegisterFileModel& file) {
    double least = 0;
    for (const auto& loop : loops) {
        const double reads = reads_at_busiest_bank(loop, file) / file.ports;
        if (reads >= kLimitingReads && (least == 0 || loop.cycles / reads < least)) least = loop.cycles / reads;
    }
    return least;
}

/// Mean extra reads per instruction at the busiest bank: cycles of conflicts if a bank reads once per cycle.
double conflicts_of(const OperandLoop& loop, const RegisterFileModel& file) {
    const BankReads reads(loop, file);
    const auto instructions = static_cast<double>(std::max<std::size_t>(1, loop.instructions.size()));
    double conflicts = 0;
    std::map<Bank, int> all;
    for (const auto& own : reads.each()) {
        int most = 0;
        for (const auto& [bank, count] : own) {
            all[bank] += count;
            most = std::max(most, count);
        }
        conflicts += std::max(0, (most + file.ports - 1) / file.ports - 1);
    }
    if (!file.averaged) return conflicts / instructions;
    int most = 0;
    for (const auto& [bank, count] : all) most = std::max(most, count);
    return std::max(0.0, most / (instructions * file.ports) - 1);
}

struct Fit {
    RegisterFileModel file;
    double explained = 0;
    double slope = 0;
};

/// Linear regression of the cycles on the conflicts.
Fit fit(std::span<const OperandLoop> loops, const RegisterFileModel& file) {
    const auto n = static_cast<double>(loops.size());
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (const auto& loop : loops) {
        const double x = conflicts_of(loop, file), y = loop.cycles;
        sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
    }
    const double xx = sxx - sx * sx / n, xy = sxy - sx * sy / n, yy = syy - sy * sy / n;
    if (xx <= 0 || yy <= 0 || xy <= 0) return {file, 0, 0};
    return {file, xy * xy / (xx * yy), xy / xx};
}

bool keeps_operands(const OperandLoop& loop) {
    return std::ranges::any_of(loop.instructions, [](const auto& reads) {
        return std::ranges::any_of(reads, [](const auto& read) { return read.reuse; });
    });
}

std::vector<RegisterFileModel> all_files(std::span<const OperandLoop> loops) {
    const bool marked = std::ranges::any_of(loops, keeps_operands);
    std::vector<RegisterFileModel> files;
    for (int banks = 1; banks <= kMostBanks; ++banks)
        for (int ports = 1; ports <= kMostPorts; ++ports)
            for (const bool averaged : {false, true})
                for (const bool keeps : {false, true})
                    if (marked || !keeps) files.push_back({banks, ports, averaged, keeps});
    return files;
}

}  // namespace

std::size_t different_registers(const InstructionReads& reads) {
    std::set<std::uint8_t> numbers;
    for (const auto& read : reads) numbers.insert(read.number);
    return numbers.size();
}

OperandBankFit operand_banks(std::span<const OperandLoop> loops) {
    OperandBankFit found;
    const auto [least, most] = std::ranges::minmax(loops, {}, &OperandLoop::cycles);
    found.no_conflicts = most.cycles - least.cycles < kAlike * least.cycles;
    if (found.no_conflicts) return found;
    std::vector<Fit> fits;
    for (const auto& file : all_files(loops)) fits.push_back(fit(loops, file));
    std::ranges::stable_sort(fits, std::greater<>{}, &Fit::explained);
    found.explained = fits.front().explained;
    found.conflict_cycles = fits.front().slope;
    found.read_cycles = read_cycles(loops, fits.front().file);
    for (const auto& one : fits) {
        if (one.explained >= found.explained - kTie)
            found.models.push_back(one.file);
        else
            found.runner_up = std::max(found.runner_up, one.explained);
    }
    return found;
}

}  // namespace gputomo::deduce
