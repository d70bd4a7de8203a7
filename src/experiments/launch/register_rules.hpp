// The ways in which an SM may allocate registers, and the measurements that they predict.
#pragma once

#include "units/warp.hpp"

#include <compare>
#include <cstdint>
#include <vector>

namespace gputomo::experiments {

/// A way in which an SM may allocate registers.
struct RegisterRule {
    std::int64_t file = 0;           ///< registers of the SM
    std::int64_t register_unit = 1;  ///< registers of a thread are a multiple of this
    std::int64_t thread_unit = 32;   ///< threads of a block are rounded up to a multiple of this
    std::int64_t parts = 1;          ///< parts of the file; each warp lies within one

    [[nodiscard]] std::int64_t warps(std::int64_t registers) const {
        const auto each = (registers + register_unit - 1) / register_unit * register_unit * kWarpSize;
        return file / parts / each * parts;
    }
    [[nodiscard]] std::int64_t largest_block(std::int64_t registers) const {
        return warps(registers) * kWarpSize / thread_unit * thread_unit;
    }
    [[nodiscard]] std::int64_t resident(std::int64_t registers, std::int64_t threads) const {
        return warps(registers) * kWarpSize / ((threads + thread_unit - 1) / thread_unit * thread_unit);
    }
};

/// All rules for a file of about this many registers: attributes may be half or twice what an SM has.
[[nodiscard]] inline std::vector<RegisterRule> rules_for(std::int64_t file) {
    std::vector<RegisterRule> rules;
    for (const std::int64_t registers : {file, file / 2, 2 * file})
        for (const std::int64_t unit : {1, 2, 4, 8, 16})
            for (const std::int64_t threads : {32, 64, 128, 256})
                for (const std::int64_t parts : {1, 2, 4, 8}) rules.push_back({registers, unit, threads, parts});
    return rules;
}

/// A measurement: the largest block that can be launched or, if `resident`, how many blocks of one warp are resident
/// together, of a kernel with this many registers.
struct Question {
    int registers = 0;
    bool resident = false;
    auto operator<=>(const Question&) const = default;
};

}  // namespace gputomo::experiments
