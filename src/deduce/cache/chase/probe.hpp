// Questions to a memory path about chosen lines: whether they are resident together, and which of them miss.
#pragma once

#include "deduce/cache/chase/chase_session.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace gputomo::deduce::cache {

/// Bytes from a probe's origin, one for each load of an access sequence.
using Offsets = std::vector<std::uint64_t>;

/// The smallest number of slow readings of one load, among `passes`, that outliers do not explain. They reach it in
/// fewer than `share_of_sequences` of all sequences of `loads` loads (tail of the Poisson distribution).
[[nodiscard]] int significant_count(double outlier_rate, std::uint32_t passes, std::size_t loads,
                                    double share_of_sequences = 0.01);

/// Asks a chase about lines and allows for outliers. A probe is an immutable view of one address window: which other
/// window to look at, or how to visit lines, is said by making another probe. Probes made from one another share their
/// session (loads, random numbers, what is known about outliers and misses).
class Probe {
public:
    /// The window is the largest aligned one that the buffer contains. `chase` must outlive all probes.
    Probe(const Chase& chase, const CacheQuestion& question);

    /// A window of `span` bytes (a power of two) that is aligned to its size, or the largest smaller one that the
    /// buffer contains. Searches for lines use its first `search_span` bytes: farther lines bring other limits into
    /// play, such as a TLB's.
    [[nodiscard]] Probe within_aligned(std::uint64_t span, std::uint64_t search_span) const;
    /// The whole buffer from its start, whose address need not be aligned: the XOR of two offsets may differ from the
    /// XOR of the addresses.
    [[nodiscard]] Probe over_whole_buffer() const;
    /// A sequence may then visit each line several times, each time at another word of the `bytes` that one miss fills.
    [[nodiscard]] Probe with_sector(std::uint64_t bytes) const;
    /// Two consecutive loads of each line where the cache evicts lines first that were used once (bimodal insertion).
    /// Lines then become resident as fast as under other policies, and a set too small for its lines loses all of them.
    /// The probe itself where a measurement shows no difference. record() always loads a line once.
    [[nodiscard]] Probe with_repeated_loads_if_needed() const;

    /// Bytes from the start of the buffer to offset 0.
    [[nodiscard]] std::uint64_t origin() const { return origin_; }
    /// Bytes of the window: offsets below it combine bit by bit as the addresses do.
    [[nodiscard]] std::uint64_t span() const { return span_; }
    /// Bytes from the origin in which lines are searched for; at most span().
    [[nodiscard]] std::uint64_t search_span() const { return search_span_; }
    /// Address of offset 0 as far as the question tells.
    [[nodiscard]] std::uint64_t address() const { return question().base + origin_; }
    [[nodiscard]] const CacheQuestion& question() const { return session_->question(); }
    /// An upper level filters lookups that are close together, so that a sequence may visit few lines only.
    [[nodiscard]] bool filtered() const { return question().filtered || question().probe_stride > question().word; }

    /// Share of the recorded passes in which each load of the sequence is slow.
    [[nodiscard]] std::vector<double> miss_rates(const Offsets& offsets, std::uint32_t warm,
                                                 std::uint32_t passes) const;
    /// Share of the passes in which each line misses, without known outliers, over several random orders of the lines.
    /// In a single order, a pseudo-LRU policy may keep a line that is not in the sequence for ever.
    [[nodiscard]] std::vector<double> miss_rates_in_random_orders(const Offsets& offsets, std::uint32_t warm,
                                                                  std::uint32_t passes) const;
    struct Recorded {
        std::vector<bool> missed;       ///< by load: it is slow
        std::vector<bool> outlier;      ///< by load: it is slow, but no miss takes that long; it may have missed or not
        std::size_t segment_loads = 1;  ///< loads recorded without a gap
    };
    [[nodiscard]] Recorded record(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) const;

    /// Whether all lines are resident together. More lines than the ways of a set miss at least once a pass under any
    /// policy, so one pass without a miss proves that they fit. Misses that neither end nor become fewer prove that
    /// they don't.
    [[nodiscard]] bool fits(const Offsets& offsets) const { return fits(offsets, offsets.size(), 1, Patience::usual); }
    /// As fits(), with a longer wait for misses to end. Trees whose number of ways is no power of two make their last
    /// lines resident late, although many lines miss until then.
    [[nodiscard]] bool fits_eventually(const Offsets& offsets) const {
        return fits(offsets, offsets.size(), 1, Patience::long_one);
    }
    /// Whether the first `watched` lines, which fill one set, stay resident although the others are loaded too. One
    /// more line of that set takes a way from one of them, which misses in this pass or the next. Two passes in a row
    /// without a miss prove that they stay.
    [[nodiscard]] bool first_lines_stay_resident(const Offsets& offsets, std::size_t watched) const {
        return fits(offsets, watched, 2, Patience::usual);
    }
    /// As first_lines_stay_resident(), where other lines of their set may miss most of the time: 16 passes in a row
    /// without a miss prove that the first ones stay.
    [[nodiscard]] bool first_lines_stay_resident_for_long(const Offsets& offsets, std::size_t watched) const {
        return fits(offsets, watched, 16, Patience::usual);
    }
    /// fits() for many small groups of lines, each of one set, in one access sequence.
    [[nodiscard]] std::vector<bool> groups_fit(std::vector<Offsets> groups) const;

    /// Share of hits that read slow.
    [[nodiscard]] double outlier_rate() const { return session_->outlier_rate(origin_); }
    /// Share of hits that read as slow as misses.
    [[nodiscard]] double miss_like_outlier_rate() const { return session_->miss_like_outlier_rate(origin_); }
    /// Passes, an odd number, of which a majority is hardly ever due to outliers in a sequence of `loads` loads.
    [[nodiscard]] std::uint32_t majority_passes(std::size_t loads) const;

    /// Passes after which groups of lines that fit are resident, with a margin.
    [[nodiscard]] std::uint32_t settling_passes() const { return session_->settling_passes(); }
    /// Doubles settling_passes(): groups that should be resident are not yet.
    void settle_longer() const;

    /// Loads executed so far, and those that the current budget has left.
    [[nodiscard]] std::uint64_t loads() const { return session_->loads(); }
    [[nodiscard]] std::uint64_t loads_left() const { return session_->loads_left(); }
    [[nodiscard]] std::mt19937_64& random() const { return session_->random(); }
    /// 0 .. count - 1
    [[nodiscard]] std::uint64_t draw(std::uint64_t count) const { return random()() % count; }

private:
    friend class LoadBudget;
    friend class SettlingTrial;
    enum class Patience { usual, long_one };

    [[nodiscard]] std::vector<bool> misses(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) const;
    /// As misses(), without slow loads that take another time than misses. These count as misses nevertheless if there
    /// are more of them than the outlier rate explains.
    [[nodiscard]] std::vector<bool> misses_without_outliers(const Offsets& offsets, std::uint32_t warm,
                                                            std::uint32_t passes) const;
    [[nodiscard]] Recorded classified(const ChaseTrace& trace, const MissLatencies& miss_latencies) const;
    /// Latencies of the first of `visits` consecutive loads of each line.
    [[nodiscard]] ChaseTrace run_chase(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes,
                                       std::size_t visits) const;
    [[nodiscard]] double misses_per_load(std::uint64_t bytes, std::uint64_t stride) const;

    [[nodiscard]] bool fits(const Offsets& offsets, std::size_t watched, std::uint32_t clean_passes,
                            Patience patience) const;
    /// fits() for sequences so long that outliers leave hardly any pass without a slow load.
    [[nodiscard]] bool long_sequence_fits(const Offsets& offsets) const;
    /// Lines in several random orders, one after the other, as one access sequence: one order for each word of a line,
    /// but at most `rounds`. The second element is the index of the line that each load visits.
    [[nodiscard]] std::pair<Offsets, std::vector<std::size_t>> in_orders(const Offsets& offsets,
                                                                         std::uint32_t rounds) const;
    /// Slow loads of the first `watched` lines in each of about `rounds` rounds over all lines.
    [[nodiscard]] std::vector<std::size_t> slow_by_round(const Offsets& offsets, std::size_t watched,
                                                         std::uint32_t rounds, bool without_outliers) const;
    /// Words of a line, each of which a sequence can visit once.
    [[nodiscard]] std::uint64_t words_of_line() const;

    std::shared_ptr<ChaseSession> session_;
    std::uint64_t origin_ = 0, span_ = 0, search_span_ = 0;  ///< bytes
    std::uint64_t sector_ = 0;                               ///< bytes that one miss fills; 0: not known
    std::size_t visits_ = 1;                                 ///< consecutive loads of a line
};

/// Limits the loads of a probe, and of all probes that share its session, to `loads` more while it lives. The limit
/// that held before returns at the end, whatever happened. An inner budget replaces the outer one: it may be larger.
class LoadBudget {
public:
    LoadBudget(const Probe& probe, std::uint64_t loads)
        : session_(probe.session_), limit_before_(session_->load_limit()) {
        session_->set_load_limit(session_->loads() + loads);
    }
    ~LoadBudget() { session_->set_load_limit(limit_before_); }
    LoadBudget(const LoadBudget&) = delete;
    LoadBudget& operator=(const LoadBudget&) = delete;

private:
    std::shared_ptr<ChaseSession> session_;
    std::uint64_t limit_before_;
};

/// Returns settling_passes() to its value before, unless keep() is called. Groups that do not fit because a hypothesis
/// is wrong are no reason to wait longer under the next one.
class SettlingTrial {
public:
    explicit SettlingTrial(const Probe& probe)
        : session_(probe.session_), passes_before_(session_->settling_passes()) {}
    ~SettlingTrial() {
        if (!kept_) session_->set_settling_passes(passes_before_);
    }
    SettlingTrial(const SettlingTrial&) = delete;
    SettlingTrial& operator=(const SettlingTrial&) = delete;
    void keep() { kept_ = true; }

private:
    std::shared_ptr<ChaseSession> session_;
    std::uint32_t passes_before_;
    bool kept_ = false;
};

}  // namespace gputomo::deduce::cache
