#include "measure/workload/workload_data.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace gputomo::measure::workload_data {
namespace {

constexpr int kThreads = 128;  ///< of a block, as the kernels in kernels/ expect
/// Values that a check compares. More take longer; fewer might miss a wrong block.
constexpr std::int64_t kChecked = 1024;

using Words = std::vector<std::uint32_t>;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// A pseudo-random number from the bits of `i` (the finaliser of MurmurHash3).
std::uint32_t scrambled(std::uint32_t i) {
    i = (i ^ (i >> 16)) * 0x85ebca6bU;
    i = (i ^ (i >> 13)) * 0xc2b2ae35U;
    return i ^ (i >> 16);
}

/// A buffer of 32-bit words with word i = value(i), written in pieces.
template <class Value>
device::Buffer filled(device::Device& device, std::int64_t words, Value value) {
    // Words on the host at a time: 16 MiB. A smaller number makes more copies; a larger one takes memory and is no
    // faster.
    constexpr std::int64_t kPiece = std::int64_t{1} << 22;
    device::Buffer buffer(device, Bytes{words * 4});
    Words piece;
    for (std::int64_t first = 0; first < words; first += kPiece) {
        piece.resize(static_cast<std::size_t>(std::min(kPiece, words - first)));
        for (std::size_t i = 0; i < piece.size(); ++i)
            piece[i] = value(static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(i));
        device.copy_to_device(buffer.address() + static_cast<device::Address>(first * 4),
                              std::as_bytes(std::span(piece)));
    }
    return buffer;
}

device::Buffer constant(device::Device& device, std::int64_t words, std::uint32_t value) {
    device::Buffer buffer(device, Bytes{words * 4});
    device.fill_u32(buffer.address(), value, static_cast<std::size_t>(words));
    return buffer;
}

/// Compares the last words that `blocks` blocks wrote. It captures addresses, because buffers move with their data.
std::function<void(std::int64_t)> checks(device::Device& device, device::Address result, std::int64_t words_of_block,
                                         std::function<bool(std::int64_t, std::uint32_t)> right) {
    return [&device, result, words_of_block, right = std::move(right)](std::int64_t blocks) {
        const std::int64_t all = blocks * words_of_block, first = std::max<std::int64_t>(0, all - kChecked);
        Words found(static_cast<std::size_t>(all - first));
        device.copy_to_host(std::as_writable_bytes(std::span(found)), result + static_cast<device::Address>(first * 4));
        for (std::size_t i = 0; i < found.size(); ++i)
            if (const auto at = first + static_cast<std::int64_t>(i); !right(at, found[i]))
                throw DeviceError(
                    fmt::format("{}: the kernel left a wrong result: word {} is {:#x}", device.name(), at, found[i]));
    };
}

}  // namespace

WorkloadData vector_add(device::Device& device, std::int64_t blocks) {
    const std::int64_t n = blocks * kThreads;
    WorkloadData data;
    data.buffers.push_back(constant(device, n, bits(1.5F)));
    data.buffers.push_back(filled(device, n, [](std::uint32_t i) { return bits(static_cast<float>(i % 1024)); }));
    data.buffers.push_back(constant(device, n, 0));
    for (const auto& buffer : data.buffers) data.arguments.add(buffer.address());
    data.check = checks(device, data.buffers[2].address(), kThreads, [](std::int64_t i, std::uint32_t found) {
        return found == bits(static_cast<float>(i % 1024) + 1.5F);
    });
    return data;
}

static WorkloadData permute(device::Device& device, std::int64_t blocks, bool random) {
    const std::int64_t n = blocks * kThreads;
    const auto from = [random, n](std::uint32_t i) {
        return random ? static_cast<std::uint32_t>(scrambled(i) % static_cast<std::uint64_t>(n)) : i;
    };
    WorkloadData data;
    data.buffers.push_back(constant(device, n, 0));
    data.buffers.push_back(filled(device, n, [](std::uint32_t i) { return 3 * i; }));
    data.buffers.push_back(filled(device, n, from));
    for (const auto& buffer : data.buffers) data.arguments.add(buffer.address());
    data.check = checks(device, data.buffers[0].address(), kThreads, [from](std::int64_t i, std::uint32_t found) {
        return found == 3 * from(static_cast<std::uint32_t>(i));
    });
    return data;
}
WorkloadData permute_identity(device::Device& device, std::int64_t blocks) { return permute(device, blocks, false); }
WorkloadData permute_random(device::Device& device, std::int64_t blocks) { return permute(device, blocks, true); }

/// The kernel clears the sign of its own input, which is restored before each launch.
static WorkloadData vector_abs(device::Device& device, std::int64_t blocks, float value) {
    const std::int64_t n = blocks * kThreads;
    WorkloadData data;
    data.buffers.push_back(constant(device, n, bits(value)));
    const device::Address array = data.buffers[0].address();
    data.arguments.add(array);
    if (value < 0)
        data.before = [&device, array, n, value] { device.fill_u32(array, bits(value), static_cast<std::size_t>(n)); };
    data.check = checks(device, array, kThreads,
                        [value](std::int64_t, std::uint32_t found) { return found == bits(std::abs(value)); });
    return data;
}
WorkloadData vector_abs_positive(device::Device& device, std::int64_t blocks) { return vector_abs(device, blocks, 2); }
WorkloadData vector_abs_negative(device::Device& device, std::int64_t blocks) { return vector_abs(device, blocks, -2); }

/// Checks option values by put-call parity: the difference of a call and a put.
WorkloadData black_scholes(device::Device& device, std::int64_t blocks) {
    // Interest, volatility, price of the share and years to expiry. Put-call parity holds for any values.
    constexpr float kRate = 0.02F, kVolatility = 0.3F, kPrice = 25, kYears = 1.5F;
    const std::int64_t n = blocks * kThreads;
    const auto strike = [](std::int64_t i) { return 10 + static_cast<float>(i % 64); };
    WorkloadData data;
    for (int result = 0; result < 2; ++result) data.buffers.push_back(constant(device, n, 0));
    data.buffers.push_back(constant(device, n, bits(kPrice)));
    data.buffers.push_back(filled(device, n, [strike](std::uint32_t i) { return bits(strike(i)); }));
    data.buffers.push_back(constant(device, n, bits(kYears)));
    for (const auto& buffer : data.buffers) data.arguments.add(buffer.address());
    data.arguments.add(kRate).add(kVolatility);
    const device::Address calls = data.buffers[0].address();
    data.check = checks(
        device, data.buffers[1].address(), kThreads, [&device, calls, strike](std::int64_t i, std::uint32_t found) {
            // Single precision and approximate functions err by less; a wrong block is off by far more.
            constexpr double kTolerance = 1e-3;
            float call = 0;
            device.copy_to_host(std::as_writable_bytes(std::span(&call, 1)),
                                calls + static_cast<device::Address>(i * 4));
            const double more = kPrice - strike(i) * std::exp(-kRate * kYears);
            return std::abs(call - std::bit_cast<float>(found) - more) < kTolerance * kPrice && call > 0;
        });
    return data;
}

constexpr int kTile = 64;  ///< rows and columns of a block's part of the result
constexpr std::uint32_t kColumns = kColumnBlocks * kTile;

/// c[i][j] = sum over k of ((i + k) mod 3) x ((k + j) mod 5): whole numbers that floats hold exactly.
WorkloadData sgemm(device::Device& device, std::int64_t blocks) {
    constexpr int kBlockWords = kTile * kTile;
    const std::int64_t rows = blocks / kColumnBlocks * kTile;
    const auto a = [](std::uint32_t i, std::uint32_t k) { return (i + k) % 3; };
    const auto b = [](std::uint32_t k, std::uint32_t j) { return (k + j) % 5; };
    WorkloadData data;
    data.buffers.push_back(filled(device, rows * kDepth, [a](std::uint32_t at) {
        return bits(static_cast<float>(a(at / kDepth, at % kDepth)));
    }));
    data.buffers.push_back(filled(device, std::int64_t{kDepth} * kColumns, [b](std::uint32_t at) {
        return bits(static_cast<float>(b(at / kColumns, at % kColumns)));
    }));
    data.buffers.push_back(constant(device, rows * kColumns, 0));
    for (const auto& buffer : data.buffers) data.arguments.add(buffer.address());
    data.arguments.add(kColumns).add(kDepth);
    data.check = checks(device, data.buffers[2].address(), kBlockWords, [a, b](std::int64_t at, std::uint32_t found) {
        const auto i = static_cast<std::uint32_t>(at / kColumns), j = static_cast<std::uint32_t>(at % kColumns);
        std::uint32_t sum = 0;
        for (std::uint32_t k = 0; k < kDepth; ++k) sum += a(i, k) * b(k, j);
        return found == bits(static_cast<float>(sum));
    });
    return data;
}

WorkloadData reduce(device::Device& device, std::int64_t blocks) {
    // Values repeat after these, so that each block's sum is exact.
    constexpr std::uint32_t kDifferent = 8;
    WorkloadData data;
    data.buffers.push_back(
        filled(device, blocks * kSummed, [](std::uint32_t i) { return bits(static_cast<float>(i % kDifferent)); }));
    data.buffers.push_back(constant(device, blocks, 0));
    for (const auto& buffer : data.buffers) data.arguments.add(buffer.address());
    data.check = checks(device, data.buffers[1].address(), 1, [](std::int64_t, std::uint32_t found) {
        return found == bits(kSummed * (kDifferent - 1) / 2.0F);
    });
    return data;
}

}  // namespace gputomo::measure::workload_data
