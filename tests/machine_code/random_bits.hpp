// Words with random bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace gputomo::sim {

inline std::vector<std::uint32_t> random_bits(std::size_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::uint32_t> words(count);
    for (auto& word : words) word = static_cast<std::uint32_t>(random());
    return words;
}

}  // namespace gputomo::sim
