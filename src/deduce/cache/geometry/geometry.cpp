#include "deduce/cache/geometry/geometry.hpp"

#include "deduce/cache/arrays/equal_sets.hpp"
#include "deduce/cache/geometry/geometry_findings.hpp"
#include "deduce/cache/geometry/geometry_policy.hpp"
#include "deduce/cache/geometry/search_spaces.hpp"
#include "deduce/cache/sets/growing_arrays.hpp"
#include "deduce/cache/sets/line.hpp"
#include "deduce/cache/sets/sets.hpp"
#include "deduce/cache/sets/tags_and_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace gputomo::deduce {
namespace {

using namespace cache;

/// Loads for equal sets where an eviction-set search can follow; a GPU takes about 12 s for them. Without that
/// alternative their loads are not limited.
constexpr std::uint64_t kArrayLoads = std::uint64_t{24} << 20;
/// The load budget of the eviction-set search is split in four: one share each for random lines and for arrays, two for
/// lines at equal distances. An equal budget verifies the sets that arrays showed.
constexpr std::uint64_t kShares = 4;
/// Each search space but the first gets the load budget divided by this: a search that was misled in one space may have
/// spent all of it.
constexpr std::uint64_t kLaterSpaces = 2;
/// The search for an eviction set needs a budget of at least this many passes over as many pieces as the cache holds.
/// With less it does not start, because it would find none.
constexpr std::uint64_t kMinTests = 32;
/// This share of the cache's lines, at random places, almost surely overfills one of its sets. More lines overfill
/// several sets at once, which makes one of them harder to isolate.
constexpr double kScatteredShare = 0.75;
/// Longest line tried, as a multiple of the sector: a chosen bound. A cache with longer lines stays undetermined.
constexpr std::uint64_t kMaxSectors = 64;
/// A geometry that predicts a smaller share of the unseen groups is not reported.
constexpr double kPredicts = 0.9;
/// Confidence of a geometry that could not be tested on unseen groups.
constexpr double kUnpredicted = 0.95;

class GeometryDeduction {
public:
    GeometryDeduction(const Chase& chase, const CacheQuestion& question)
        : first_probe_(chase, question), q_(first_probe_.question()) {}

    CacheFindings run() {
        Bracket capacity{.fits = q_.fits, .overflows = q_.overflows};
        try {
            const auto sector = find_sector(first_probe_);
            sector_ = sector.bytes;
            if (write_sector(found_, q_, sector)) {
                const Probe probe = sector.agreement > 0 ? first_probe_.with_sector(sector_) : first_probe_;
                if (!explain(probe.over_whole_buffer().with_repeated_loads_if_needed(), capacity))
                    write_bracket(found_, capacity);
            }
        } catch (const BudgetExhausted& exception) {
            remark(exception.what());
            if (found_.capacity.value == 0) write_bracket(found_, capacity);
        }
        return std::move(found_);
    }

private:
    /// Always false, so that a failing step can return it.
    bool remark(std::string text) { return add_remark(found_, std::move(text)); }
    [[nodiscard]] std::uint64_t step() const { return std::max(sector_, q_.probe_stride); }

    /// Whether the sets are explained. Else `capacity` becomes what is known about it.
    bool explain(const Probe& probe, Bracket& capacity) {
        const auto equal_sets = find_sets_in_arrays(probe);
        if (!equal_sets.sets) {
            capacity = equal_sets.capacity;
            remark(equal_sets.why);
        }
        if (probe.filtered()) return explain_by_growing_arrays(probe, equal_sets);
        array_ = equal_sets.capacity;
        search_end_ = probe.loads() + q_.group_test_loads;
        if (equal_sets.sets &&
            within(probe, q_.group_test_loads, [&] { return explain_equal_sets(probe, *equal_sets.sets); }))
            return true;
        search_end_ = probe.loads() + q_.group_test_loads;
        return explain_any_sets(probe);
    }

    EqualSetsResult find_sets_in_arrays(const Probe& probe) {
        std::optional<LoadBudget> budget;
        if (!probe.filtered()) budget.emplace(probe, kArrayLoads);
        return find_equal_sets(probe, sector_);
    }

    /// Whether `explains` succeeds with at most `loads` of the loads that the search has left.
    template <class Explains>
    bool within(const Probe& probe, std::uint64_t loads, Explains explains) {
        if (probe.loads() >= search_end_) return false;
        const LoadBudget budget(probe, std::min(loads, search_end_ - probe.loads()));
        SettlingTrial settling(probe);
        try {
            if (!explains()) return false;
        } catch (const BudgetExhausted& exception) {
            return remark(exception.what());
        }
        settling.keep();
        return true;
    }

    /// Explains sets of any size in any order where access sequences must be whole arrays. Equal sets keep their
    /// earlier result where the growing arrays agree with it.
    bool explain_by_growing_arrays(const Probe& probe, const EqualSetsResult& equal_sets) {
        const auto& equal = equal_sets.sets;
        const std::uint64_t line = equal ? equal->line : step();
        const auto growing = find_sets_by_growing_arrays(
            probe, line, equal ? equal->sets * equal->ways * line : equal_sets.capacity.fits);
        if (!growing.found) return equal ? explain_equal_sets(probe, *equal) : remark(growing.why);
        const auto ways = growing.found->ways();
        if (equal && ways == std::vector<std::uint64_t>(equal->sets, equal->ways))
            return explain_equal_sets(probe, *equal);
        write_size(found_, q_, line, ways, growing.found->trials.confidence());
        write_policy(found_, probe, {growing.found->sets.front(), growing.found->filler(), sector_});
        return true;
    }

    /// The range is from half the largest array that this level serves to the smallest that it does not. A hash or
    /// other lines may use the sets unevenly, hence the half.
    [[nodiscard]] bool is_of_this_level(std::uint64_t capacity) const {
        return capacity >= q_.fits / 2 && capacity <= q_.overflows;
    }
    bool remark_wrong_size(const std::string& sets) {
        return remark(fmt::format("{} do not fit this level, which holds between {} and {} bytes", sets, q_.fits / 2,
                                  q_.overflows));
    }

    /// Where an upper level filters lookups, each prediction covers groups of all sets. With groups of a few sets only,
    /// filler lines would lie in between and take ways of these sets.
    bool explain_equal_sets(const Probe& probe, const EqualSets& sets) {
        const auto description = fmt::format("{} sets of {} lines of {} bytes", sets.sets, sets.ways, sets.line);
        if (probe.filtered() && !is_of_this_level(sets.sets * sets.ways * sets.line))
            return remark_wrong_size(description);
        const auto index = Index::modulo(sets.sets, sets.line, probe.address(), probe.span());
        if (!probe.filtered() && index.lines_in_span() > sets.ways) return predicts(probe, index, sets.ways);
        // The chase's own lines leave some sets fewer ways, so that no prediction holds for all sets.
        const auto trials =
            probe.filtered() && q_.code_bytes == 0 ? predict_groups_of_all_sets(probe, index, sets.ways) : Trials{};
        if (trials.made > 0 && trials.share() < kPredicts) return remark_unpredicted(description, trials);
        const std::vector<std::uint64_t> ways(sets.sets, sets.ways);
        decide(index, ways, trials.made > 0 ? std::min(kUnpredicted, trials.confidence()) : kUnpredicted);
        write_policy(found_, probe, {lines_of_largest_set(index, ways, found_), {}, sector_});
        return true;
    }
    bool remark_unpredicted(const std::string& sets, const Trials& trials) {
        return remark(fmt::format("{} predict only {} of {} unseen groups of lines", sets, trials.agreed, trials.made));
    }

    bool explain_any_sets(const Probe& probe) {
        const std::uint64_t pieces = q_.overflows / step();
        if (pieces * kMinTests > q_.group_test_loads)
            return remark(fmt::format("{} pieces of {} bytes are too many to search for an eviction set with {} loads",
                                      pieces, step(), q_.group_test_loads));
        for (const auto& space : search_spaces(q_)) {
            if (explain_any_sets_in(probe.within_aligned(space.window, space.search), pieces)) return true;
            search_end_ = probe.loads() + q_.group_test_loads / kLaterSpaces;
        }
        return false;
    }

    /// Random lines are the cheapest way to sets of a few ways, contiguous lines to large sets of unequal size.
    bool explain_any_sets_in(const Probe& probe, std::uint64_t pieces) {
        const auto most = static_cast<std::uint64_t>(kScatteredShare * static_cast<double>(pieces));
        const std::uint64_t share = q_.group_test_loads / kShares;
        const auto at_random = [&] { return explain_set(probe, find_eviction_set_at_random(probe, step(), most)); };
        const auto in_array = [&] {
            return explain_set(probe, find_eviction_set_in_array(probe, step(), array_.fits));
        };
        const auto by_distance = [&] { return explain_set(probe, find_eviction_set(probe, step())); };
        return within(probe, share, at_random) || within(probe, share, in_array) ||
               within(probe, 2 * share, by_distance);
    }

    /// Finds the line, the index and all sets from one eviction set.
    bool explain_set(const Probe& probe, const std::optional<EvictionSet>& eviction_set) {
        if (!eviction_set) return remark("no eviction set was found");
        const std::uint64_t least = q_.probe_stride > q_.word ? q_.word : sector_;
        const std::uint64_t line =
            find_line(probe, *eviction_set, least, std::min(step() * kMaxSectors, std::max(step(), q_.overflows)));
        if (line == 0)
            return remark(
                fmt::format("an eviction set of {} lines still overflows when its lines are replaced by "
                            "their neighbours: it is no set of lines",
                            eviction_set->lines.size()));
        const auto index = find_index(probe, *eviction_set, line);
        if (!index)
            return remark(
                fmt::format("neither a modulus nor XORs of address bits explain which lines share a set of "
                            "{} lines of {} bytes",
                            eviction_set->ways(), line));
        // Verification has a budget of its own, however many loads the search took: the index is explained already.
        const LoadBudget budget(probe, std::max(probe.loads_left(), q_.group_test_loads / kShares));
        return predicts(probe, *index, eviction_set->ways());
    }

    /// Finds the ways of all sets, and tests whether they predict the hits and misses of other lines.
    bool predicts(const Probe& probe, const Index& index, std::uint64_t expected) {
        auto ways = find_set_ways(probe, index, expected).ways;
        if (ways.empty())
            return remark(
                fmt::format("other sets differ from the first one, of {} lines of {} bytes, and are too many "
                            "to measure",
                            expected, index.line()));
        const auto trials = predict_groups(probe, index, ways);
        const std::uint64_t capacity = std::accumulate(ways.begin(), ways.end(), std::uint64_t{0}) * index.line();
        const std::string description = fmt::format("{} sets of up to {} lines of {} bytes", index.sets(),
                                                    *std::max_element(ways.begin(), ways.end()), index.line());
        if (trials.share() < kPredicts) return remark_unpredicted(description, trials);
        const bool more_tags = lacks_data(probe, index, ways);
        if (!is_of_this_level(capacity) && !(more_tags && capacity > q_.overflows))
            return remark_wrong_size(description);
        decide(index, ways, trials.confidence());
        if (more_tags) write_data(found_, array_, description, trials.confidence());
        write_policy(found_, probe, {lines_of_largest_set(index, ways, found_), {}, sector_});
        return true;
    }

    /// Whether data is kept for fewer lines than there are tags. Its loads come on top of the search's, which may be
    /// spent.
    bool lacks_data(const Probe& probe, const Index& index, const std::vector<std::uint64_t>& ways) {
        if (!overflows_before_sets_do(index, ways, array_, q_.base)) return false;
        search_end_ = std::max(search_end_, probe.loads() + kDataLoads);
        return within(probe, kDataLoads, [&] { return full_sets_lack_data(probe, index, ways, array_); });
    }

    void decide(const Index& index, const std::vector<std::uint64_t>& ways, double confidence) {
        write_size(found_, q_, index.line(), ways, confidence);
        write_index(found_, index);
    }

    const Probe first_probe_;
    const CacheQuestion& q_;
    CacheFindings found_;
    std::uint64_t sector_ = 0;      ///< bytes that one miss fills
    Bracket array_;                 ///< sizes of contiguous arrays that fit and that overflow
    std::uint64_t search_end_ = 0;  ///< value of Probe::loads() after which the search starts no further attempt
};

}  // namespace

CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question) {
    return GeometryDeduction(chase, question).run();
}

}  // namespace gputomo::deduce
