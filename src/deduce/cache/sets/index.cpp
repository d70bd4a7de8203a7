#include "deduce/cache/sets/index.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Most bits of a set number that the search for conflicting combinations can afford: it tries 2^bits lines for each
/// address bit.
constexpr std::size_t kMaxSetBits = 16;
/// A modulus is believed after two tests: up to `kMaxOthers` lines of other sets, tried together, do not conflict, and
/// `kSameTried` lines of the same set do. Beyond `kMaxOthers` sets, a sample is tried.
constexpr std::uint64_t kMaxOthers = 1 << 15, kSameTried = 12;
/// Largest prime factor that is divided out of the common distance: a chosen bound. A larger factor
/// would stay in the number of sets.
constexpr std::uint64_t kLargestFactor = 131;
/// Among more than `kFewLines` lines, the `kSuspects` that miss most often are tried first. They are found in at least
/// `kSuspectPasses` passes, or `kSuspectPassesPerWay` for each way while that takes at most `kSuspectLoads` loads.
constexpr std::size_t kFewLines = 64, kSuspects = 16;
constexpr std::uint32_t kSuspectPasses = 16, kSuspectPassesPerWay = 4;
constexpr std::uint64_t kSuspectLoads = std::uint64_t{1} << 20;

/// A full set, and whether another line belongs to it.
class FullSet {
public:
    FullSet(const Probe& probe, const EvictionSet& eviction_set, std::uint64_t line)
        : probe_(probe), line_(line), lines_(eviction_set.lines.begin(), eviction_set.lines.end() - 1) {}
    [[nodiscard]] std::uint64_t start() const { return lines_.front(); }
    [[nodiscard]] bool contains(std::uint64_t offset) const {
        return std::any_of(lines_.begin(), lines_.end(),
                           [&](std::uint64_t own) { return own / line_ == offset / line_; });
    }
    /// Whether one of these lines belongs to the set.
    [[nodiscard]] bool any_conflicts(const Offsets& lines) const {
        const auto suspects = most_missing(lines);
        return (!suspects.empty() && evict_one(suspects)) || evict_one(lines);
    }
    [[nodiscard]] bool conflicts(std::uint64_t offset) const { return evict_one({offset}); }
    /// The one of these lines that belongs to the set, if one does. No two of them may be of one set.
    [[nodiscard]] std::optional<std::uint64_t> conflicting(Offsets lines) const {
        if (auto suspects = most_missing(lines); !suspects.empty() && evict_one(suspects))
            lines = std::move(suspects);
        else if (!evict_one(lines))
            return std::nullopt;
        while (lines.size() > 1) {
            const auto half = lines.begin() + static_cast<std::ptrdiff_t>(lines.size() / 2);
            const Offsets first(lines.begin(), half);
            if (evict_one(first))
                lines = first;
            else
                lines.erase(lines.begin(), half);
        }
        return lines.front();
    }

private:
    /// Whether these lines evict one of the set's lines.
    [[nodiscard]] bool evict_one(const Offsets& lines) const {
        Offsets sequence = lines_;
        for (const auto offset : lines) {
            if (contains(offset)) return true;
            sequence.push_back(offset);
        }
        return !probe_.first_lines_stay_resident(sequence, lines_.size());
    }
    /// The lines that miss most often beside the set's lines. A line of the set does miss, while the others have sets
    /// of their own. Testing few lines for a conflict takes far fewer loads than testing many. Empty if there are few
    /// lines anyway.
    [[nodiscard]] Offsets most_missing(const Offsets& lines) const {
        if (lines.size() <= kFewLines) return {};
        Offsets sequence = lines_;
        sequence.insert(sequence.end(), lines.begin(), lines.end());
        // Under a random policy, each line of the set misses about once in as many passes as the set has ways; under
        // others, not in every order.
        const std::uint64_t passes = std::min(kSuspectPassesPerWay * lines_.size(), kSuspectLoads / sequence.size());
        std::vector<double> rates(sequence.size(), 0);
        for (std::uint64_t pass = 0; pass == 0 || pass < passes; pass += kSuspectPasses) {
            const auto now = probe_.miss_rates_in_random_orders(sequence, kSuspectPasses / 4, kSuspectPasses);
            std::ranges::transform(rates, now, rates.begin(), std::plus<>());
        }
        std::vector<std::size_t> order(lines.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        const auto rate = [&](std::size_t i) { return rates[lines_.size() + i]; };
        std::ranges::partial_sort(order, order.begin() + kSuspects, std::greater<>(), rate);
        Offsets suspects;
        for (std::size_t i = 0; i < kSuspects && rate(order[i]) > 0; ++i) suspects.push_back(lines[order[i]]);
        return suspects;
    }

    const Probe& probe_;
    std::uint64_t line_;
    Offsets lines_;
};

/// A modulus repeats at every multiple of the number of sets, which divides all distances within a set. Factors of the
/// common distance that a conflict does not need are divided out.
std::uint64_t period(const Probe& probe, const FullSet& set, const EvictionSet& eviction_set, std::uint64_t line) {
    std::uint64_t common = 0;
    for (const auto offset : eviction_set.lines)
        common = std::gcd(common, (offset > set.start() ? offset - set.start() : set.start() - offset) / line);
    for (std::uint64_t factor = 2; factor <= kLargestFactor; ++factor)
        while (common % factor == 0 && common > 1 && set.start() + common / factor * line < probe.span() &&
               set.conflicts(set.start() + common / factor * line))
            common /= factor;
    return common;
}

bool is_modulo(const Probe& probe, const FullSet& set, std::uint64_t sets, std::uint64_t line) {
    const std::uint64_t lines_in_span = (probe.span() - set.start()) / line;
    if (sets == 0 || lines_in_span < 2 * sets) return false;
    Offsets others;
    if (sets <= kMaxOthers) {
        for (std::uint64_t i = 1; i < sets; ++i) others.push_back(set.start() + i * line);
    } else {
        for (std::uint64_t i = 2; i < sets; i *= 2) others.push_back(set.start() + i * line);
        for (std::uint64_t i = 1; i < sets; i += 1 + probe.draw(2 * sets / kMaxOthers)) {
            if (!std::has_single_bit(i) || i == 1) others.push_back(set.start() + i * line);
        }
    }
    if (probe.filtered()) {
        std::shuffle(others.begin(), others.end(), probe.random());
        others.resize(std::min<std::size_t>(others.size(), kSameTried));
        if (std::any_of(others.begin(), others.end(), [&](std::uint64_t other) { return set.conflicts(other); }))
            return false;
    } else if (!others.empty() && set.any_conflicts(others)) {
        return false;
    }
    for (std::uint64_t i = 0; i < kSameTried; ++i) {
        const std::uint64_t times = i % 2 == 0 ? 1 + probe.draw(lines_in_span / sets - 1)
                                               : std::bit_floor(1 + probe.draw(lines_in_span / sets - 1));
        if (!set.conflicts(set.start() + times * sets * line)) return false;
    }
    return true;
}

/// XORs of two lines of one set leave the set number unchanged. Returns a basis of these vectors in which each has
/// another highest bit, in falling order.
std::vector<std::uint64_t> known_kernel(const EvictionSet& eviction_set, std::uint64_t line) {
    std::vector<std::uint64_t> basis;
    for (const auto other : eviction_set.lines) {
        std::uint64_t vector = (other ^ eviction_set.lines.front()) / line * line;
        for (const auto known : basis) vector = std::min(vector, vector ^ known);
        if (vector == 0) continue;
        basis.push_back(vector);
        std::ranges::sort(basis, std::greater<>());
    }
    return basis;
}

/// Looks at one address bit after the other. Either it changes the set in a way of its own, or the set is unchanged if
/// it is flipped together with some of the bits before it.
std::optional<Index> linear_index(const Probe& probe, const FullSet& set, const EvictionSet& eviction_set,
                                  std::uint64_t line) {
    std::vector<std::uint64_t> independent, kernel;
    const auto combined = [&](std::uint64_t number) {
        std::uint64_t offset = 0;
        for (std::size_t i = 0; i < independent.size(); ++i)
            if ((number >> i & 1) != 0) offset ^= independent[i];
        return offset;
    };
    const auto known_vectors = known_kernel(eviction_set, line);
    for (std::uint64_t bit = line; bit < probe.span(); bit *= 2) {
        const auto shown =
            std::ranges::find(known_vectors, bit, [](std::uint64_t vector) { return std::bit_floor(vector); });
        if (shown != known_vectors.end()) {
            std::uint64_t vector = *shown;
            for (const auto lower : kernel)
                if ((vector & std::bit_floor(lower)) != 0) vector ^= lower;
            kernel.push_back(vector);
            continue;
        }
        Offsets candidates;
        for (std::uint64_t number = 0; number < std::uint64_t{1} << independent.size(); ++number)
            candidates.push_back(set.start() ^ bit ^ combined(number));
        const auto known =
            std::find_if(candidates.begin(), candidates.end(), [&](std::uint64_t c) { return set.contains(c); });
        if (known != candidates.end()) {
            kernel.push_back((*known ^ set.start()) / line * line);
        } else if (const auto conflicting = set.conflicting(candidates)) {
            kernel.push_back(*conflicting ^ set.start());
        } else {
            independent.push_back(bit);
            if (independent.size() > kMaxSetBits) return std::nullopt;
        }
    }
    if (kernel.empty() || (std::uint64_t{1} << std::min<std::size_t>(kernel.size(), 40)) < eviction_set.lines.size())
        return std::nullopt;
    std::vector<std::uint64_t> masks;
    for (const auto own : independent) {
        std::uint64_t mask = own;
        for (const auto vector : kernel)
            if ((vector & own) != 0) mask |= std::bit_floor(vector);
        masks.push_back(mask);
    }
    return Index::linear(std::move(masks), std::move(kernel), line);
}

}  // namespace

Index Index::modulo(std::uint64_t sets, std::uint64_t line, std::uint64_t address, std::uint64_t span) {
    Index index;
    index.sets_ = sets;
    index.line_ = line;
    index.first_set_ = address / line % sets;
    index.span_ = span;
    return index;
}

Index Index::linear(std::vector<std::uint64_t> masks, std::vector<std::uint64_t> kernel, std::uint64_t line) {
    Index index;
    index.sets_ = std::uint64_t{1} << masks.size();
    index.line_ = line;
    index.masks_ = std::move(masks);
    index.kernel_ = std::move(kernel);
    return index;
}

std::uint64_t Index::lines_in_span() const {
    return span_ != 0 ? span_ / line_ / sets_ : std::uint64_t{1} << kernel_.size();
}

std::uint64_t Index::line_of(std::uint64_t set, std::uint64_t i) const {
    if (span_ != 0) return ((set + sets_ - first_set_) % sets_ + i * sets_) * line_;
    std::uint64_t offset = 0;
    for (std::size_t bit = 0; bit < masks_.size(); ++bit)
        if ((set >> bit & 1) != 0) offset ^= masks_[bit] & (~masks_[bit] + 1);
    for (std::size_t bit = 0; bit < kernel_.size(); ++bit)
        if ((i >> bit & 1) != 0) offset ^= kernel_[bit];
    return offset;
}

std::uint64_t Index::set_of(std::uint64_t address) const {
    if (span_ != 0) return address / line_ % sets_;
    std::uint64_t set = 0;
    for (std::size_t bit = 0; bit < masks_.size(); ++bit)
        set |= static_cast<std::uint64_t>(std::popcount(address & masks_[bit]) % 2) << bit;
    return set;
}

std::string Index::name() const {
    if (span_ != 0) return "modulo";
    std::uint64_t all = 0;
    for (const auto mask : masks_) {
        if (!std::has_single_bit(mask)) return "hash";
        all |= mask;
    }
    return all == line_ * (sets_ - 1) ? "modulo" : "bits";
}

std::optional<Index> find_index(const Probe& probe, const EvictionSet& eviction_set, std::uint64_t line) {
    const FullSet set(probe, eviction_set, line);
    const std::uint64_t sets = period(probe, set, eviction_set, line);
    if (is_modulo(probe, set, sets, line)) return Index::modulo(sets, line, probe.address(), probe.span());
    return probe.filtered() ? std::nullopt : linear_index(probe, set, eviction_set, line);
}

}  // namespace gputomo::deduce::cache
