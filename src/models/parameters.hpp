// What models of latency hiding know of a GPU: latencies and rates of one SM, taken from a machine description.
#pragma once

#include "machine/machine.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::models {

/// What the instruction that is mixed with arithmetic does (Volkov 2016, 4.1 and 4.7).
enum class Access : std::uint8_t { global, shared, sfu, l2, l1, tensor };

/// "global", "shared", "sfu", "l2", "l1", "tensor".
[[nodiscard]] std::string_view name_of(Access access);
[[nodiscard]] std::span<const std::string_view> access_names();
/// Throws InputError naming the choices.
[[nodiscard]] Access access_named(std::string_view name);

/// Part of a latency by which single loads are faster or slower than it says: half of its interval, which in scans
/// holds 90% of the single loads. 0 without one.
[[nodiscard]] double spread_of_single_loads(const machine::Integer& latency);

/// One kind of instruction on one SM.
struct Rate {
    double latency = 0;     ///< cycles from issue to the issue of a dependent instruction
    double throughput = 0;  ///< warp instructions per cycle and SM
};

/// Mean latency of memory accesses, base + sum of slope x / (limit - x), at a throughput of x (Volkov 2016, 6.4).
struct Contention {
    struct Term {
        double slope = 0;  ///< cycles
        double limit = 0;  ///< GB/s
    };
    double base = 0;  ///< cycles
    std::vector<Term> terms;

    /// Cycles at `gigabytes_per_second`, which is below lowest_limit().
    [[nodiscard]] double latency(double gigabytes_per_second) const;
    [[nodiscard]] double lowest_limit() const;
};

/// Instructions per cycle and SM by warps per SM, where a model wants measured throughput of one kind of instruction
/// alone.
using Curve = std::map<double, double>;
/// Linear between samples, through the origin, constant behind the last one.
[[nodiscard]] double value_at(const Curve& curve, double warps);
/// Linear between samples, constant before the first and behind the last one. The curve has a sample.
[[nodiscard]] double value_near(const Curve& curve, double x);

struct Parameters {
    std::string gpu;
    Access access = Access::global;
    int sms = 1;
    int schedulers = 1;  ///< of an SM
    int max_warps = 0;   ///< of an SM; 0 where unknown
    double clock_ghz = 1;
    Rate
        arithmetic;  ///< floating-point adds; the rate of instructions that depend on each other, so without dual issue
    Rate memory;     ///< the other instruction of the mix; 0 what descriptions lack (rates of caches, all of products),
                     ///< for who measured it to fill in
    double latency_spread =
        0;  ///< part of its latency by which answers come sooner or later; none from what an SM has to itself
    double access_slots = 1;  ///< issue slots that the other instruction takes (Volkov 2016, 4.7)
    /// Latency of the other instruction where an add depends on it, if that differs (Volkov 2016, 4.7).
    std::optional<double> latency_to_arithmetic;
    double issue_throughput = 1;  ///< issues per cycle and SM
    double ilp_latency = 1;       ///< cycles between independent instructions of a warp
    double access_bytes = 128;    ///< that one memory instruction of a warp moves
    double transactions = 1;      ///< of a memory instruction
    double pin_bandwidth = 0;     ///< GB/s; 0 where unknown
    std::optional<Contention> contention;
    /// Measured with one kind of instruction alone, for Zhang and Owens 2011; empty: the latency and throughput bound
    /// stand in.
    Curve arithmetic_curve;
    Curve memory_curve;
    /// Mean latency of memory instructions, cycles, by their number per cycle and SM, from measurements of them alone.
    Curve loaded_latency;

    /// GB/s of all SMs at `accesses` memory instructions per cycle and SM, and back.
    [[nodiscard]] double bandwidth(double accesses) const { return accesses * access_bytes * sms * clock_ghz; }
    [[nodiscard]] double accesses(double gigabytes_per_second) const {
        return gigabytes_per_second / (access_bytes * sms * clock_ghz);
    }
};

/// The number; where several are left, the middle of them.
[[nodiscard]] std::optional<double> middle(const machine::Integer& field);

/// Reads them from a description (a scan's, or a shipped one); `origin` starts error messages.
/// Throws InputError naming the leaf that is missing.
[[nodiscard]] Parameters parameters_of(const machine::Machine& machine, Access access = Access::global,
                                       std::string_view origin = "machine");

}  // namespace gputomo::models
