#include "deduce/cache/line.hpp"

#include <algorithm>
#include <map>

namespace gputomo::deduce::cache {
namespace {

constexpr std::uint64_t kWindowWords = 512;
/// Of longer tours one lap is recorded, where an accident among the watched words is unlikely.
constexpr std::size_t kLongTour = std::size_t{1} << 19;
/// Of data, the finest piece that is looked for.
constexpr std::uint64_t kFinestPiece = 16, kDataWord = 8;
/// Of a window that stays, fewer misses tell nothing of the distance between two.
constexpr std::size_t kFewestDistances = 8;
/// Neighbours of so many lines are tried, in as many sets as there may be: the majority decides.
constexpr std::size_t kLinesTried = 3;

/// What a walk by words behind a tour of others tells.
struct WindowWalk {
    FilledPiece piece;
    std::size_t distances = 0;  ///< that the size was chosen from
    bool evicted = false;       ///< most of the window was gone
};

WindowWalk walk_window(Probe& probe, std::uint64_t evict, std::uint64_t step) {
    const auto& q = probe.question();
    const std::uint64_t window = std::min<std::uint64_t>(evict / 2, q.word * kWindowWords);
    Offsets tour = strided(window, q.word);
    const std::size_t watched = tour.size();
    // Twice each: policies that expect no reuse let lines go before those that were used again.
    for (std::uint64_t at = window + step; at < evict; at += step) {
        tour.push_back(at);
        if (step > q.word && !probe.hidden()) tour.push_back(at + q.word);
    }
    const bool quiet = probe.accidents() * static_cast<double>(watched) < 1;
    const auto rates = probe.miss_rates(tour, 1, quiet && tour.size() > kLongTour ? 1 : probe.deciding_laps(watched));
    std::map<std::uint64_t, int> distances;
    std::uint64_t last = 0;
    int misses = 0;
    for (std::size_t i = 0; i < watched; ++i) {
        if (rates[i] <= 0.5) continue;
        if (misses++ > 0) ++distances[tour[i] - last];
        last = tour[i];
    }
    if (misses == 0) return {};
    if (misses == 1) return {.piece = {window, 0}, .evicted = true};
    const auto modal = std::max_element(distances.begin(), distances.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto others = static_cast<std::size_t>(misses - 1);
    return {.piece = {modal->first, static_cast<double>(modal->second) / static_cast<double>(others)},
            .distances = others,
            .evicted = static_cast<std::uint64_t>(misses) * modal->first >= window / 2};
}

/// Behind a tour of `evict` bytes, in steps that no line is longer than.
WindowWalk walk_window(Probe& probe, std::uint64_t evict) {
    const auto& q = probe.question();
    const std::uint64_t finest = std::max<std::uint64_t>(q.probe_stride, q.word == kDataWord ? kFinestPiece : q.word);
    std::uint64_t step = std::max(finest, evict / q.max_pass_loads / finest * finest);
    auto walk = walk_window(probe, evict, step);
    // A tour in steps longer than a line evicts only some of the sets, and what it leaves looks like one long piece. In
    // steps of the piece itself it evicts all.
    while (walk.piece.bytes <= step && step > finest) {
        const std::uint64_t last = walk.piece.bytes;
        step = last > 0 && last < step && last % finest == 0 ? std::max(finest, last) : finest;
        walk = walk_window(probe, evict, step);
        if (walk.piece.bytes == last) break;
    }
    return walk;
}

/// Whether the neighbour `shift` bytes on shares the line of the i-th of an overfull set's lines.
bool shares_line(Probe& probe, const Overfull& overfull, std::size_t i, std::uint64_t shift) {
    // Then both are needed for the set to overflow.
    if (std::ranges::find(overfull.lines, overfull.lines[i] + shift) != overfull.lines.end()) return false;
    Offsets replaced = overfull.lines;
    replaced[i] += shift;
    if (probe.fits(replaced)) return false;
    Offsets added = overfull.lines;
    added.erase(added.begin() + static_cast<std::ptrdiff_t>(i == 0 ? 1 : 0));
    added.push_back(overfull.lines[i] + shift);
    return probe.fits(added);
}

}  // namespace

FilledPiece find_sector(Probe& probe) {
    const auto& q = probe.question();
    std::uint64_t evict = std::min(std::max(q.buffer_bytes / 2, q.overflows), q.overflows * 2);
    auto walk = walk_window(probe, evict);
    // Of a window that stays, a few lines miss by chance, anywhere.
    while (walk.piece.bytes > 0 && !walk.evicted && 2 * evict <= q.buffer_bytes) walk = walk_window(probe, evict *= 2);
    if (!walk.evicted && walk.distances < kFewestDistances) walk.piece.agreement = 0;
    return walk.piece;
}

std::uint64_t find_line(Probe& probe, const Overfull& overfull, std::uint64_t least, std::uint64_t most) {
    for (std::uint64_t line = least; line <= most; line *= 2) {
        std::size_t tried = 0, same = 0;
        for (std::size_t i = 0; i < overfull.lines.size() && tried < kLinesTried; ++i) {
            if (overfull.lines[i] + line >= probe.span()) continue;
            ++tried;
            same += shares_line(probe, overfull, i, line) ? 1 : 0;
        }
        if (2 * same < tried) return line;
    }
    return 0;
}

}  // namespace gputomo::deduce::cache
