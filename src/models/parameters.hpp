// The parameters of latency-hiding models: latencies and rates of one SM, taken from a machine description.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::models {

/// The kind of the instruction that is mixed with arithmetic (Volkov 2016, 4.1 and 4.7).
enum class Access : std::uint8_t { global, shared, sfu, l2, l1, tensor };

/// "global", "shared", "sfu", "l2", "l1", "tensor".
[[nodiscard]] std::string_view name_of(Access access);
[[nodiscard]] std::span<const std::string_view> access_names();
/// Throws InputError naming the choices.
[[nodiscard]] Access access_named(std::string_view name);

/// Relative spread of single loads around a latency: half of its interval, which in scans holds 90% of the single
/// loads, over the latency. 0 without an interval.
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

/// A measured function of one variable, such as instructions per cycle and SM by warps per SM.
using Curve = std::map<double, double>;
/// Interpolates linearly between samples and from the origin to the first one; constant beyond the last one.
[[nodiscard]] double value_at(const Curve& curve, double warps);
/// Interpolates linearly between samples; constant before the first and beyond the last one. The curve must have a
/// sample.
[[nodiscard]] double value_near(const Curve& curve, double x);

struct Parameters {
    std::string gpu;
    Access access = Access::global;
    int sms = 1;
    int schedulers = 1;  ///< of an SM
    int max_warps = 0;   ///< of an SM; 0 if unknown
    double clock_ghz = 1;
    Rate arithmetic;  ///< floating-point adds; the rate of dependent instructions, so without dual issue
    /// The other instruction of the mix. Values that the description lacks are 0 (rates of caches, all of MMA), for the
    /// caller to fill in from measurements.
    Rate memory;
    /// Relative spread of single latencies around `memory.latency`; 0 for units that belong to one SM.
    double latency_spread = 0;
    double access_slots = 1;  ///< issue slots that the other instruction takes (Volkov 2016, 4.7)
    /// Latency of the other instruction to a dependent add, if it differs (Volkov 2016, 4.7).
    std::optional<double> latency_to_arithmetic;
    double issue_throughput = 1;  ///< issues per cycle and SM
    double ilp_latency = 1;       ///< cycles between independent instructions of a warp
    double access_bytes = 128;    ///< bytes that one memory instruction of a warp moves
    double transactions = 1;      ///< of one memory instruction
    double pin_bandwidth = 0;     ///< GB/s; 0 if unknown
    std::optional<Contention> contention;
    /// Measured throughput of one kind of instruction alone, for Zhang and Owens 2011. If empty, the latency and the
    /// throughput bound take its place.
    Curve arithmetic_curve;
    Curve memory_curve;
    /// Mean latency of memory instructions in cycles by memory instructions per cycle and SM, measured with them alone.
    Curve loaded_latency;

    /// GB/s of all SMs at `accesses` memory instructions per cycle and SM.
    [[nodiscard]] double bandwidth(double accesses) const { return accesses * access_bytes * sms * clock_ghz; }
    /// Memory instructions per cycle and SM at `gigabytes_per_second` of all SMs.
    [[nodiscard]] double accesses(double gigabytes_per_second) const {
        return gigabytes_per_second / (access_bytes * sms * clock_ghz);
    }
};

/// The value of a decided field, or the middle of the candidates of an undecided one.
[[nodiscard]] std::optional<double> middle(const machine::Integer& field);

/// Reads the parameters from a description; `origin` (a file name) starts error messages. Throws InputError that names
/// the missing leaf.
[[nodiscard]] Parameters parameters_of(const machine::Machine& machine, Access access = Access::global,
                                       std::string_view origin = "machine");

}  // namespace gputomo::models
