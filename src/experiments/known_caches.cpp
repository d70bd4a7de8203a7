#include "experiments/known_caches.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {

std::int64_t largest_cache(const Context& context) {
    constexpr int kMostLevels = 3;
    auto largest = context.device.attribute(device::Attribute::l2_cache_bytes).value_or(0);
    for (int level = 1; level <= kMostLevels; ++level) {
        const auto* capacity = context.findings.find(fmt::format("caches.l{}.capacity", level));
        if (capacity == nullptr) continue;
        const double most = capacity->interval ? (*capacity->interval)[1] : context.findings.number(capacity->path).value_or(0);
        largest = std::max(largest, static_cast<std::int64_t>(most));
    }
    return largest;
}

}  // namespace gputomo::experiments
