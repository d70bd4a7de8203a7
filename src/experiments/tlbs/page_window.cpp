// The window of memory whose page entries are active at once, and the cost of a switch to another window.
//
// A few loads at one address alternate with a few at another. If only the first load at each address is slow, wherever
// other loads go meanwhile, the two lie in different windows. The first address in another window than the start is a
// boundary; the first one in another window than that is the next boundary. Pairs of random addresses then test what
// the boundaries predict.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/tlbs/tlb_levels.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <random>

namespace gputomo::experiments {
namespace page_window {
namespace {

/// Pages of an aliased range: 64 GiB of 2 MiB pages. If memory cannot be aliased, a plain array of at most `kMostPlain`
/// bytes.
constexpr std::uint64_t kMappings = 32768;
constexpr std::uint64_t kMostPlain = std::uint64_t{8} << 30;
/// Loads at one address in a row, untimed passes, and passes whose median counts.
constexpr std::size_t kRow = 4;
constexpr std::uint32_t kWarmPasses = 2, kPasses = 24;
/// Fewest cycles of a switch. Smaller differences may be those between slices of a cache.
constexpr double kLeastCost = 8;
/// Random pairs of addresses, and the share of them that must behave as the boundaries predict.
constexpr int kTrials = 48;
constexpr double kPredicts = 0.9;

struct Trial {
    double cost = 0;     ///< cycles by which the first load at an address exceeds the others; the smaller of both
    double dearest = 0;  ///< the larger of both
    bool others_slow = false;
    [[nodiscard]] bool switches() const { return cost > kLeastCost && !others_slow; }
};

class WindowFinder {
public:
    WindowFinder(Context& context, const MappedWindow& mapped)
        : bytes_(mapped.window().bytes),
          word_(mapped.window().word),
          array_(context, mapped.place(LoadHint::l2_only), LoadHint::l2_only),
          random_(context.seed) {}

    Outcome run() {
        Outcome outcome;
        add_code_checks(array_.kernels(), outcome);
        array_.describe(0.2, "windows of active pages");
        const std::uint64_t last = bytes_ - word_;
        if (!apart(0, last)) return without(outcome);
        const auto first = boundary_after(0, last);
        array_.describe(0.5, "windows of active pages");
        if (!apart(first, last)) {
            add_open(outcome, std::max(first, bytes_ - first));
            return outcome;
        }
        const auto window = boundary_after(first, last) - first;
        array_.describe(0.7, "windows of active pages");
        add(outcome, first, window);
        return outcome;
    }

private:
    static constexpr const char* kMethod =
        "page_window: loads that alternate between two addresses, of which only the first at each is slow";

    /// Loads at the addresses of `a`, a few in a row at each, and then of `b`.
    Trial alternate(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
        std::vector<std::uint64_t> sequence;
        for (const auto* places : {&a, &b})
            for (std::size_t i = 0; i < kRow; ++i) sequence.push_back((*places)[i % places->size()]);
        const auto medians = medians_of_elements(array_({sequence, kWarmPasses, kPasses}).latencies, kPasses);
        std::vector<double> others;
        for (std::size_t i = 0; i < medians.size(); ++i)
            if (i % kRow != 0) others.push_back(medians[i]);
        const double usual = median(others);
        const auto [cheap, dear] = std::minmax({medians[0] - usual, medians[kRow] - usual});
        return {cheap, dear, std::ranges::any_of(others, [&](double other) { return other > usual + kLeastCost; })};
    }
    bool apart(std::uint64_t a, std::uint64_t b) { return alternate({a}, {b}).switches(); }

    /// The first word in another window than `start`, by bisection; `beyond` lies in another one.
    std::uint64_t boundary_after(std::uint64_t start, std::uint64_t beyond) {
        std::uint64_t within = start;
        while (beyond - within > word_) {
            const std::uint64_t middle = within + (beyond - within) / 2 / word_ * word_;
            (apart(start, middle) ? beyond : within) = middle;
        }
        return beyond;
    }

    /// Addresses in the same window as `place`, if the boundaries are right.
    std::vector<std::uint64_t> neighbours(std::uint64_t place, std::uint64_t first, std::uint64_t window) {
        const std::uint64_t begin = place < first ? 0 : first + (place - first) / window * window;
        const std::uint64_t end = std::min(place < first ? first : begin + window, bytes_);
        std::vector<std::uint64_t> places;
        for (std::size_t i = 0; i < kRow; ++i) places.push_back(begin + random_() % ((end - begin) / word_) * word_);
        return places;
    }

    void add(Outcome& outcome, std::uint64_t first, std::uint64_t window) {
        const auto number = [&](std::uint64_t place) {
            return place < first ? std::uint64_t{0} : 1 + (place - first) / window;
        };
        int agreed = 0;
        std::vector<double> costs;
        for (int i = 0; i < kTrials; ++i) {
            const auto a = neighbours(random_() % (bytes_ / word_) * word_, first, window),
                       b = neighbours(random_() % (bytes_ / word_) * word_, first, window);
            const auto trial = alternate(a, b);
            const bool predicted = number(a[0]) != number(b[0]);
            agreed += trial.switches() == predicted ? 1 : 0;
            if (predicted && trial.switches()) costs.push_back((trial.cost + trial.dearest) / 2);
        }
        const double confidence = (agreed + 1.0) / (kTrials + 2.0);
        if (confidence < kPredicts || costs.empty()) {
            outcome.warnings.push_back(
                fmt::format("page_window: the window is left undecided, because windows of {} MiB predict only {} of "
                            "{} pairs of addresses",
                            window >> 20, agreed, kTrials));
            return;
        }
        const Evidence evidence{
            kMethod, confidence,
            fmt::format("{} of {} pairs of random addresses behave as the boundaries predict", agreed, kTrials)};
        outcome.estimates.push_back(decided("paths.global.page_window", static_cast<std::int64_t>(window), evidence));
        outcome.estimates.push_back(decided_integer("paths.global.page_window_penalty", summarise(costs), evidence));
    }
    Outcome& without(Outcome& outcome) const {
        outcome.estimates.push_back(
            absent("paths.global.page_window",
                   {kMethod, 0.9, fmt::format("no switch shows between addresses up to {} MiB apart", bytes_ >> 20)}));
        return outcome;
    }
    static void add_open(Outcome& outcome, std::uint64_t least) {
        auto open = undecided("paths.global.page_window", {}, {kMethod, 0.5, "the whole range has only one boundary"});
        open.interval = {static_cast<double>(least), std::numeric_limits<double>::infinity()};
        outcome.estimates.push_back(std::move(open));
    }

    std::uint64_t bytes_, word_;
    ChaseArray array_;
    std::mt19937_64 random_;
};

Outcome measure(Context& context) {
    context.progress(0, "mapping memory");
    const std::uint64_t page = aliased_page(context.device);
    if (page > 0) return WindowFinder(context, MappedWindow::aliased(context.device, page, kMappings)).run();
    const auto memory =
        static_cast<std::uint64_t>(context.device.attribute(device::Attribute::total_memory_bytes).value_or(0));
    const std::uint64_t bytes = std::min(kMostPlain, memory / 4 * 3 / kPlainPage * kPlainPage);
    if (bytes == 0) return {};
    return WindowFinder(context, MappedWindow::plain(context.device, bytes, kPlainPage)).run();
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace page_window

Experiment page_window_experiment() {
    return {.id = "page_window",
            .title = "memory whose pages are active at once",
            .source = "Mei 2014, 4.2, Table 3, pattern 6",
            .method = "tlbs",
            .explanation =
                "Loads alternate between two addresses, a few at each. Where only the first load at each address "
                "is slow, the two lie in different windows of memory whose page entries are active at once. Each "
                "alternation then switches the window.",
            .needs = {},
            .after = {"clock"},
            .provides = {"paths.global.page_window", "paths.global.page_window_penalty"},
            .run = page_window::run};
}

}  // namespace gputomo::experiments
