// A cache that shares its storage with shared memory: in each launch it has what the blocks leave.
#pragma once

#include "sim/memory/levels.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace gputomo::sim {

class SharedStorage {
public:
    /// Nothing is shared unless shared.unified_cache names a cache with one capacity_option for each of shared memory.
    /// Throws InputError naming the leaf that is wrong.
    SharedStorage(const machine::Machine& machine, Levels& levels, std::uint64_t seed);

    /// The blocks of a launch take `bytes` of each SM's shared memory, for which the smallest sufficient option is set
    /// aside. The cache loses its lines whenever the option changes.
    void set_aside(std::uint64_t bytes);

private:
    machine::Cache description_;
    std::string where_;
    CacheLevel* cache_ = nullptr;
    std::vector<std::int64_t> options_;     ///< bytes of shared memory, in rising order
    std::vector<std::int64_t> capacities_;  ///< of the cache beside each
    std::size_t chosen_ = 0;
    std::mt19937_64 seeds_;
};

}  // namespace gputomo::sim
