#include "deduce/cache/levels/neighbours.hpp"

#include <algorithm>
#include <random>

namespace gputomo::deduce {
namespace {

/// Granules between two first loads of a sequence, largest first. Closer pairs overflow larger caches in one pass.
/// Each sequence has its pairs at one of eight places, so that anything else that depends on the place is needed for
/// as few places as possible.
constexpr std::uint64_t kSpacings[] = {24, 16, 8}, kPlaces = 8;
/// Passes over a sequence before and during recording: chosen values. More recorded passes average over more outliers.
constexpr std::uint32_t kWarmPasses = 2, kRecordedPasses = 4;
/// Hit rates of neighbours. Above `kThere` nearly all are brought by the miss. Inside a line it exceeds that beyond
/// the line's end by `kBeyond`, which neighbours that are resident for another reason do not cause.
constexpr double kThere = 0.85, kBeyond = 0.25;
/// Missing first loads that a hit rate rests on. With fewer, rates of 0.85 and 0.6 are not distinguished.
constexpr std::size_t kMinCold = 24;
/// Granules after a line's end that are looked at, if the next pair is farther away.
constexpr std::int64_t kMaxAhead = 15;

class NeighbourMethod {
public:
    NeighbourMethod(const Chase& chase, const NeighbourQuestion& question) : chase_(chase), q_(question) {}

    Neighbours run() {
        choose_spacing();
        Neighbours found;
        std::uint64_t line = q_.granule;
        bool told = true;
        // If a line is twice as long, it contains the neighbour before every second load; at its end, the neighbour
        // beyond does not hit.
        for (; line < q_.longest_line; line *= 2) {
            const auto share = share_at(-static_cast<std::int64_t>(line / q_.granule), 2 * line);
            found.shares.push_back(share);
            if (share.cold < kMinCold) told = false;
            if (share.cold < kMinCold || share.inside < kThere) break;
            told = share.inside - share.outside >= kBeyond;
        }
        if (told) found.line = line;
        const auto next_pair = static_cast<std::int64_t>(spacing_);
        for (std::int64_t granules = 1; granules <= kMaxAhead && granules < next_pair && found.line > 0; ++granules) {
            const auto share = share_at(granules, found.line);
            found.shares.push_back(share);
            if (share.cold < kMinCold || share.outside < kThere) break;
            found.prefetched = static_cast<std::uint64_t>(granules) * q_.granule;
        }
        return found;
    }

private:
    /// Random order: a prefetch should not meet the next pair.
    [[nodiscard]] std::vector<std::uint64_t> firsts_at(std::uint64_t place, std::uint64_t spacing) const {
        std::vector<std::uint64_t> granules;
        const std::uint64_t margin = std::max<std::uint64_t>({q_.longest_line / q_.granule, kMaxAhead, kPlaces}),
                            end = q_.buffer_bytes / q_.granule;
        for (std::uint64_t at = margin / kPlaces * kPlaces + place;
             at + margin < end && 2 * (granules.size() + 1) <= q_.max_pass_loads; at += spacing)
            granules.push_back(at);
        std::mt19937_64 random(q_.seed);
        std::ranges::shuffle(granules, random);
        return granules;
    }

    [[nodiscard]] std::vector<double> run(const std::vector<std::uint64_t>& firsts, std::int64_t distance) const {
        ChaseRequest request{{}, kWarmPasses, kRecordedPasses};
        for (const auto granule : firsts) {
            request.offsets.push_back(granule * q_.granule);
            request.offsets.push_back(static_cast<std::uint64_t>(static_cast<std::int64_t>(granule) + distance) *
                                      q_.granule);
        }
        return chase_(request).latencies;
    }

    /// Takes the first spacing at which most first loads miss, or else the one at which the most do.
    void choose_spacing() {
        double most = 0;
        for (const auto spacing : kSpacings) {
            const auto readings = run(firsts_at(0, spacing), -1);
            std::size_t cold = 0;
            for (std::size_t i = 0; i < readings.size(); i += 2) cold += readings[i] > q_.miss_threshold ? 1 : 0;
            const double part = part_of(cold, readings.size() / 2);
            if (part <= most) continue;
            most = part;
            spacing_ = spacing;
            if (part >= kThere) break;
        }
    }

    /// Neighbours `granules` away, by whether they are in the same aligned block of `block` bytes.
    [[nodiscard]] Neighbours::Share share_at(std::int64_t granules, std::uint64_t block) const {
        Neighbours::Share share{.distance = granules * static_cast<std::int64_t>(q_.granule)};
        std::size_t inside = 0, inside_there = 0, outside = 0, outside_there = 0;
        for (std::uint64_t place = 0; place < kPlaces && spacing_ > 0; ++place) {
            const auto firsts = firsts_at(place, spacing_);
            const auto readings = run(firsts, granules);
            for (std::size_t i = 0; i + 1 < readings.size(); i += 2) {
                if (readings[i] <= q_.miss_threshold) continue;
                const std::uint64_t first = firsts[i / 2 % firsts.size()] * q_.granule;
                const bool same = first / block == (first + static_cast<std::uint64_t>(share.distance)) / block,
                           there = readings[i + 1] <= q_.miss_threshold;
                (same ? inside : outside) += 1;
                (same ? inside_there : outside_there) += there ? 1 : 0;
            }
        }
        share.inside = part_of(inside_there, inside);
        share.outside = part_of(outside_there, outside);
        share.cold = granules < 0 ? std::min(inside, outside) : outside;
        return share;
    }

    [[nodiscard]] static double part_of(std::size_t some, std::size_t all) {
        return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
    }

    const Chase& chase_;
    NeighbourQuestion q_;
    std::uint64_t spacing_ = 0;
};

}  // namespace

Neighbours find_neighbours(const Chase& chase, const NeighbourQuestion& question) {
    return NeighbourMethod(chase, question).run();
}

}  // namespace gputomo::deduce
