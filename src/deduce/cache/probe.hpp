// Questions put to a memory path about chosen addresses: do they stay, which of them miss.
#pragma once

#include "deduce/cache/chase.hpp"
#include "deduce/cache/geometry.hpp"
#include "deduce/cache/miss_latencies.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace gputomo::deduce::cache {

using Offsets = std::vector<std::uint64_t>;

/// More loads would be needed than a level is worth.
struct BudgetExhausted : std::runtime_error {
    BudgetExhausted() : std::runtime_error("what is missing of its geometry would take more loads than one level gets") {}
};

/// Smallest count of slow ones among `laps` readings that accidents reach in fewer than this share of tours of so many
/// loads (Poisson tail).
[[nodiscard]] int significant_count(double outlier_rate, std::uint32_t passes, std::size_t loads, double share_of_sequences = 0.01);

/// Asks a chase and makes up for readings that are slow by accident. Offsets count from `origin`, which is aligned to
/// `span`, so that they can be combined bit by bit as the addresses are.
class Probe {
public:
    Probe(const Chase& chase, const CacheQuestion& question);

    /// Moves the origin to an address aligned to `span` (a power of two), if the array has one with so much room behind
    /// it; otherwise to the largest such piece.
    void move_origin(std::uint64_t span);
    /// The whole array from its start on; offsets need not combine as address bits do.
    void look_everywhere() { origin_ = 0, span_ = reach_ = question_.buffer_bytes; }
    /// Bytes from the origin on in which lines are looked for first: no more than that, or other limits come into play,
    /// such as a TLB's.
    void stay_within(std::uint64_t reach) { reach_ = std::min(reach, span_); }
    [[nodiscard]] std::uint64_t search_span() const { return reach_; }
    /// Bytes that one miss fills, once they are known: then a line may be visited several times in a tour, at another
    /// word each time.
    void set_piece(std::uint64_t bytes) { piece_ = bytes; }
    /// From now on two loads of each line, one after the other, where lines that are used once go at once (bimodal
    /// insertion): then a line comes to stay as fast as with other policies, and a set that is too small for its lines
    /// loses all of them. Not for record().
    void visit_twice_if_that_matters();
    [[nodiscard]] std::uint64_t origin() const { return origin_; }
    /// Bytes from the origin on whose offsets behave like address bits.
    [[nodiscard]] std::uint64_t span() const { return span_; }
    /// Address of offset 0 as far as the question tells.
    [[nodiscard]] std::uint64_t address() const { return question_.base + origin_; }

    /// Share of recorded laps in which each load of the tour is slow.
    [[nodiscard]] std::vector<double> miss_rates(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes);
    /// Share of laps in which each line misses, without what is known for an accident, in several random orders: a
    /// pseudo-LRU policy may keep a stranger for ever in one.
    [[nodiscard]] std::vector<double> miss_rates_in_random_orders(const Offsets& offsets, std::uint32_t warm,
                                                              std::uint32_t passes);
    /// By recorded load, whether it is slow.
    [[nodiscard]] std::vector<bool> misses(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes);
    struct Recorded {
        std::vector<bool> missed;
        std::vector<bool> outlier;          ///< slow, but not as slow as misses are: by outlier_score, whether or not it missed
        std::size_t segment_loads = 1;  ///< loads recorded without a break
    };
    [[nodiscard]] Recorded record(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes);

    /// Whether all lines of the tour come to stay. More lines than ways of a set miss at least once a lap whatever the
    /// policy, so one lap without a miss proves that they stay; and where misses neither end nor become fewer, they
    /// don't.
    [[nodiscard]] bool fits(const Offsets& offsets) { return fits(offsets, offsets.size(), 1); }
    /// The same, but where misses do not end, it is waited for longer. Trees of ways that are no power of two let the
    /// last lines in late, although many miss until then.
    [[nodiscard]] bool fits_eventually(const Offsets& offsets) {
        return fits(offsets, offsets.size(), 1, Patience::long_one);
    }
    /// Whether the first `watched` lines of a tour, one full set, stay although the others come by. One line more takes
    /// a way from one of them, which then misses in this lap or the next: two laps in a row without a miss prove that
    /// they stay.
    [[nodiscard]] bool first_lines_stay(const Offsets& offsets, std::size_t watched) { return fits(offsets, watched, 2); }
    /// Whether the first `watched` lines, of a set that has others in the tour too, go on missing: now and then, where
    /// others miss in between.
    [[nodiscard]] bool first_lines_stay_for_long(const Offsets& offsets, std::size_t watched) {
        return fits(offsets, watched, 16);
    }
    /// As fits(), for many small groups of lines (each one set's) walked in one tour.
    [[nodiscard]] std::vector<bool> groups_fit(std::vector<Offsets> groups);

    /// Share of hits that read slow by accident.
    [[nodiscard]] double outlier_rate();
    /// Share of hits that read as slow as misses are.
    [[nodiscard]] double miss_like_outlier_rate();
    /// Laps of a tour of so many loads whose majority is no accident: three where there are none.
    [[nodiscard]] std::uint32_t majority_passes(std::size_t loads);
    /// Laps after which groups of lines that stay have come to stay, with some to spare.
    [[nodiscard]] std::uint32_t settling_passes() const { return settling_passes_; }
    /// Some groups may not have come to stay yet.
    void settle_longer() { settling_passes_ = std::min(2 * settling_passes_, kMaxSettlingPasses); }
    /// As long as before.
    void wait_again(std::uint32_t settling) { settling_passes_ = settling; }
    /// Loads that may be spent from now on; then each question throws Exhausted.
    void allow(std::uint64_t loads) { most_loads_ = loads_ + loads; }
    [[nodiscard]] std::uint64_t loads() const { return loads_; }
    [[nodiscard]] std::uint64_t loads_left() const { return loads_ > most_loads_ ? 0 : most_loads_ - loads_; }
    /// Whether a nearer level hides lookups that are not far enough apart: then a tour may visit only few lines.
    [[nodiscard]] bool filtered() const { return question_.filtered || question_.probe_stride > question_.word; }
    [[nodiscard]] const CacheQuestion& question() const { return question_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }
    /// 0 .. count - 1
    [[nodiscard]] std::uint64_t draw(std::uint64_t count) { return random_() % count; }

private:
    enum class Patience { miss_latencies, long_one };
    [[nodiscard]] bool fits(const Offsets& offsets, std::size_t watched, std::uint32_t clean_passes,
                            Patience patience = Patience::miss_latencies);
    /// As many random orders of the lines as a line has words, and rounds are walked; which line each load of the tour
    /// visits.
    [[nodiscard]] std::pair<Offsets, std::vector<std::size_t>> in_orders(const Offsets& offsets, std::uint32_t rounds);
    /// Slow loads of the first `watched` lines in each of some rounds over all lines, in several orders.
    [[nodiscard]] std::vector<std::size_t> watch(const Offsets& offsets, std::size_t watched, std::uint32_t rounds,
                                                 bool without_outliers);
    /// Latencies of the first of `visits` loads of each line, one after the other.
    [[nodiscard]] ChaseTrace run_chase(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes, std::size_t visits);
    [[nodiscard]] Recorded sorted(const ChaseTrace& trace, const MissLatencies& miss_latencies) const;
    /// As misses(), without what is slower or faster than misses are, unless accidents do not explain that.
    [[nodiscard]] std::vector<bool> misses_without_outliers(const Offsets& offsets, std::uint32_t warm,
                                                            std::uint32_t passes);
    void look_at_hits();
    /// For tours so long that accidents leave hardly any lap without a slow load.
    [[nodiscard]] bool long_sequence_fits(const Offsets& offsets);

    static constexpr std::uint32_t kMaxSettlingPasses = 1024;
    const Chase& chase_;
    CacheQuestion question_;
    std::uint64_t origin_ = 0;
    std::uint64_t span_ = 0, reach_ = 0, piece_ = 0;
    std::mt19937_64 random_;
    std::uint64_t loads_ = 0, most_loads_ = ~std::uint64_t{0};
    std::size_t hits_ = 0;  ///< readings of a small array
    std::vector<double> slow_hits_;
    std::size_t visits_ = 1;  ///< of a line each time it comes
    MissLatencies miss_latencies_;       ///< of the sequence of which the largest share was slow
    double most_slow_ = 0.25;
    std::uint32_t settling_passes_ = 4;
};

}  // namespace gputomo::deduce::cache
