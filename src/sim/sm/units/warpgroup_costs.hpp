// How long the matrix products of a warp group take, from the operations "wgmma.*" of a machine description.
#pragma once

#include "machine/machine.hpp"
#include "sass/instruction.hpp"

#include <optional>
#include <string>

namespace gputomo::sim {

struct ProductCost {
    double latency = 0;      ///< cycles from the issue to the end of a wait for it
    double interval = 0;     ///< cycles for which a warp's part keeps the tensor core of its scheduler busy
    std::string assumption;  ///< empty where a scan timed products of these types, with A in the same place
};

/// Between the numbers of columns that a scan timed, both times grow evenly. Types that it did not time take the time
/// of others; nothing where the description has no product at all.
[[nodiscard]] std::optional<ProductCost> product_cost(const machine::Machine& machine,
                                                      const sass::Instruction& instruction);

}  // namespace gputomo::sim
