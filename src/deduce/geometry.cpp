#include "deduce/geometry.hpp"

#include "deduce/geometry/contiguous.hpp"
#include "deduce/geometry/line.hpp"
#include "deduce/geometry/policy.hpp"
#include "deduce/geometry/sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>

namespace gputomo::deduce {
namespace {

using namespace geometry;

/// Lines of one set are looked for in so many times the smallest array that overflows, and checked in as much or all of the memory.
/// Far more room may bring other limits into play, such as a TLB's; less may not hold enough lines of one set.
struct Room {
    std::uint64_t reach = 0;
    bool everywhere = false;
};
constexpr Room kRooms[] = {{8, true}, {8, false}, {32, true}, {4, false}};
/// Loads that walks through arrays are worth where there are other ways.
constexpr std::uint64_t kContiguousLoads = std::uint64_t{24} << 20;
/// Longest line, as a multiple of what one miss fills.
constexpr std::uint64_t kMostSectors = 64;
/// A geometry that predicts a smaller share of the trials is not the cache's.
constexpr double kPredicts = 0.9;
/// Confidence of a geometry where nothing can be predicted, and of a number that is only known to lie in an interval.
constexpr double kUnpredicted = 0.95, kOpen = 0.5;

class Geometer {
public:
    Geometer(const Chase& chase, const CacheQuestion& question) : probe_(chase, question), q_(probe_.question()) {}

    CacheFindings run() {
        Bracket capacity{q_.fits, q_.overflows};
        try {
            if (find_piece() && !explain(capacity)) leave_open(capacity);
        } catch (const Exhausted& exhausted) {
            remark(exhausted.what());
            if (found_.capacity.value == 0) leave_open(capacity);
        }
        return std::move(found_);
    }

private:
    bool remark(std::string text) {
        if (std::find(found_.remarks.begin(), found_.remarks.end(), text) == found_.remarks.end()) found_.remarks.push_back(std::move(text));
        return false;
    }
    [[nodiscard]] std::uint64_t step() const { return std::max(sector_, q_.visible); }

    /// `capacity`: what is known of it where nothing explains the sets.
    bool explain(Bracket& capacity) {
        probe_.look_everywhere();
        if (!probe_.hidden()) probe_.allow(kContiguousLoads);
        const auto contiguous = find_contiguous(probe_, sector_);
        if (!probe_.hidden()) probe_.allow(q_.group_test_loads);
        if (contiguous.sets && explain_equal_sets(*contiguous.sets)) return true;
        if (!contiguous.sets) {
            capacity = contiguous.capacity;
            remark(contiguous.why);
        }
        return !probe_.hidden() && explain_any_sets();
    }

    void leave_open(const Bracket& capacity) {
        const auto least = static_cast<std::int64_t>(capacity.fits);
        found_.capacity = {least, least == 0 ? 0 : kOpen, {least, static_cast<std::int64_t>(capacity.overflows)}, {}};
    }

    bool find_piece() {
        const auto piece = find_sector(probe_);
        sector_ = piece.bytes;
        if (sector_ == 0) return remark("no misses where eviction was expected");
        if (piece.agreement > 0) probe_.set_piece(sector_);
        const auto bytes = static_cast<std::int64_t>(sector_);
        found_.sector = {piece.agreement > 0 ? bytes : 0, piece.agreement, {bytes, piece.agreement > 0 ? bytes : static_cast<std::int64_t>(q_.overflows)}, {}};
        return true;
    }

    /// Behind a nearer level, predictions of many groups at once would meet what comes between: the method's own checks have to do.
    bool explain_equal_sets(const EqualSets& sets) {
        const auto index = Index::modulo(sets.sets, sets.line, probe_.address(), probe_.span());
        if (!probe_.hidden() && index.lines_in_reach() > sets.ways) return predicts(index, sets.ways);
        decide(index, std::vector<std::uint64_t>(sets.sets, sets.ways), kUnpredicted);
        return true;
    }

    bool explain_any_sets() {
        for (const auto& room : kRooms) {
            const std::uint64_t reach = std::bit_ceil(q_.overflows) * room.reach, all = std::bit_floor(q_.largest);
            if (!room.everywhere && reach >= all) continue;
            probe_.move_origin(room.everywhere ? all : reach);
            probe_.stay_within(reach);
            if (explain_any_sets_in_room()) return true;
        }
        return false;
    }

    /// One set, its line, and the index.
    bool explain_any_sets_in_room() {
        const auto overfull = find_overfull(probe_, step());
        if (!overfull) return remark("no group of lines shows a set");
        const std::uint64_t least = q_.visible > q_.word ? q_.word : sector_;
        const std::uint64_t line = find_line(probe_, *overfull, least, std::min(step() * kMostSectors, std::max(step(), q_.overflows)));
        if (line == 0) return remark(fmt::format("{} lines overflow together, and so do their neighbours: this is no set of lines", overfull->lines.size()));
        const auto index = find_index(probe_, *overfull, line);
        if (!index) return remark(fmt::format("a set of {} lines of {} bytes; neither a modulus nor XORs of address bits explain which lines share it", overfull->ways(), line));
        return predicts(*index, overfull->ways());
    }

    /// The ways of all sets, and whether that predicts what other lines do.
    bool predicts(const Index& index, std::uint64_t expected) {
        auto ways = find_set_ways(probe_, index, expected).ways;
        if (ways.empty()) return remark(fmt::format("sets differ from the one of {} lines of {} bytes that was found first, and there are too many to measure", expected, index.line()));
        const auto trials = predict_groups(probe_, index, ways);
        const std::uint64_t capacity = std::accumulate(ways.begin(), ways.end(), std::uint64_t{0}) * index.line();
        const std::string picture = fmt::format("{} sets of up to {} lines of {} bytes", index.sets(), *std::max_element(ways.begin(), ways.end()), index.line());
        if (trials.confidence() < kPredicts) return remark(fmt::format("{} predict {} of {} groups of lines", picture, trials.agreed, trials.made));
        if (capacity < q_.fits / 2 || capacity > q_.overflows) return remark(fmt::format("{} are not the size of this level", picture));
        decide(index, ways, trials.confidence());
        return true;
    }

    /// The chase's own lines are one after the other: of each set as many, and of some one more, which then seem to have a way less.
    [[nodiscard]] std::vector<std::uint64_t> with_occupied_lines(std::vector<std::uint64_t> ways, std::uint64_t line) const {
        if (q_.occupied == 0) return ways;
        const auto most = *std::max_element(ways.begin(), ways.end());
        for (auto& w : ways) w += (w + 1 == most ? 1 : 0) + (q_.occupied + line - 1) / line / ways.size();
        return ways;
    }

    void decide(const Index& index, const std::vector<std::uint64_t>& ways, double confidence) {
        const auto exact = [&](std::uint64_t v) {
            const auto value = static_cast<std::int64_t>(v);
            return Finding{value, confidence, {value, value}, {}};
        };
        const auto described = with_occupied_lines(ways, index.line());
        const auto [least, most] = std::ranges::minmax_element(described);
        found_.line = exact(index.line());
        found_.sets = exact(index.sets());
        found_.ways = exact(*most);
        found_.capacity = exact(std::accumulate(described.begin(), described.end(), std::uint64_t{0}) * index.line());
        if (*least != *most) found_.set_ways.assign(described.begin(), described.end());
        found_.index = index.name();
        for (const auto mask : index.masks()) {
            if (found_.index == "bits") found_.index_bits.push_back(std::countr_zero(mask));
            if (found_.index == "hash") found_.index_hash.push_back(static_cast<std::int64_t>(mask));
        }
        const std::uint64_t piece = std::min(index.line(), sector_);
        const auto set = static_cast<std::uint64_t>(std::ranges::max_element(ways) - ways.begin());
        if (*most < 2) return;
        if (piece / q_.word < 2 || index.lines_in_reach() <= *most) {
            remark("a line is too short to be visited twice in a tour, or too few are in reach: the policy is not determined");
            return;
        }
        found_.policy = find_policy(probe_, index, set, ways[set], piece);
        // Lines that are used with each load change the order of all policies but LRU, which never has to replace them.
        if (ways[set] < described[set] && found_.policy.name != "lru") {
            found_.policy = {};
            remark("the chase's own code is in every set: the policy is not determined");
        }
        if (!found_.policy.evidence.empty()) remark(found_.policy.evidence);
    }

    Probe probe_;
    const CacheQuestion& q_;
    CacheFindings found_;
    std::uint64_t sector_ = 0;
};

}  // namespace

CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question) { return Geometer(chase, question).run(); }

}  // namespace gputomo::deduce
