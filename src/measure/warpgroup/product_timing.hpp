// Times groups of matrix products of a warp group.
#pragma once

#include "device/device.hpp"
#include "measure/warpgroup/product_code.hpp"

namespace gputomo::measure {

struct ProductTime {
    double latency = 0;   ///< cycles from the issue of a product to the end of a wait for it
    double interval = 0;  ///< cycles from one product to the next one of the same warp group
};

/// Whether the device executes products of a warp group, and has the registers that timing them needs. Only GPUs of
/// compute capability 9.0 do.
[[nodiscard]] bool executes_warpgroup_products(const device::Device& device);

/// Times single products and groups of five by one warp group on an otherwise idle GPU. `mask` keeps these bits of the
/// random words that fill the matrices. Throws DeviceError as launches do.
[[nodiscard]] ProductTime time_products(device::Device& device, const ProductShape& shape, std::uint32_t mask);

/// Whether the device has registers for two warp groups as well.
[[nodiscard]] bool executes_beside_products(const device::Device& device);

/// Cycles between two integer multiplications of a scheduler.
struct BesideTime {
    double alone = 0;   ///< while its tensor core is idle
    double beside = 0;  ///< while it adds products to single precision sums, which take a register a cycle
};

/// Times one warp of each scheduler, of one block on an otherwise idle GPU. Throws DeviceError as launches do.
[[nodiscard]] BesideTime time_beside_products(device::Device& device, std::uint32_t mask);

}  // namespace gputomo::measure
