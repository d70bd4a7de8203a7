#include "measure/chase/unfiltered_line_chase.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace gputomo::measure {
namespace {

/// Passes before and during the recording. Random policies need some passes until a line is gone.
constexpr std::uint32_t kWarmPasses = 8, kRecordedPasses = 16;
/// Share of loads that may look like hits although the line was evicted: outliers. A larger share stops the search too
/// early.
constexpr double kOutlierShare = 0.02;
/// No cache so far has longer lines.
constexpr std::uint64_t kLongestLine = 512;

/// For each load: the lines of its set that follow before the sequence returns to its own line, counted up to
/// `cache.evicting_lines`.
std::vector<std::uint64_t> lines_until_return(const std::vector<std::uint64_t>& offsets, const UpperCache& cache) {
    std::vector<std::uint64_t> until(offsets.size(), cache.evicting_lines);
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> recent;  // by set: its last lines, newest first
    std::unordered_map<std::uint64_t, std::size_t> last;                   // by line: its last visit
    for (std::size_t i = 0; i < 2 * offsets.size(); ++i) {
        const std::uint64_t offset = offsets[i % offsets.size()], line = offset / cache.line;
        auto& lines = recent[offset % cache.way_bytes / cache.line];
        const auto found = std::ranges::find(lines, line);
        if (found != lines.end()) {
            until[last[line] % offsets.size()] = static_cast<std::uint64_t>(found - lines.begin());
            lines.erase(found);
        }
        lines.insert(lines.begin(), line);
        if (lines.size() > cache.evicting_lines) lines.pop_back();
        last[line] = i;
    }
    return until;
}

/// The fewest other lines of a set after which a line is evicted, measured by cycling through them. Searches up to
/// `most`, or to what `span` bytes allow.
std::uint64_t lines_that_evict(const deduce::Chase& chase, double threshold, std::uint64_t way_bytes,
                               std::uint64_t ways, std::uint64_t most, std::uint64_t span) {
    for (std::uint64_t others = ways; others < std::min(most, span / way_bytes); ++others) {
        deduce::ChaseRequest request{{}, kWarmPasses, kRecordedPasses};
        for (std::uint64_t i = 0; i <= others; ++i) request.offsets.push_back(i * way_bytes);
        const auto latencies = chase(request).latencies;
        const auto hits =
            std::ranges::count_if(latencies, [threshold](double latency) { return latency <= threshold; });
        if (static_cast<double>(hits) < kOutlierShare * static_cast<double>(latencies.size())) return others;
    }
    return most;
}

}  // namespace

std::optional<UpperCache> upper_cache(const deduce::CacheFindings& findings, const deduce::Chase& chase,
                                      double threshold, std::uint64_t span) {
    if (findings.line.confidence <= 0 || findings.ways.confidence <= 0 || findings.sets.confidence <= 0)
        return std::nullopt;
    const auto line = static_cast<std::uint64_t>(findings.line.value),
               ways = static_cast<std::uint64_t>(findings.ways.value);
    const std::uint64_t way_bytes = line * static_cast<std::uint64_t>(findings.sets.value);
    const auto& policy = findings.policy.name;
    if (policy == "lru" || policy == "fifo") return UpperCache{line, way_bytes, ways};
    // Policies other than LRU and FIFO sometimes keep a line for longer than there are ways.
    const std::uint64_t most = ways + ways / 2 + 2;
    return UpperCache{line, way_bytes,
                      policy.empty() ? lines_that_evict(chase, threshold, way_bytes, ways, most, span) : most};
}

/// The loads of an access sequence and their filler loads. A chase visits each word once.
struct UnfilteredLineChase::Sequence {
    std::vector<std::uint64_t> offsets;
    std::unordered_set<std::uint64_t> words;   ///< words that are in use
    std::unordered_set<std::uint64_t> blocks;  ///< ways that hold loads of the original sequence
    std::unordered_set<std::uint64_t> spans;   ///< the same, in units of the longest line that a lower cache may have
};

UnfilteredLineChase::UnfilteredLineChase(deduce::Chase chase, std::vector<UpperCache> upper, std::uint64_t span,
                                         std::uint64_t word)
    : chase_(std::move(chase)), upper_(std::move(upper)), span_(span), word_(word), line_(span) {
    for (const auto& cache : upper_) {
        step_ = std::lcm(step_, cache.way_bytes);
        line_ = std::min(line_, cache.line);
    }
}

void UnfilteredLineChase::append_fillers(std::uint64_t offset, const std::vector<std::uint64_t>& missing,
                                         Sequence& sequence) const {
    const auto try_line = [&](std::uint64_t upper) {
        const std::uint64_t begin = upper / line_ * line_;
        for (std::uint64_t word = begin; word < begin + line_; word += word_)
            if (sequence.words.insert(word).second) {
                sequence.offsets.push_back(word);
                return true;
            }
        return false;
    };
    const auto append = [&](std::uint64_t step, const std::unordered_set<std::uint64_t>& taken, std::uint64_t block,
                            std::uint64_t& count) {
        const auto try_block = [&](std::uint64_t upper) {
            if (count > 0 && !taken.contains(upper / block) && try_line(upper)) --count;
        };
        for_each_filler_distance(span_ / step, [&](std::uint64_t ways) {
            const std::uint64_t distance = ways * step;
            if (offset + distance + line_ <= span_) try_block(offset + distance);
            if (distance <= offset) try_block(offset - distance);
            return count == 0;
        });
    };
    // Lines that share the sets of all upper caches serve all of them.
    const std::uint64_t most = std::ranges::max(missing);
    std::uint64_t left = most;
    append(step_, sequence.blocks, step_, left);
    for (std::size_t i = 0; left > 0 && i < upper_.size(); ++i) {
        std::uint64_t own = missing[i] - std::min(missing[i], most - left);
        append(upper_[i].way_bytes, sequence.spans, kLongestLine, own);
    }
}

deduce::ChaseTrace UnfilteredLineChase::operator()(const deduce::ChaseRequest& request) {
    std::vector<std::vector<std::uint64_t>> missing(request.offsets.size());
    for (const auto& cache : upper_) {
        const auto until = lines_until_return(request.offsets, cache);
        for (std::size_t i = 0; i < until.size(); ++i) missing[i].push_back(cache.evicting_lines - until[i]);
    }
    Sequence sequence;
    for (const auto offset : request.offsets) {
        sequence.words.insert(offset);
        sequence.blocks.insert(offset / step_);
        sequence.spans.insert(offset / kLongestLine);
    }
    std::vector<std::size_t> positions;
    for (std::size_t i = 0; i < request.offsets.size(); ++i) {
        positions.push_back(sequence.offsets.size());
        sequence.offsets.push_back(request.offsets[i]);
        if (std::ranges::max(missing[i]) > 0) append_fillers(request.offsets[i], missing[i], sequence);
    }
    const auto all = chase_({sequence.offsets, request.warm_passes, request.recorded_passes}).latencies;
    deduce::ChaseTrace trace;
    for (std::size_t pass = 0; pass < all.size(); pass += sequence.offsets.size())
        for (const auto position : positions) trace.latencies.push_back(all[pass + position]);
    return trace;
}

}  // namespace gputomo::measure
