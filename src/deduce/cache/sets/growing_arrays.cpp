#include "deduce/cache/sets/growing_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

/// Longer arrays are not grown line by line, because the loads grow with the square of the lines.
constexpr std::uint64_t kMaxGrowingLines = 512;
/// Passes over an array before and during recording. Under LRU the first warm pass already reaches the steady state.
constexpr std::uint32_t kGrowingWarmPasses = 4, kGrowingPasses = 8;
/// The first set overflows at the latest when the array exceeds the known capacity by a quarter and this many lines.
constexpr std::uint64_t kFirstStep = 4;
/// A line of an overflowing set misses in more than this share of the passes.
constexpr double kMisses = 0.5;
/// Fewest predictions about sets, and fewest arrays in which they are tested. With fewer, wrong sets agree at random.
constexpr int kPredictions = 128, kMinArrays = 24;
/// Sets are reported if this share of the predictions is right for each of them.
constexpr double kPredicts = 0.9;

class GrowingArraysMethod {
public:
    GrowingArraysMethod(const Probe& probe, std::uint64_t line, std::uint64_t fitting)
        : probe_(probe), line_(line), fitting_(fitting / line) {}

    GrowingArraysResult run() {
        if (fitting_ == 0 || 2 * fitting_ > kMaxGrowingLines)
            return against(fmt::format("an array of {} lines is not grown line by line (possible: 1 to {} lines)",
                                       fitting_, kMaxGrowingLines / 2));
        if (!grow()) return std::move(result_);
        std::stable_sort(found_.sets.begin(), found_.sets.end(),
                         [](const Offsets& a, const Offsets& b) { return a.size() > b.size(); });
        if (const auto agreement = predict(); agreement < kPredicts)
            return against(fmt::format(
                "{} sets of up to {} lines: predictions about one of them are right in only {:.0f}% of the trials",
                found_.sets.size(), found_.ways().front(), agreement * 100));
        result_.found = std::move(found_);
        return std::move(result_);
    }

private:
    GrowingArraysResult against(std::string why) { return {std::nullopt, std::move(why)}; }

    Offsets missing(const Offsets& sequence) {
        const auto rates = probe_.miss_rates(sequence, kGrowingWarmPasses, kGrowingPasses);
        Offsets lines;
        for (std::size_t i = 0; i < sequence.size(); ++i)
            if (rates[i] > kMisses) lines.push_back(sequence[i]);
        return lines;
    }

    /// Grows from an array without misses to one in which every line misses. A line that begins to miss alone joined a
    /// set that overflowed already.
    bool grow() {
        Offsets known;
        const std::uint64_t most = std::min(kMaxGrowingLines, probe_.question().buffer_bytes / line_);
        while (fitting_ > 1 && !missing(strided(fitting_ * line_, line_)).empty()) --fitting_;
        for (std::uint64_t lines = fitting_ + 1; lines <= most; ++lines) {
            const auto now = missing(strided(lines * line_, line_));
            Offsets fresh;
            std::set_difference(now.begin(), now.end(), known.begin(), known.end(), std::back_inserter(fresh));
            if (known.empty() && fresh.empty() && lines > fitting_ + fitting_ / 4 + kFirstStep) {
                result_ = against(
                    fmt::format("an array of {} lines overflows, but none of its lines misses in most passes", lines));
                return false;
            }
            if (fresh.size() > 1) found_.sets.push_back(fresh);
            known.insert(known.end(), fresh.begin(), fresh.end());
            std::sort(known.begin(), known.end());
            if (known.size() == lines) return true;
        }
        result_ = against(
            fmt::format("{} lines belong to {} sets that overflow one after the other; the other lines never miss",
                        known.size(), found_.sets.size()));
        return false;
    }

    /// Gives each set one line more than its ways, and leaves out any one line of some sets: exactly those sets must
    /// be resident. Returns the share of right predictions of the set where it is smallest.
    double predict() {
        std::vector<int> agreed(found_.sets.size(), 0);
        int arrays = 0;
        for (; arrays < kMinArrays || found_.trials.made < kPredictions; ++arrays) {
            Offsets sequence;
            std::vector<bool> fits;
            for (const auto& set : found_.sets) {
                Offsets lines = set;
                fits.push_back(probe_.draw(2) == 0);
                if (fits.back()) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(probe_.draw(lines.size())));
                sequence.insert(sequence.end(), lines.begin(), lines.end());
            }
            std::shuffle(sequence.begin(), sequence.end(), probe_.random());
            auto slow = missing(sequence);
            std::sort(slow.begin(), slow.end());
            for (std::size_t s = 0; s < found_.sets.size(); ++s) {
                const bool stayed = std::ranges::none_of(
                    found_.sets[s], [&](std::uint64_t line) { return std::ranges::binary_search(slow, line); });
                ++found_.trials.made;
                found_.trials.agreed += stayed == fits[s] ? 1 : 0;
                agreed[s] += stayed == fits[s] ? 1 : 0;
            }
        }
        return static_cast<double>(*std::ranges::min_element(agreed)) / arrays;
    }

    const Probe& probe_;
    std::uint64_t line_;
    std::uint64_t fitting_;  ///< lines of the largest array that is resident
    GrownSets found_;
    GrowingArraysResult result_;
};

}  // namespace

std::vector<std::uint64_t> GrownSets::ways() const {
    std::vector<std::uint64_t> ways;
    for (const auto& set : sets) ways.push_back(set.size() - 1);
    return ways;
}

Offsets GrownSets::filler() const {
    Offsets filler;
    for (std::size_t s = 1; s < sets.size(); ++s) filler.insert(filler.end(), sets[s].begin(), sets[s].end() - 1);
    return filler;
}

GrowingArraysResult find_sets_by_growing_arrays(const Probe& probe, std::uint64_t line, std::uint64_t fitting) {
    return GrowingArraysMethod(probe, line, fitting).run();
}

}  // namespace gputomo::deduce::cache
