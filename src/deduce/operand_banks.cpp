#include "deduce/operand_banks.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace gputomo::deduce {
namespace {

constexpr int kMostBanks = 16, kMostPorts = 2;
/// Times that differ by less are alike: what loops and clocks leave.
constexpr double kAlike = 0.03;
/// Files that explain so much less of the variance are no worse.
constexpr double kTie = 0.02;

/// Further turns at the fullest bank, mean of the loop's instructions.
double turns_of(const OperandLoop& loop, const OperandFile& file) {
    double turns = 0;
    std::vector<int> reads(static_cast<std::size_t>(file.banks));
    for (const auto& operands : loop.operands) {
        std::ranges::fill(reads, 0);
        for (const auto number : operands) ++reads[number % reads.size()];
        turns += std::max(0, (std::ranges::max(reads) + file.ports - 1) / file.ports - 1);
    }
    return turns / static_cast<double>(std::max<std::size_t>(1, loop.operands.size()));
}

struct Fit {
    OperandFile file;
    double explained = 0;
    double slope = 0;
};

/// Loops of as many operands each; what more operands cost by themselves says nothing of banks.
std::vector<std::vector<OperandLoop>> by_operands(std::span<const OperandLoop> loops) {
    std::map<std::size_t, std::vector<OperandLoop>> groups;
    for (const auto& loop : loops) {
        std::size_t most = 0;
        for (const auto& operands : loop.operands) most = std::max(most, operands.size());
        groups[most].push_back(loop);
    }
    std::vector<std::vector<OperandLoop>> all;
    for (auto& [operands, group] : groups) all.push_back(std::move(group));
    return all;
}

/// Least squares of cycles against turns, each group with a level of its own.
Fit fit(const std::vector<std::vector<OperandLoop>>& groups, const OperandFile& file) {
    double xx = 0, xy = 0, yy = 0;
    for (const auto& group : groups) {
        const auto n = static_cast<double>(group.size());
        double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
        for (const auto& loop : group) {
            const double x = turns_of(loop, file), y = loop.cycles;
            sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
        }
        xx += sxx - sx * sx / n, xy += sxy - sx * sy / n, yy += syy - sy * sy / n;
    }
    if (xx <= 0 || yy <= 0 || xy <= 0) return {file, 0, 0};
    return {file, xy * xy / (xx * yy), xy / xx};
}

bool alike(const std::vector<OperandLoop>& group) {
    const auto [least, most] = std::ranges::minmax(group, {}, &OperandLoop::cycles);
    return most.cycles - least.cycles < kAlike * least.cycles;
}

}  // namespace

OperandFindings operand_banks(std::span<const OperandLoop> loops) {
    OperandFindings found;
    const auto groups = by_operands(loops);
    found.alike = std::ranges::all_of(groups, alike);
    if (found.alike) return found;
    std::vector<Fit> fits;
    for (int banks = 2; banks <= kMostBanks; ++banks)
        for (int ports = 1; ports <= kMostPorts; ++ports) fits.push_back(fit(groups, {banks, ports}));
    std::ranges::stable_sort(fits, std::greater<>{}, &Fit::explained);
    found.explained = fits.front().explained;
    found.conflict = fits.front().slope;
    for (const auto& one : fits) {
        if (one.explained >= found.explained - kTie)
            found.files.push_back(one.file);
        else
            found.runner_up = std::max(found.runner_up, one.explained);
    }
    return found;
}

}  // namespace gputomo::deduce
