// Machine code that times matrix products of a warp group. The kernel is put together from instructions, so that the
// same code runs on a GPU and on a simulated one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// Types of accumulators, A and B: "f32.f16.f16".
[[nodiscard]] const std::vector<std::string>& product_types();
/// Those of products with a sparse A.
[[nodiscard]] const std::vector<std::string>& sparse_product_types();

struct ProductShape {
    std::string types;
    int columns = 64;  ///< N of m64nNkK
    bool a_in_registers = false;
    bool sparse = false;  ///< half of A's elements are there, and K is twice as large
};

/// "wgmma.m64n64k16.f32.f16.f16", with ".registers" where A is in registers: its operation in a machine description.
/// Where A is sparse, it is "wgmma.sp.m64n64k32.f32.f16.f16".
[[nodiscard]] std::string operation_of(const ProductShape& shape);
/// "HGMMA.64x64x16.F32"
[[nodiscard]] std::string mnemonic_of(const ProductShape& shape);

/// How often the kernel times the products; the first time finds no code in the caches.
inline constexpr int kProductRounds = 4;
/// Threads of a block: one warp group.
inline constexpr int kProductThreads = 128;
/// Registers of a thread, as they are allocated.
inline constexpr int kProductRegisters = 160;
inline constexpr std::string_view kProductKernel = "products";
/// Cycles by which a wait that has nothing to wait for holds its warp: the stall count of its instruction.
inline constexpr int kWaitStall = 2;

/// A cubin with the kernel `kProductKernel`: it fills shared memory, and times a group of `count` products and the wait
/// for them. Parameters: address of the cycles by round and thread (32-bit words), descriptors of A and B, and the mask
/// of the random words that fill the matrices (0: zeros). Throws InputError for types that no instruction has.
[[nodiscard]] std::vector<std::byte> product_cubin(const ProductShape& shape, int count);

/// Warp groups of the kernel that times arithmetic beside products: the first one multiplies.
inline constexpr int kBesideThreads = 2 * kProductThreads;
/// Timed instructions of each warp of the second group. The products of a round take far longer.
inline constexpr int kBesideInstructions = 24;
/// A cubin with the kernel `kProductKernel`. In each round one warp group executes `count` products m64n256k16 of half
/// precision with single precision sums. The warps of another one multiply integers that do not depend on each other.
/// Parameters are those of product_cubin(); only threads of the second group write cycles.
[[nodiscard]] std::vector<std::byte> beside_cubin(int count);

/// Descriptors of A and B in the kernel's shared memory, without swizzle. Columns that a sparse A is multiplied with
/// are twice as long, and eight of them share half of their elements with the next eight.
[[nodiscard]] std::uint64_t product_descriptor_a();
[[nodiscard]] std::uint64_t product_descriptor_b();

}  // namespace gputomo::measure
