#include "predict/static/lane_accesses.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace gputomo::predict {

std::set<std::int64_t> blocks_touched(std::span<const std::int64_t> addresses, std::int64_t bytes, std::int64_t block) {
    std::set<std::int64_t> touched;
    for (const auto address : addresses)
        for (std::int64_t number = address / block; number <= (address + bytes - 1) / block; ++number)
            touched.insert(number);
    return touched;
}

std::size_t conflict_ways(std::span<const std::int64_t> addresses, std::int64_t bytes, std::int64_t banks,
                          std::int64_t width) {
    std::map<std::int64_t, std::set<std::int64_t>> wanted;  // words by bank
    for (const auto word : blocks_touched(addresses, bytes, width)) wanted[word % banks].insert(word);
    std::size_t ways = 1;
    for (const auto& [bank, words] : wanted) ways = std::max(ways, words.size());
    return ways;
}

}  // namespace gputomo::predict
