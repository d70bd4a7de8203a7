#include "deduce/cache/policy/counterexample.hpp"

#include "deduce/cache/policy/eviction_trace.hpp"
#include "deduce/cache/policy/policy_model.hpp"
#include "deduce/cache/policy/policy_selection.hpp"
#include "deduce/cache/policy/possible_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Loads searched in each run, and runs: each kind of access order is among them. More find hardly shorter sequences.
constexpr std::size_t kSearchedLoads = 3072, kSearchedRuns = 8;
/// Longest sequence: this many loads, or this many times the ways where that is more. Few policies need longer ones.
constexpr std::size_t kMinMostLoads = 64, kMostLoadsPerWay = 6;
/// Beyond three standard deviations a count is not due to outliers.
constexpr double kOutlierSigmas = 3;
/// A sequence has to occur this often where every sequence is possible.
constexpr std::size_t kMinOccurrences = 3;

/// "A" to "Z", "AA", "AB", ...
std::string line_name(std::size_t number) {
    std::string name;
    for (++number; number > 0; number = (number - 1) / 26)
        name.insert(name.begin(), static_cast<char>('A' + (number - 1) % 26));
    return name;
}

/// Follows loads of one set until the policy cannot have produced them. It gives up where a line misses that was just
/// loaded, which no policy explains.
class Follower {
public:
    Follower(const std::vector<std::uint32_t>& lines, const std::vector<bool>& missed, std::uint32_t ways)
        : lines_(lines), missed_(missed), ways_(ways) {}

    /// Loads from `first` on up to the first one that is impossible, itself included. 0: none of `most` loads is.
    std::size_t loads_until_impossible(std::size_t first, std::size_t most, std::unique_ptr<PossibleStates> states) {
        states_ = std::move(states);
        const std::size_t end = std::min(lines_.size(), first + most);
        std::size_t load = first;
        while (load < end && !missed_[load]) ++load;
        if (load == end || hits(lines_[load], first, load)) return 0;
        // The line that is absent at first has no way; those of the others are numbered.
        way_of_.assign(ways_ + 1, 0);
        for (std::uint32_t line = 0, way = 0; line <= ways_; ++line)
            if (line != lines_[load]) way_of_[line] = way++;
        for (std::size_t i = first; i < load; ++i) states_->touch(way_of_[lines_[i]]);
        start_miss(load);
        for (++load; load < end; ++load) {
            if (missed_[load] && used_[lines_[load]]) return 0;
            if (missed_[load] ? !miss(load) : !hit(load)) return load - first + 1;
        }
        return 0;
    }

private:
    /// Whether one of the loads from `first` to before `end` is of this line.
    [[nodiscard]] bool hits(std::uint32_t line, std::size_t first, std::size_t end) const {
        const auto begin = lines_.begin();
        return std::find(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end), line) !=
               begin + static_cast<std::ptrdiff_t>(end);
    }
    void start_miss(std::size_t load) {
        miss_ = load;
        used_.assign(ways_ + 1, false);
        used_[lines_[load]] = true;
    }
    /// The line that misses was the victim of the miss before.
    bool miss(std::size_t load) {
        const std::uint32_t way = way_of_[lines_[load]];
        if (!states_->may_evict(way)) return false;
        states_->evict(way);
        way_of_[lines_[miss_]] = way;
        for (std::size_t i = miss_ + 1; i < load; ++i) states_->touch(way_of_[lines_[i]]);
        start_miss(load);
        return true;
    }
    /// One of the lines not used since the last miss was its victim.
    bool hit(std::size_t load) {
        if (used_[lines_[load]]) return true;
        used_[lines_[load]] = true;
        for (std::uint32_t line = 0; line <= ways_; ++line)
            if (!used_[line] && states_->may_evict(way_of_[line])) return true;
        return false;
    }

    const std::vector<std::uint32_t>& lines_;
    const std::vector<bool>& missed_;
    std::uint32_t ways_;
    std::unique_ptr<PossibleStates> states_;
    std::vector<std::uint32_t> way_of_;
    std::vector<bool> used_;  ///< by line: since the last miss
    std::size_t miss_ = 0;
};

}  // namespace

CounterexampleSearch::CounterexampleSearch(const std::vector<PolicyRun>& runs, std::uint32_t ways,
                                           std::string_view accepted, double outlier_rate, std::size_t most_followed)
    : ways_(ways),
      accepted_(accepted == kChance ? std::string_view() : accepted),
      outlier_rate_(outlier_rate),
      most_followed_(most_followed) {
    // A tree would have to be learnt first; what random victims leave open serves as well.
    const auto interpreted_by = accepted_.empty() || accepted_ == kTree ? kChance : accepted_;
    for (std::size_t run = 0; run < std::min(kSearchedRuns, runs.size()); ++run)
        for (const auto& segment : runs[run].segments) add_pieces(segment, interpreted_by);
}

void CounterexampleSearch::add_pieces(const TraceSegment& segment, std::string_view model_name) {
    TraceSegment part = segment;
    const std::size_t loads = std::min(kSearchedLoads, segment.lines.size());
    part.lines.resize(loads);
    part.missed.resize(loads);
    part.outlier.resize(loads);
    Piece piece;
    const auto end_piece = [&] {
        if (piece.lines.size() > 2) pieces_.push_back(std::move(piece));
        piece = {};
    };
    for (const auto& step : explain(part, ways_, *make_model(model_name, ways_), outlier_rate_).steps) {
        // A slow load that may be no miss ends the piece: whether it missed is not certain.
        if (part.outlier[step.load] || part.missed[step.load] != step.evicted) {
            end_piece();
            continue;
        }
        piece.lines.push_back(part.lines[step.load]);
        piece.missed.push_back(step.evicted);
    }
    end_piece();
}

std::size_t CounterexampleSearch::most_loads() const {
    return std::max<std::size_t>(kMinMostLoads, kMostLoadsPerWay * ways_);
}

Counterexample CounterexampleSearch::against(std::string_view policy) const {
    if (policy == kChance) return {};
    auto found = search(*possible_states(policy, ways_));
    if (!found.sequence.empty() || policy == kTree || !make_model(policy, ways_)->ties()) return found;
    found = search(*possible_states(policy, ways_, Ties::in_order));
    found.ways_in_order = true;
    return found;
}

Counterexample CounterexampleSearch::search(const PossibleStates& start) const {
    const auto accepted = accepted_.empty() ? nullptr : possible_states(accepted_, ways_);
    struct Form {
        Window window;
        std::size_t times = 0;
    };
    // By length: the sequences that the policy cannot have produced.
    std::map<std::size_t, std::map<std::string, Form>> found;
    std::size_t followed = 0, shortest = most_loads() + 1;
    for (std::size_t p = 0; p < pieces_.size() && followed < most_followed_; ++p) {
        const auto& piece = pieces_[p];
        Follower follower(piece.lines, piece.missed, ways_);
        for (std::size_t first = 0; first < piece.lines.size() && followed < most_followed_; ++first) {
            // Where every sequence is possible, a longer one may be needed, which outliers do not explain.
            const std::size_t most = accepted ? std::min(shortest, most_loads()) : most_loads();
            const std::size_t loads = follower.loads_until_impossible(first, most, start.clone());
            followed += loads == 0 ? most : loads;
            if (loads == 0 || (accepted && follower.loads_until_impossible(first, loads, accepted->clone()) != 0))
                continue;
            shortest = std::min(shortest, loads);
            const Window window{p, first, loads};
            auto& form = found[loads][text_of(window)];
            form.window = window;
            ++form.times;
        }
    }
    for (const auto& [loads, forms] : found) {
        Counterexample best;
        for (const auto& [text, form] : forms) {
            if (form.times <= best.times || (!accepted && !occurs_beyond_outliers(form.window, form.times))) continue;
            const bool missed = text.back() == '*';
            const auto last = text.substr(text.rfind(' ') + 1);
            best = {text, last.substr(0, last.size() - (missed ? 1 : 0)), loads, missed, form.times, false};
        }
        if (best.times > 0) return best;
    }
    return {};
}

std::string CounterexampleSearch::text_of(const Window& window) const {
    const auto& piece = pieces_[window.piece];
    std::vector<std::uint32_t> seen;
    std::string text;
    for (std::size_t i = window.first; i < window.first + window.loads; ++i) {
        const auto at = std::ranges::find(seen, piece.lines[i]);
        const auto number = static_cast<std::size_t>(at - seen.begin());
        if (at == seen.end()) seen.push_back(piece.lines[i]);
        text += fmt::format("{}{}{}", text.empty() ? "" : " ", line_name(number), piece.missed[i] ? "*" : "");
    }
    return text;
}

std::size_t CounterexampleSearch::loaded(const Window& window) const {
    const auto& model = pieces_[window.piece];
    std::size_t count = 0;
    for (const auto& piece : pieces_)
        for (std::size_t first = 0; first + window.loads <= piece.lines.size(); ++first) {
            std::vector<std::uint32_t> to(ways_ + 1, ways_ + 1), from(ways_ + 1, ways_ + 1);
            bool same = true;
            for (std::size_t i = 0; i < window.loads && same; ++i) {
                const auto here = piece.lines[first + i], there = model.lines[window.first + i];
                if (to[here] > ways_ && from[there] > ways_) to[here] = there, from[there] = here;
                same = to[here] == there && from[there] == here;
            }
            count += same ? 1 : 0;
        }
    return count;
}

bool CounterexampleSearch::occurs_beyond_outliers(const Window& window, std::size_t times) const {
    const auto& piece = pieces_[window.piece];
    const auto first = piece.missed.begin() + static_cast<std::ptrdiff_t>(window.first);
    const auto misses = std::count(first, first + static_cast<std::ptrdiff_t>(window.loads), true);
    const double expected = outlier_rate_ * static_cast<double>(misses) * static_cast<double>(loaded(window));
    return times >= kMinOccurrences && static_cast<double>(times) > expected + kOutlierSigmas * std::sqrt(expected);
}

}  // namespace gputomo::deduce::cache
