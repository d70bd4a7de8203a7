// Draws the leaves of a random machine, group by group; each group's functions are in a file of their own.
#pragma once

#include "machine/machine.hpp"
#include "units/warp.hpp"
#include "validate/dice.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gputomo::validate {

inline constexpr std::int64_t kKiB = 1 << 10;
inline constexpr std::int64_t kMiB = 1 << 20;
/// Smallest difference in latency between neighbouring levels, in cycles: two steps of the coarsest clock that is
/// drawn.
inline constexpr std::int64_t kLevelStep = 8;
inline constexpr std::int64_t kWarp = kWarpSize;

/// First major compute capability with virtual memory management (cuMemMap), so with pages of 2 MiB.
inline constexpr std::int64_t kMappingSince = 6;

/// Draws one machine. The source of all its leaves is the seed.
class MachineMaker {
public:
    explicit MachineMaker(std::uint64_t seed)
        : dice_(seed), seed_(seed), source_(fmt::format("random machine, seed {}", seed)) {}

    machine::Machine make() {
        identity_and_topology();
        clock();
        issue_and_arithmetic();
        shared();
        caches();
        tlbs();
        path_and_memory();
        pauses();
        constant_path();
        texture_path();
        instruction_path();
        launch();
        divergence();
        return std::move(machine_);
    }

private:
    template <class T>
    void set(machine::Field<T>& field, std::type_identity_t<T> value) {
        field.set(std::move(value), {.source = source_});
    }

    void identity_and_topology();
    void clock();
    void issue_and_arithmetic();
    void control_flow();
    void operation(const std::string& key, const std::string& unit, std::int64_t instructions);
    void shared();
    void caches();
    void cache(const std::string& key, std::int64_t low, std::int64_t high, std::int64_t line, std::int64_t least_ways);
    void constant_path();
    void texture_path();
    void instruction_path();
    /// Draws a cache of a path of constants, textures or instructions. `scope` is as on the GPUs so far.
    void path_cache(const std::string& key, const std::string& scope, std::int64_t low, std::int64_t high,
                    std::int64_t line, std::int64_t latency);
    /// Describes a path with these caches. The latency of its memory is that of global loads or higher.
    void path(const std::string& name, const std::vector<std::string>& keys);
    [[nodiscard]] std::string near_scope();
    void tlbs();
    void tlb(const std::string& key, std::int64_t entries, std::int64_t ways, std::int64_t span);
    void path_and_memory();
    void pauses();
    void launch();
    void divergence();

    std::string policy(std::int64_t ways) {
        static constexpr std::array<std::string_view, 3> kOthers{"fifo", "random", "tree-plru"};
        if (ways == 1 || dice_.chance(75)) return "lru";
        const auto other = dice_.one_of(kOthers);
        const bool power_of_two = std::has_single_bit(static_cast<std::uint64_t>(ways));
        return std::string(other == "tree-plru" && !power_of_two ? "fifo" : other);
    }

    Dice dice_;
    std::uint64_t seed_;
    std::string source_;
    machine::Machine machine_;
    std::int64_t clusters_ = 1;
};

}  // namespace gputomo::validate
