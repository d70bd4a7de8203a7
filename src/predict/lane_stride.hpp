// How registers differ between neighbouring threads of a warp: an abstract interpretation of PTX that finds the stride
// of addresses.
#pragma once

#include "ptx/ir.hpp"

#include <optional>
#include <vector>

namespace gputomo::predict {

/// What is known of a register: value in thread i is (value in thread 0) + i stride.
struct LaneValue {
    std::optional<std::int64_t> stride;    ///< nullopt: unknown
    std::optional<std::int64_t> constant;  ///< the same in all threads and all the time
    bool operator==(const LaneValue&) const = default;
};

/// By register, wherever in the kernel it is read: what all instructions that write it agree on. Threads of a warp are
/// taken to be neighbours in x, which holds where a block is a multiple of a warp wide.
[[nodiscard]] std::vector<LaneValue> lane_values(const ptx::Kernel& kernel);

/// Of the address operand of a load, store or atomic.
[[nodiscard]] std::optional<std::int64_t> address_stride(const ptx::AddressRef& address,
                                                         const std::vector<LaneValue>& values);

}  // namespace gputomo::predict
