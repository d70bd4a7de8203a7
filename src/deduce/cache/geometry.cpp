#include "deduce/cache/geometry.hpp"

#include "deduce/cache/equal_sets.hpp"
#include "deduce/cache/growing_arrays.hpp"
#include "deduce/cache/line.hpp"
#include "deduce/cache/policy.hpp"
#include "deduce/cache/sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

namespace gputomo::deduce {
namespace {

using namespace cache;

/// Lines of one set are looked for in so many times the smallest array that overflows, and checked in as much or all of
/// the memory. Far more room may bring other limits into play, such as a TLB's; less may not hold enough lines of one
/// set.
struct Room {
    std::uint64_t reach = 0;
    bool everywhere = false;
};
constexpr Room kRooms[] = {{8, true}, {8, false}, {32, true}, {4, false}};
/// Loads that walks through arrays are worth where there are other ways.
constexpr std::uint64_t kArrayLoads = std::uint64_t{24} << 20;
/// More than the walks for the policy take.
constexpr std::uint64_t kPolicyLoads = std::uint64_t{4} << 20;
/// And for whether all tags have data: laps that are counted, and the part of the lines too many that misses in each at
/// least.
constexpr std::uint64_t kDataLoads = std::uint64_t{4} << 20;
constexpr std::uint32_t kDataPasses = 16;
constexpr double kDataShare = 0.5, kSigmas = 5;
/// Full sets with so much of the data that stays have room for all of theirs. Where more than this part misses there
/// too, sets don't come to rest.
constexpr double kDataRoom = 0.5, kRestless = 0.1;
/// Parts of the loads for group tests, one or two for each way to a first set. As many again check what walks through
/// arrays found.
constexpr std::uint64_t kShares = 4;
/// Part of the loads that each room but the first gets.
constexpr std::uint64_t kLaterRooms = 2;
/// A set is not found with fewer walks through as much as the cache holds.
constexpr std::uint64_t kMinTests = 32;
/// Of a cache's lines, this share at random places is tried for one overfull set.
constexpr double kScatteredShare = 0.75;
/// More lines than this are not tried together.
constexpr std::uint64_t kMaxTogether = 1 << 14;
/// Longest line, as a multiple of what one miss fills.
constexpr std::uint64_t kMaxSectors = 64;
/// A geometry that predicts a smaller share of the trials is not the cache's.
constexpr double kPredicts = 0.9;
/// Confidence of a geometry where nothing can be predicted, and of a number that is only known to lie in an interval.
constexpr double kUnpredicted = 0.95, kOpen = 0.5;

class GeometryDeduction {
public:
    GeometryDeduction(const Chase& chase, const CacheQuestion& question) : probe_(chase, question), q_(probe_.question()) {}

    CacheFindings run() {
        Bracket capacity{q_.fits, q_.overflows};
        try {
            if (find_sector_size() && !explain(capacity)) leave_open(capacity);
        } catch (const BudgetExhausted& exception) {
            remark(exception.what());
            if (found_.capacity.value == 0) leave_open(capacity);
        }
        return std::move(found_);
    }

private:
    bool remark(std::string text) {
        if (std::find(found_.remarks.begin(), found_.remarks.end(), text) == found_.remarks.end())
            found_.remarks.push_back(std::move(text));
        return false;
    }
    [[nodiscard]] std::uint64_t step() const { return std::max(sector_, q_.probe_stride); }

    /// `capacity`: what is known of it where nothing explains the sets.
    bool explain(Bracket& capacity) {
        probe_.look_everywhere();
        probe_.visit_twice_if_that_matters();
        if (!probe_.filtered()) probe_.allow(kArrayLoads);
        const auto equal_sets = find_equal_sets(probe_, sector_);
        if (!probe_.filtered()) probe_.allow(q_.group_test_loads);
        if (!equal_sets.sets) {
            capacity = equal_sets.capacity;
            remark(equal_sets.why);
        }
        if (probe_.filtered()) return explain_by_growing(equal_sets);
        array_ = equal_sets.capacity;
        group_tests_end_ = probe_.loads() + q_.group_test_loads;
        if (equal_sets.sets && within(q_.group_test_loads, [&] { return explain_equal_sets(*equal_sets.sets); }))
            return true;
        group_tests_end_ = probe_.loads() + q_.group_test_loads;
        return explain_any_sets();
    }

    /// Whether `explains` does, for so many loads at most of those that are left.
    template <class Explains>
    bool within(std::uint64_t loads, Explains explains) {
        if (probe_.loads() >= group_tests_end_) return false;
        probe_.allow(std::min(loads, group_tests_end_ - probe_.loads()));
        // What does not stay because it is explained wrongly is no reason to wait longer for the next explanation.
        const auto settling = probe_.settling_passes();
        bool explained = false;
        try {
            explained = explains();
        } catch (const BudgetExhausted& exception) {
            remark(exception.what());
        }
        if (!explained) probe_.wait_again(settling);
        return explained;
    }

    /// Where tours must be whole arrays: sets of any size and order; equal ones stay as they were found.
    bool explain_by_growing(const EqualSetsResult& equal_sets) {
        const auto& equal = equal_sets.sets;
        const std::uint64_t line = equal ? equal->line : step();
        const auto growing =
            find_sets_by_growing_arrays(probe_, line, equal ? equal->sets * equal->ways * line : equal_sets.capacity.fits);
        if (!growing.found) return equal ? explain_equal_sets(*equal) : remark(growing.why);
        const auto ways = growing.found->ways();
        if (equal && ways == std::vector<std::uint64_t>(equal->sets, equal->ways)) return explain_equal_sets(*equal);
        decide_size(line, ways, growing.found->trials.confidence());
        decide_policy(growing.found->sets.front(), growing.found->filler());
        return true;
    }

    void leave_open(const Bracket& capacity) {
        const auto least = static_cast<std::int64_t>(capacity.fits);
        found_.capacity = {least, least == 0 ? 0 : kOpen, {least, static_cast<std::int64_t>(capacity.overflows)}, {}};
    }

    bool find_sector_size() {
        const auto sector = find_sector(probe_);
        sector_ = sector.bytes;
        if (sector_ == 0) return remark("no misses where eviction was expected");
        if (sector.agreement > 0) probe_.set_piece(sector_);
        const auto bytes = static_cast<std::int64_t>(sector_);
        found_.sector = {sector.agreement > 0 ? bytes : 0,
                         sector.agreement,
                         {bytes, sector.agreement > 0 ? bytes : static_cast<std::int64_t>(q_.overflows)},
                         {}};
        return true;
    }

    /// Half the largest array that it serves, since a hash or neighbours may use its sets unevenly, to the smallest
    /// that it does not.
    [[nodiscard]] bool is_of_this_level(std::uint64_t capacity) const {
        return capacity >= q_.fits / 2 && capacity <= q_.overflows;
    }

    /// Behind a nearer level, only groups of all sets at once can be predicted: what has to come between those of a few
    /// would take their ways.
    bool explain_equal_sets(const EqualSets& sets) {
        if (probe_.filtered() && !is_of_this_level(sets.sets * sets.ways * sets.line))
            return remark(fmt::format("{} sets of {} lines of {} bytes are not the size of this level", sets.sets,
                                      sets.ways, sets.line));
        const auto index = Index::modulo(sets.sets, sets.line, probe_.address(), probe_.span());
        if (!probe_.filtered() && index.lines_in_span() > sets.ways) return predicts(index, sets.ways);
        // Lines that the chase itself takes leave some sets less room.
        const auto trials =
            probe_.filtered() && q_.code_bytes == 0 ? predict_groups_of_all_sets(probe_, index, sets.ways) : Trials{};
        if (trials.made > 0 && trials.share() < kPredicts)
            return remark(fmt::format("{} sets of {} lines of {} bytes predict {} of {} groups of lines", sets.sets,
                                      sets.ways, sets.line, trials.agreed, trials.made));
        const std::vector<std::uint64_t> ways(sets.sets, sets.ways);
        decide(index, ways, trials.made > 0 ? std::min(kUnpredicted, trials.confidence()) : kUnpredicted);
        find_policy_of(index, ways);
        return true;
    }

    bool explain_any_sets() {
        const std::uint64_t pieces = q_.overflows / step();
        if (pieces * kMinTests > q_.group_test_loads)
            return remark(fmt::format(
                "to search {} pieces of {} bytes for those of one set would take more loads than one level gets",
                pieces, step()));
        for (const auto& room : kRooms) {
            const std::uint64_t reach = std::bit_ceil(q_.overflows) * room.reach, all = std::bit_floor(q_.buffer_bytes);
            if (!room.everywhere && reach >= all) continue;
            probe_.move_origin(room.everywhere ? all : reach);
            probe_.stay_within(reach);
            if (explain_any_sets_in_room(pieces)) return true;
            // What misled the search in one room may have spent its loads.
            group_tests_end_ = probe_.loads() + q_.group_test_loads / kLaterRooms;
        }
        return false;
    }

    /// Random lines are the cheapest way to sets of a few ways, and lines in a row to large ones of unequal size.
    bool explain_any_sets_in_room(std::uint64_t pieces) {
        const auto most = static_cast<std::uint64_t>(kScatteredShare * static_cast<double>(pieces));
        const std::uint64_t share = q_.group_test_loads / kShares;
        return within(share, [&] { return explain_set(find_eviction_set_at_random(probe_, step(), most)); }) ||
               within(share, [&] { return explain_set(find_eviction_set_in_array(probe_, step(), array_.fits)); }) ||
               within(2 * share, [&] { return explain_set(find_eviction_set(probe_, step())); });
    }

    /// One set, its line, and the index.
    bool explain_set(const std::optional<EvictionSet>& eviction_set) {
        if (!eviction_set) return remark("no group of lines shows a set");
        const std::uint64_t least = q_.probe_stride > q_.word ? q_.word : sector_;
        const std::uint64_t line =
            find_line(probe_, *eviction_set, least, std::min(step() * kMaxSectors, std::max(step(), q_.overflows)));
        if (line == 0)
            return remark(fmt::format("{} lines overflow together, and so do their neighbours: this is no set of lines",
                                      eviction_set->lines.size()));
        const auto index = find_index(probe_, *eviction_set, line);
        if (!index)
            return remark(
                fmt::format("a set of {} lines of {} bytes; neither a modulus nor XORs of address bits explain which "
                            "lines share it",
                            eviction_set->ways(), line));
        // What is this far explained is worth to be checked, whatever the way to it took.
        probe_.allow(std::max(probe_.loads_left(), q_.group_test_loads / kShares));
        return predicts(*index, eviction_set->ways());
    }

    /// The ways of all sets, and whether that predicts what other lines do.
    bool predicts(const Index& index, std::uint64_t expected) {
        auto ways = find_set_ways(probe_, index, expected).ways;
        if (ways.empty())
            return remark(
                fmt::format("sets differ from the one of {} lines of {} bytes that was found first, and there are too "
                            "many to measure",
                            expected, index.line()));
        const auto trials = predict_groups(probe_, index, ways);
        const std::uint64_t capacity = std::accumulate(ways.begin(), ways.end(), std::uint64_t{0}) * index.line();
        const std::string picture = fmt::format("{} sets of up to {} lines of {} bytes", index.sets(),
                                                *std::max_element(ways.begin(), ways.end()), index.line());
        if (trials.share() < kPredicts)
            return remark(fmt::format("{} predict {} of {} groups of lines", picture, trials.agreed, trials.made));
        const bool more_tags = lacks_data(index, ways);
        if (!is_of_this_level(capacity) && !(more_tags && capacity > q_.overflows))
            return remark(fmt::format("{} are not the size of this level", picture));
        decide(index, ways, trials.confidence());
        if (more_tags) decide_data(picture, trials.confidence());
        find_policy_of(index, ways);
        return true;
    }

    /// The chase's own lines are one after the other: of each set as many, and of some one more, which then seem to
    /// have a way less.
    [[nodiscard]] std::vector<std::uint64_t> with_occupied_lines(std::vector<std::uint64_t> ways,
                                                                 std::uint64_t line) const {
        if (q_.code_bytes == 0) return ways;
        const auto most = *std::max_element(ways.begin(), ways.end());
        for (auto& w : ways) w += (w + 1 == most ? 1 : 0) + (q_.code_bytes + line - 1) / line / ways.size();
        return ways;
    }

    /// `ways` of each set.
    void decide_size(std::uint64_t line, const std::vector<std::uint64_t>& ways, double confidence) {
        const auto exact = [&](std::uint64_t v) {
            const auto value = static_cast<std::int64_t>(v);
            return Finding{value, confidence, {value, value}, {}};
        };
        const auto described = with_occupied_lines(ways, line);
        const auto [least, most] = std::ranges::minmax_element(described);
        found_.line = exact(line);
        found_.sets = exact(described.size());
        found_.ways = exact(*most);
        found_.capacity = exact(std::accumulate(described.begin(), described.end(), std::uint64_t{0}) * line);
        if (*least != *most) found_.set_ways.assign(described.begin(), described.end());
    }

    /// Whether an array overflows that leaves no set more lines than it has ways, and of all sets full of lines about
    /// as many miss in each lap as are more than that array's, but hardly any of some full sets that all data has room
    /// for: then data is kept of fewer lines than there are tags. Sets that never come to rest when full, as some trees
    /// don't, miss however few they are.
    bool lacks_data(const Index& index, const std::vector<std::uint64_t>& ways) {
        const std::uint64_t most = std::ranges::max(ways);
        const std::uint64_t tags = ways.size() * most;
        if (array_.overflow == 0 || std::ranges::min(ways) != most || array_.overflow >= tags * index.line() ||
            tags > kMaxTogether)
            return false;
        if (std::ranges::max(lines_by_set(index, array_.overflow, ways.size())) > most) return false;
        const double beyond =
            static_cast<double>(tags) - static_cast<double>(array_.overflow) / static_cast<double>(index.line());
        const std::uint64_t kept = array_.fits / index.line();
        const auto roomy = static_cast<std::uint64_t>(kDataRoom * static_cast<double>(kept)) / most;
        // Beside what the search for sets was allowed, which may be spent.
        group_tests_end_ = std::max(group_tests_end_, probe_.loads() + 2 * kDataLoads);
        return within(2 * kDataLoads, [&] {
            return full_sets_miss(index, ways.size(), most, kDataShare * beyond) &&
                   !full_sets_miss(index, roomy, most, kRestless * beyond);
        });
    }

    /// Whether of `chosen` sets, full of `ways` lines each, more than their part of `missing` lines miss in each lap,
    /// `missing` being that of all sets.
    bool full_sets_miss(const Index& index, std::uint64_t chosen, std::uint64_t ways, double missing) {
        Offsets lines;
        for (std::uint64_t i = 0; i < chosen; ++i)
            for (std::uint64_t way = 0; way < ways; ++way)
                lines.push_back(index.line_of(i * index.sets() / chosen, way));
        if (lines.empty()) return false;
        const auto rates =
            probe_.miss_rates_in_random_orders(lines, static_cast<std::uint32_t>(kDataLoads / 4 / lines.size()), kDataPasses);
        const double outliers = probe_.miss_like_outlier_rate() * static_cast<double>(lines.size());
        const double part = static_cast<double>(chosen) / static_cast<double>(index.sets());
        return std::accumulate(rates.begin(), rates.end(), 0.0) >
               outliers + kSigmas * std::sqrt(outliers / kDataPasses) + part * missing;
    }

    /// Of an array of so many bytes.
    [[nodiscard]] std::vector<std::uint64_t> lines_by_set(const Index& index, std::uint64_t bytes,
                                                          std::size_t sets) const {
        std::vector<std::uint64_t> lines(sets, 0);
        for (std::uint64_t at = 0; at < bytes; at += index.line()) ++lines[index.set_of(q_.base + at)];
        return lines;
    }

    void decide_data(const std::string& picture, double confidence) {
        const auto fits = static_cast<std::int64_t>(array_.fits);
        found_.capacity = {fits, confidence, {fits, static_cast<std::int64_t>(array_.overflow) - 1}, {}};
        remark(fmt::format("{} have tags for more than stays: an array of {} bytes does, one of {} does not", picture,
                           fits, array_.overflow));
    }

    void decide(const Index& index, const std::vector<std::uint64_t>& ways, double confidence) {
        decide_size(index.line(), ways, confidence);
        found_.index = index.name();
        for (const auto mask : index.masks()) {
            if (found_.index == "bits") found_.index_bits.push_back(std::countr_zero(mask));
            if (found_.index == "hash") found_.index_hash.push_back(static_cast<std::int64_t>(mask));
        }
    }

    void find_policy_of(const Index& index, const std::vector<std::uint64_t>& ways) {
        const auto largest = std::ranges::max_element(ways);
        if (index.lines_in_span() <= *largest) {
            remark("too few lines of a set are in reach: the policy is not determined");
            return;
        }
        Offsets lines;
        for (std::uint64_t i = 0; i <= *largest; ++i)
            lines.push_back(index.line_of(static_cast<std::uint64_t>(largest - ways.begin()), i));
        decide_policy(lines);
    }

    /// `lines`: of one set, one more than it has ways; `company`: lines of other sets, which stay.
    void decide_policy(const Offsets& lines, const Offsets& filler = {}) {
        const std::uint64_t piece = std::min(static_cast<std::uint64_t>(found_.line.value), sector_);
        if (lines.size() < 3) return;
        probe_.allow(kPolicyLoads);
        if (piece / q_.word < 2) {
            remark("a line is too short to be visited twice in a sequence: the policy is not determined");
            return;
        }
        found_.policy = find_policy(probe_, lines, filler, piece);
        // Lines that are used with each load change the order of all policies but LRU, which never has to replace them.
        if (static_cast<std::int64_t>(lines.size()) <= found_.ways.value && found_.policy.name != "lru") {
            found_.policy = {};
            remark("the chase's own code is in every set: the policy is not determined");
        }
        if (!found_.policy.evidence.empty()) remark(found_.policy.evidence);
    }

    Probe probe_;
    const CacheQuestion& q_;
    CacheFindings found_;
    std::uint64_t sector_ = 0;
    Bracket array_;                      ///< what walks through arrays showed
    std::uint64_t group_tests_end_ = 0;  ///< count of loads after which no more are tried
};

}  // namespace

CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question) {
    return GeometryDeduction(chase, question).run();
}

}  // namespace gputomo::deduce
