#include "launch/profile/sampled_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace gputomo::launch {
namespace {

/// A block that executes as many times the instructions of those that were recorded is recorded too.
constexpr double kLonger = 1.5;
/// An SM that executes as many times the instructions of the recorded ones is recorded too.
constexpr double kBusier = 1.05;

}  // namespace

double mean_instructions(const LaunchProfile& profile) {
    double sum = 0;
    for (const BlockCounts& block : profile.sampled) sum += block.instructions;
    return sum / static_cast<double>(profile.sampled.size());
}

MeanError error_of(const LaunchProfile& profile) {
    constexpr std::array<std::pair<double BlockCounts::*, std::string_view>, 5> kCounts{
        {{&BlockCounts::instructions, "executed instructions"},
         {&BlockCounts::transactions, "lines of warp instructions"},
         {&BlockCounts::load_sectors, "loaded sectors"},
         {&BlockCounts::store_sectors, "stored sectors"},
         {&BlockCounts::bank_cycles, "cycles of shared memory's banks"}}};
    const std::size_t count = profile.sampled.size();
    if (count == profile.blocks) return {};
    if (count < 2) return {.error = 1, .of = kCounts.front().second};
    MeanError most;
    for (const auto& [field, name] : kCounts) {
        double sum = 0, squares = 0;
        for (const BlockCounts& block : profile.sampled) sum += block.*field;
        const double mean = sum / static_cast<double>(count);
        if (mean == 0) continue;
        for (const BlockCounts& block : profile.sampled) squares += (block.*field - mean) * (block.*field - mean);
        const double error = std::sqrt(squares / static_cast<double>(count - 1) / static_cast<double>(count)) / mean;
        if (error > most.error) most = {.error = error, .of = name};
    }
    return most;
}

void note_missing_blocks(LaunchProfile& profile, std::uint64_t sms) {
    const auto& first = profile.sms.front();
    const std::uint64_t blocks = profile.blocks_of_sms.empty()
                                     ? (profile.blocks - first.front().block + sms - 1) / sms
                                     : static_cast<std::uint64_t>(profile.blocks_of_sms.front());
    const std::uint64_t held = std::min<std::uint64_t>(profile.resident_blocks, blocks);
    if (first.size() < held)
        profile.assumptions.insert(
            profile.assumptions.begin(),
            fmt::format("only {} of the {} blocks that an SM holds at once were replayed together, because of "
                        "their length or the time limit",
                        first.size(), held));
}

const BlockCounts* much_longer_block(const LaunchProfile& profile) {
    std::set<std::uint64_t> recorded;
    for (const auto& sm : profile.sms)
        for (const BlockTrace& trace : sm) recorded.insert(trace.block);
    double most_recorded = 0;
    const BlockCounts* longest = nullptr;
    for (const BlockCounts& block : profile.sampled) {
        if (recorded.contains(block.block)) most_recorded = std::max(most_recorded, block.instructions);
        if (longest == nullptr || block.instructions > longest->instructions) longest = &block;
    }
    return longest != nullptr && longest->instructions > kLonger * most_recorded ? longest : nullptr;
}

std::optional<std::uint64_t> much_busier_sm(const LaunchProfile& profile, std::uint64_t sms) {
    if (profile.blocks > sms * profile.resident_blocks || profile.sampled.size() < profile.blocks) return {};
    std::vector<double> of_sm(sms);
    for (const BlockCounts& block : profile.sampled) of_sm[block.block % sms] += block.instructions;
    double recorded = 0;
    for (const auto& blocks : profile.sms) recorded = std::max(recorded, of_sm[blocks.front().block % sms]);
    const auto busiest = std::ranges::max_element(of_sm);
    if (*busiest <= kBusier * recorded) return {};
    return static_cast<std::uint64_t>(busiest - of_sm.begin());
}

}  // namespace gputomo::launch
