// The quantities that a performance engineer asks for first: leaves of the description, and results of several leaves.
#pragma once

#include "report/parts/text.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// A leaf of the first screen and the words below its value.
struct Headline {
    std::string_view path;
    std::string_view label;
};
[[nodiscard]] std::span<const Headline> headlines();

/// This leaf has a card only where it is empty: the cards of L1 and L2 are then missing.
inline constexpr std::string_view kGlobalCaches = "paths.global.caches";

/// Warps per SM that keep DRAM busy when each thread has one 4-byte load in flight: latency x the SM's share of the
/// bandwidth / 128 bytes (Little's law; Volkov 2016, 3.4). They may be more than an SM holds: see streaming().
[[nodiscard]] std::optional<double> warps_for_memory(const Facts& facts);

/// What streams at nearly the full bandwidth of DRAM, in numbers that an SM can have.
struct Streaming {
    double bytes_in_flight = 0;  ///< of an SM
    bool measured = false;  ///< 90% of the highest rate was measured with them; otherwise Little's law asks for them
    int warps = 0;          ///< of an SM, at most as many as it holds
    int loads = 1;          ///< in flight of each thread, of 4 bytes each
    int wide_warps = 0;     ///< warps that are enough with one load of 16 bytes a thread; 0 where none are
};
[[nodiscard]] std::optional<Streaming> streaming(const Facts& facts);

/// "64 warps with 2 loads of 4 bytes each"
[[nodiscard]] std::string streaming_text(const Streaming& streaming);

/// A rate of matrix products: of mma.sync (pipelines.tensor), or of the products of warp groups (operations[wgmma...]).
struct TensorRate {
    std::string type;                             ///< of the factors, as people say it: "FP16"
    std::string instruction;                      ///< "wgmma.m64n256k16", or "mma.m16n8k16"
    double per_cycle = 0;                         ///< operations of an SM in a cycle; a multiply-add counts as two
    std::optional<double> of_all;                 ///< operations per second of all SMs
    std::string path;                             ///< of the leaf
    [[nodiscard]] std::string_view unit() const;  ///< "FLOP", or "OP" for integers
};
/// The fastest instruction of each type, fastest type first; for one type the products of warp groups come before mma.
[[nodiscard]] std::vector<TensorRate> tensor_rates(const Facts& facts);

/// What a rate in products means, for the leaf at `path`: "4096 FLOP/cycle". Empty for other leaves.
[[nodiscard]] std::string in_operations(std::string_view path, double products_per_cycle);

/// Operations per second of all SMs, a fused multiply-add of `operation` counted as two.
[[nodiscard]] std::optional<double> fused_per_second(const Facts& facts, std::string_view operation);

/// A rate with a prefix of the SI: "67.0 TFLOP/s".
[[nodiscard]] std::string with_prefix(double per_second, std::string_view unit);

/// Warps per SM that keep its FP32 units busy when each thread has one add in flight: latency x throughput. Dual issue
/// is left out, because adds that depend on each other do not issue together (Volkov 2016, 4.1).
[[nodiscard]] std::optional<double> warps_for_arithmetic(const Facts& facts);

/// Bytes that DRAM delivers for each FP32 add that the SMs execute: bandwidth over the add throughput of all SMs
/// (Volkov 2016, 4.4). The bandwidth is that of the pins, or else the measured one of reads.
[[nodiscard]] std::optional<double> bytes_per_add(const Facts& facts);

/// DRAM latency in nanoseconds.
[[nodiscard]] std::optional<double> memory_nanoseconds(const Facts& facts);

}  // namespace gputomo::report
