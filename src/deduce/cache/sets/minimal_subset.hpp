// The smallest part of a list that still has a property which the whole list has.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace gputomo::deduce::cache {

namespace detail {

template <class T>
std::vector<T> joined(std::vector<T> a, const std::vector<T>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

template <class T, class Suffices>
std::vector<T> minimal_subset(const std::vector<T>& candidates, const std::vector<T>& background,
                              const Suffices& suffices) {
    if (candidates.size() == 1) return candidates;
    const auto half = candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2);
    const std::vector<T> first(candidates.begin(), half), second(half, candidates.end());
    const auto with_first = joined(background, first);
    const auto of_second = suffices(with_first) ? std::vector<T>{} : minimal_subset(second, with_first, suffices);
    const auto with_needed = joined(background, of_second);
    const auto of_first = suffices(with_needed) ? std::vector<T>{} : minimal_subset(first, with_needed, suffices);
    return joined(of_first, of_second);
}

}  // namespace detail

/// QuickXplain (Junker 2004): a part of `candidates` for which `suffices(part)` holds and none of whose elements can be
/// left out. The elements keep their order. A part of k among n elements takes about 2 k log2(n / k) + 2 k calls.
///
/// `candidates` is not empty and suffices as a whole. `suffices` is monotone: adding elements never makes it false.
template <class T, class Suffices>
[[nodiscard]] std::vector<T> minimal_subset(const std::vector<T>& candidates, const Suffices& suffices) {
    return detail::minimal_subset(candidates, {}, suffices);
}

}  // namespace gputomo::deduce::cache
