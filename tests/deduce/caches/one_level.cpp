#include "one_level.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::deduce::caches {

ChaseTrace OneLevel::operator()(const ChaseRequest& request) {
    ChaseTrace trace;
    for (std::uint32_t pass = 0; pass < request.warm_passes + request.recorded_passes; ++pass)
        for (const auto offset : request.offsets) {
            double latency = access(offset) ? t_.hit : t_.miss;
            if (t_.jitter > 0) latency += std::abs(std::normal_distribution<double>(0, t_.jitter)(random_));
            if (uniform() < t_.outliers) latency += 1000;
            if (pass >= request.warm_passes) trace.latencies.push_back(latency);
        }
    return trace;
}

bool OneLevel::access(std::uint64_t address) {
    const std::uint64_t number = address / t_.line, sector = address % t_.line / t_.sector;
    auto& set = sets_[(t_.hashed ? (number * 0x9E3779B97F4A7C15ULL) >> 32 : number) % t_.sets];
    auto found = std::find_if(set.begin(), set.end(), [&](const Line& l) { return l.number == number; });
    if (found == set.end()) {
        if (set.size() == t_.ways)
            set.erase(t_.policy == "random"
                          ? set.begin() + static_cast<std::ptrdiff_t>(random_() % set.size())
                          : std::min_element(set.begin(), set.end(),
                                             [](const Line& a, const Line& b) { return a.stamp < b.stamp; }));
        set.push_back({number, ++now_, std::vector<bool>(t_.line / t_.sector, false)});
        found = set.end() - 1;
    } else if (t_.policy == "lru") {
        found->stamp = ++now_;
    }
    const bool hit = found->sectors[sector];
    found->sectors[sector] = true;
    return hit;
}

bool visits_no_address_twice(const ChaseRequest& request) {
    auto offsets = request.offsets;
    std::ranges::sort(offsets);
    return std::ranges::adjacent_find(offsets) == offsets.end();
}

}  // namespace gputomo::deduce::caches
