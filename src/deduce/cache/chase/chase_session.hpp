// One deduction's use of a chase: it counts loads against a budget and learns how outliers and misses read.
#pragma once

#include "deduce/cache/chase/chase.hpp"
#include "deduce/cache/chase/miss_latencies.hpp"
#include "deduce/cache/chase/question.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace gputomo::deduce::cache {

/// The next access sequence would take more loads than the budget has left.
struct BudgetExhausted : std::runtime_error {
    BudgetExhausted()
        : std::runtime_error("the load budget of this level was spent before its whole geometry was found") {}
};

/// What all probes of one deduction share. It changes with each access sequence, in ways that only make later answers
/// cheaper or surer.
class ChaseSession {
public:
    /// `chase` must outlive the session.
    ChaseSession(const Chase& chase, const CacheQuestion& question);

    /// Runs the chase and keeps the latency of every `keep_every`-th load. Throws BudgetExhausted where the loads do
    /// not fit in the budget; then no load was executed.
    [[nodiscard]] ChaseTrace run(const ChaseRequest& request, std::size_t keep_every = 1);

    [[nodiscard]] const CacheQuestion& question() const { return question_; }
    [[nodiscard]] std::mt19937_64& random() { return random_; }

    /// Loads executed so far.
    [[nodiscard]] std::uint64_t loads() const { return loads_; }
    /// Value of loads() that no access sequence may exceed.
    [[nodiscard]] std::uint64_t load_limit() const { return load_limit_; }
    void set_load_limit(std::uint64_t loads) { load_limit_ = loads; }
    [[nodiscard]] std::uint64_t loads_left() const { return loads_ > load_limit_ ? 0 : load_limit_ - loads_; }

    /// Latencies of misses, from the access sequence with the largest share of slow loads so far.
    [[nodiscard]] const MissLatencies& miss_latencies() const { return miss_latencies_; }
    /// Share of hits that read slow. The first call measures a small array from `origin` (bytes) on.
    [[nodiscard]] double outlier_rate(std::uint64_t origin);
    /// Share of hits whose latency looks like a miss.
    [[nodiscard]] double miss_like_outlier_rate(std::uint64_t origin);
    /// Outliers that outlier_rate() rests on.
    [[nodiscard]] std::size_t outliers_seen() const { return slow_hits_.size(); }

    /// A larger value of settling_passes() is cut to this, so that one slow group does not slow down all later tests.
    static constexpr std::uint32_t kMaxSettlingPasses = 1024;
    /// Passes after which groups of lines that fit are resident, with a margin.
    [[nodiscard]] std::uint32_t settling_passes() const { return settling_passes_; }
    void set_settling_passes(std::uint32_t passes) { settling_passes_ = passes; }

private:
    void measure_hits(std::uint64_t origin);

    const Chase& chase_;
    CacheQuestion question_;
    std::mt19937_64 random_;
    std::uint64_t loads_ = 0, load_limit_ = ~std::uint64_t{0};
    std::size_t hits_ = 0;           ///< readings of the small array; 0: not measured yet
    std::vector<double> slow_hits_;  ///< cycles; those of them that are above the threshold
    MissLatencies miss_latencies_;
    double most_slow_;  ///< share of slow loads that miss_latencies_ was learnt from
    std::uint32_t settling_passes_;
};

}  // namespace gputomo::deduce::cache
