// Measured mixes in expressions, and models with measured parameters beside them.
#pragma once

#include "reproduce/expression/value.hpp"
#include "reproduce/measured/mixes.hpp"

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// How a function of mixes is called: ACCESS is 'global', 'shared' or 'sfu'; ALPHA adds for each access, 0 for accesses
/// alone, 'adds' for adds alone.
enum class MixForm : std::uint8_t {
    measured,   ///< (ACCESS, ALPHA)
    estimated,  ///< (MODEL, ACCESS, ALPHA)
    several,    ///< (ACCESS, list(ALPHA, ...))
};

struct MixFunction {
    std::string_view name;
    MixForm form;
    bool reads_mixes;  ///< then each ALPHA is written as a number, so that it is known what is to be measured
    Value (*apply)(const scan::Scan& scan, std::span<const Value> arguments);
};

/// mix_warps(ACCESS, ALPHA), mix_rate(ACCESS, ALPHA): numbers of warps of an SM that were tried, and instructions per
/// cycle and SM with them. mix_peak(ACCESS, ALPHA): instructions per cycle and SM that the throughput limits allow.
/// mix_estimate(MODEL, ACCESS, ALPHA): what the model gives with as many warps as mix_warps() has.
/// mix_needed(MODEL, ACCESS, ALPHA): warps of an SM with which the model reaches 90% of the peak.
/// mix_cusp(ACCESS, list(ALPHA, ...)): does one of the mixes need more warps for 90% of its peak than accesses alone
/// and adds alone (Volkov 2016, Fig. 4.6)? Accesses and adds alone are those of the experiment `occupancy`. Null where
/// there is no such function.
[[nodiscard]] const MixFunction* find_mix_function(std::string_view name);

/// "" where `access` is one that a model knows.
[[nodiscard]] std::string why_no_access(std::string_view access);

/// What the experiments of a scan have to give for these functions: leaves, and the experiment of accesses and adds
/// alone.
[[nodiscard]] std::set<std::string> leaves_of_mixes(std::string_view access);
inline constexpr std::string_view kAloneExperiment = "occupancy";

}  // namespace gputomo::reproduce
