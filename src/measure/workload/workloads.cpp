#include "measure/workload/workload.hpp"

#include "measure/workload/embedded_files.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace gputomo::measure {
namespace {

constexpr int kThreads = 128;
/// Values that a check looks at.
constexpr std::int64_t kChecked = 1024;

using Words = std::vector<std::uint32_t>;

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// A number without order in the bits of `i` (the finaliser of MurmurHash3).
std::uint32_t scrambled(std::uint32_t i) {
    i = (i ^ (i >> 16)) * 0x85ebca6bU;
    i = (i ^ (i >> 13)) * 0xc2b2ae35U;
    return i ^ (i >> 16);
}

/// A buffer of 32-bit words, word i being value(i); written in pieces.
template <class Value>
device::Buffer filled(device::Device& device, std::int64_t words, Value value) {
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

/// Compares the last words that `blocks` wrote. Addresses, since buffers move with their data.
std::function<void(std::int64_t)> checks(device::Device& device, device::Address result, std::int64_t words_of_block,
                                         std::function<bool(std::int64_t, std::uint32_t)> right) {
    return [&device, result, words_of_block, right = std::move(right)](std::int64_t blocks) {
        const std::int64_t all = blocks * words_of_block, first = std::max<std::int64_t>(0, all - kChecked);
        Words found(static_cast<std::size_t>(all - first));
        device.copy_to_host(std::as_writable_bytes(std::span(found)), result + static_cast<device::Address>(first * 4));
        for (std::size_t i = 0; i < found.size(); ++i)
            if (const auto at = first + static_cast<std::int64_t>(i); !right(at, found[i]))
                throw DeviceError(
                    fmt::format("{}: word {} of the result is {:#x}, which is wrong", device.name(), at, found[i]));
    };
}

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

WorkloadData permute(device::Device& device, std::int64_t blocks, bool random) {
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

/// The kernel takes the sign off its own input, which is put back ahead of each launch.
WorkloadData vector_abs(device::Device& device, std::int64_t blocks, float value) {
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

/// Value of an option by put-call parity: what a call is worth more than a put.
WorkloadData black_scholes(device::Device& device, std::int64_t blocks) {
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
            constexpr double kTolerance = 1e-3;
            float call = 0;
            device.copy_to_host(std::as_writable_bytes(std::span(&call, 1)),
                                calls + static_cast<device::Address>(i * 4));
            const double more = kPrice - strike(i) * std::exp(-kRate * kYears);
            return std::abs(call - std::bit_cast<float>(found) - more) < kTolerance * kPrice && call > 0;
        });
    return data;
}

constexpr int kTile = 64;
constexpr int kColumnBlocks = 16;
constexpr std::uint32_t kColumns = kColumnBlocks * kTile;
constexpr std::uint32_t kDepth = 256;

/// c[i][j] = sum over k of (i + k) mod 3 times (k + j) mod 5, whole numbers that floats hold exactly.
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

constexpr int kSumThreads = 256;
constexpr int kSummed = 4096;  ///< by a block

WorkloadData reduce(device::Device& device, std::int64_t blocks) {
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

constexpr std::string_view kVolkov = "Volkov 2016, 3.8, 3.10";
constexpr std::array kWorkloads{
    Workload{.id = "vector_add",
             .title = "sum of two vectors",
             .source = kVolkov,
             .file = "vector_add",
             .kernel = "vector_add",
             .bytes = 12,
             .data = vector_add},
    Workload{.id = "permute_identity",
             .title = "permutation that leaves all in place",
             .source = kVolkov,
             .file = "permute",
             .kernel = "permute",
             .bytes = 12,
             .data = permute_identity},
    Workload{.id = "permute_random",
             .title = "random permutation, with repetition",
             .source = kVolkov,
             .file = "permute",
             .kernel = "permute",
             .bytes = 12,
             .data = permute_random,
             .scattered_load = 1},
    Workload{.id = "vector_abs_positive",
             .title = "absolute values, nothing to write",
             .source = kVolkov,
             .file = "vector_abs",
             .kernel = "vector_abs",
             .bytes = 4,
             .data = vector_abs_positive,
             .branches = true},
    Workload{.id = "vector_abs_negative",
             .title = "absolute values, all to be written",
             .source = kVolkov,
             .file = "vector_abs",
             .kernel = "vector_abs",
             .bytes = 8,
             .data = vector_abs_negative},
    Workload{.id = "black_scholes",
             .title = "option prices",
             .source = kVolkov,
             .file = "black_scholes",
             .kernel = "black_scholes",
             .bytes = 20,
             .data = black_scholes,
             .branches = true},
    Workload{.id = "black_scholes_fast",
             .title = "option prices with fast math",
             .source = kVolkov,
             .file = "black_scholes_fast",
             .kernel = "black_scholes",
             .bytes = 20,
             .data = black_scholes,
             .branches = true},
    Workload{.id = "sgemm",
             .title = "product of matrices",
             .source = "gputomo",
             .file = "sgemm",
             .kernel = "sgemm",
             .threads = 256,
             .grid_x = kColumnBlocks,
             .flops = 2.0 * 16 * kDepth,
             .data = sgemm,
             .trips = kDepth / 16.0,
             .cached = 1},
    Workload{.id = "reduce",
             .title = "sums of 4096 numbers",
             .source = "gputomo",
             .file = "reduce",
             .kernel = "reduce",
             .threads = kSumThreads,
             .bytes = 4.0 * kSummed / kSumThreads,
             .data = reduce},
};

}  // namespace

std::span<const Workload> workloads() { return kWorkloads; }

const Workload& find_workload(std::string_view id) {
    std::vector<std::string_view> ids;
    for (const auto& workload : kWorkloads) {
        if (workload.id == id) return workload;
        ids.push_back(workload.id);
    }
    throw InputError(fmt::format("kernel '{}': expected one of {}", id, fmt::join(ids, ", ")));
}

std::string_view ptx_of(const Workload& workload) {
    for (const auto& file : embedded_kernels())
        if (file.name == workload.file) return file.text;
    throw std::logic_error(fmt::format("kernels/{}.ptx is not there", workload.file));
}

}  // namespace gputomo::measure
