#include "deduce/cache/sets/line.hpp"

#include <algorithm>
#include <map>

namespace gputomo::deduce::cache {
namespace {

/// Most words of the window. A longer window shows more sectors.
constexpr std::uint64_t kWindowWords = 512;
/// Longer sequences are recorded in a single pass, unless outliers among the watched words are likely: each further
/// pass costs as many loads again.
constexpr std::size_t kLongSequence = std::size_t{1} << 19;
/// Finest sector that is searched in data caches, in bytes. For TLBs it is the word of the question.
constexpr std::uint64_t kFinestSector = 16, kDataWord = 8;
/// Fewest distances between misses from which a sector follows although the window as a whole was not evicted.
constexpr std::size_t kMinDistances = 8;
/// Lines whose neighbours are tried. The majority decides, so one wrong answer of three does not matter.
constexpr std::size_t kLinesTried = 3;

/// What reading a window word by word shows after an access sequence that should have evicted it.
struct WindowScan {
    SectorSize sector;
    std::size_t distances = 0;  ///< number of distances between misses
    bool evicted = false;       ///< most of the window missed
};

WindowScan scan_window(const Probe& probe, std::uint64_t evict, std::uint64_t step) {
    const auto& q = probe.question();
    const std::uint64_t window = std::min<std::uint64_t>(evict / 2, q.word * kWindowWords);
    Offsets sequence = strided(window, q.word);
    const std::size_t watched = sequence.size();
    // Each line is loaded twice. Some policies (BRRIP) first evict lines that were used only once. Lines loaded once
    // would evict each other and leave the window resident.
    for (std::uint64_t at = window + step; at < evict; at += step) {
        sequence.push_back(at);
        if (step > q.word && !probe.filtered()) sequence.push_back(at + q.word);
    }
    const bool quiet = probe.outlier_rate() * static_cast<double>(watched) < 1;
    const auto rates =
        probe.miss_rates(sequence, 1, quiet && sequence.size() > kLongSequence ? 1 : probe.majority_passes(watched));
    std::map<std::uint64_t, int> distances;
    std::uint64_t last = 0;
    int misses = 0;
    for (std::size_t i = 0; i < watched; ++i) {
        if (rates[i] <= 0.5) continue;
        if (misses++ > 0) ++distances[sequence[i] - last];
        last = sequence[i];
    }
    if (misses == 0) return {};
    if (misses == 1) return {.sector = {window, 0}, .evicted = true};
    const auto modal = std::max_element(distances.begin(), distances.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    const auto others = static_cast<std::size_t>(misses - 1);
    return {.sector = {modal->first, static_cast<double>(modal->second) / static_cast<double>(others)},
            .distances = others,
            .evicted = static_cast<std::uint64_t>(misses) * modal->first >= window / 2};
}

/// Evicts with a sequence of `evict` bytes, in steps that are at most a line.
WindowScan scan_window(const Probe& probe, std::uint64_t evict) {
    const auto& q = probe.question();
    const std::uint64_t finest = std::max<std::uint64_t>(q.probe_stride, q.word == kDataWord ? kFinestSector : q.word);
    std::uint64_t step = std::max(finest, evict / q.max_pass_loads / finest * finest);
    auto scan = scan_window(probe, evict, step);
    // Steps longer than a line leave some sets out, and the distance of the remaining misses looks like a long sector.
    // Shorten the step to the sector that was found, and scan again.
    while (scan.sector.bytes <= step && step > finest) {
        const std::uint64_t last = scan.sector.bytes;
        step = last > 0 && last < step && last % finest == 0 ? std::max(finest, last) : finest;
        scan = scan_window(probe, evict, step);
        if (scan.sector.bytes == last) break;
    }
    return scan;
}

/// Whether the address `shift` bytes beyond that of member i of the eviction set lies in the same line.
bool shares_line(const Probe& probe, const EvictionSet& eviction_set, std::size_t i, std::uint64_t shift) {
    // Members of a minimal eviction set are in different lines.
    if (std::ranges::find(eviction_set.lines, eviction_set.lines[i] + shift) != eviction_set.lines.end()) return false;
    Offsets replaced = eviction_set.lines;
    replaced[i] += shift;
    if (probe.fits(replaced)) return false;
    Offsets added = eviction_set.lines;
    added.erase(added.begin() + static_cast<std::ptrdiff_t>(i == 0 ? 1 : 0));
    added.push_back(eviction_set.lines[i] + shift);
    return probe.fits(added);
}

}  // namespace

SectorSize find_sector(const Probe& probe) {
    const auto& q = probe.question();
    std::uint64_t evict = std::min(std::max(q.buffer_bytes / 2, q.overflows), q.overflows * 2);
    auto scan = scan_window(probe, evict);
    // Load more lines until they evict the window. Before that, a few of its words miss at random.
    while (scan.sector.bytes > 0 && !scan.evicted && 2 * evict <= q.buffer_bytes) scan = scan_window(probe, evict *= 2);
    if (!scan.evicted && scan.distances < kMinDistances) scan.sector.agreement = 0;
    return scan.sector;
}

std::uint64_t find_line(const Probe& probe, const EvictionSet& eviction_set, std::uint64_t least, std::uint64_t most) {
    for (std::uint64_t line = least; line <= most; line *= 2) {
        std::size_t tried = 0, same = 0;
        for (std::size_t i = 0; i < eviction_set.lines.size() && tried < kLinesTried; ++i) {
            if (eviction_set.lines[i] + line >= probe.span()) continue;
            ++tried;
            same += shares_line(probe, eviction_set, i, line) ? 1 : 0;
        }
        if (2 * same < tried) return line;
    }
    return 0;
}

}  // namespace gputomo::deduce::cache
