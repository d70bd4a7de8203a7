// A cache whose storage shared memory takes a part of: launch by launch it keeps what their blocks leave.
#pragma once

#include "sim/memory/levels.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace gputomo::sim {

class SharedStorage {
public:
    /// Nothing is shared unless shared.unified_cache names a cache whose capacity_options go with those of shared
    /// memory. Throws InputError naming the leaf that is wrong.
    SharedStorage(const machine::Machine& machine, Levels& levels, std::uint64_t seed);

    /// Blocks of a launch take so many bytes of each SM's shared memory. The smallest option that holds them is set
    /// aside; the cache loses what it held whenever that changes.
    void set_aside(std::uint64_t bytes);

private:
    machine::Cache description_;
    std::string where_;
    CacheLevel* cache_ = nullptr;
    std::vector<std::int64_t> options_;     ///< bytes of shared memory, rising
    std::vector<std::int64_t> capacities_;  ///< of the cache beside each
    std::size_t chosen_ = 0;
    std::mt19937_64 seeds_;
};

}  // namespace gputomo::sim
