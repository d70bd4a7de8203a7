// Finds the stride of addresses between neighbouring threads of a warp by abstract interpretation of PTX.
#pragma once

#include "ptx/ir.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::predict {

/// What is known about a register: its value in thread i is (value in thread 0) + i stride.
struct LaneValue {
    std::optional<std::int64_t> stride;    ///< nullopt: unknown
    std::optional<std::int64_t> constant;  ///< the value, if it is the same in all threads at any time
    bool operator==(const LaneValue&) const = default;
};

/// For each register, the facts that all instructions which write it agree on. Assumes that the threads of a warp are
/// neighbours in x, which holds if a block's width is a multiple of the warp size.
[[nodiscard]] std::vector<LaneValue> lane_values(const ptx::Kernel& kernel);

/// Stride in bytes of the address operand of a load, store or atomic; nullopt if unknown.
[[nodiscard]] std::optional<std::int64_t> address_stride(const ptx::AddressRef& address,
                                                         const std::vector<LaneValue>& values);

}  // namespace gputomo::predict
