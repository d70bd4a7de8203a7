// Functions of measured instruction mixes, and of models with measured parameters beside them.
#pragma once

#include "reproduce/expression/value.hpp"
#include "reproduce/measured/mixes.hpp"

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// How a function of mixes is called. ACCESS is 'global', 'shared' or 'sfu'. ALPHA is the number of adds for each
/// access; 0 stands for accesses alone and 'adds' for adds alone.
enum class MixForm : std::uint8_t {
    measured,   ///< (ACCESS, ALPHA)
    estimated,  ///< (MODEL, ACCESS, ALPHA)
    several,    ///< (ACCESS, list(ALPHA, ...))
};

struct MixFunction {
    std::string_view name;
    MixForm form;
    bool reads_mixes;  ///< whether it needs measurements: each ALPHA must then be a literal, so that it can be measured
    Value (*apply)(const scan::Scan& scan, std::span<const Value> arguments);
};

/// Finds a function of mixes; null where it does not exist. Rates are instructions per cycle and SM.
/// - mix_warps(ACCESS, ALPHA) lists the measured occupancies in warps per SM.
/// - mix_rate(ACCESS, ALPHA) lists the rates that were measured with them.
/// - mix_peak(ACCESS, ALPHA) is the rate that the throughput limits allow.
/// - mix_estimate(MODEL, ACCESS, ALPHA) lists the rates that the model estimates at the occupancies of mix_warps().
/// - mix_needed(MODEL, ACCESS, ALPHA) is the number of warps per SM with which the model reaches 90% of the peak.
/// - mix_cusp(ACCESS, list(ALPHA, ...)) says whether one of the mixes needs more warps for 90% of its peak than
///   accesses alone and adds alone do (Volkov 2016, Fig. 4.6).
///
/// The experiment `occupancy` measures accesses and adds alone.
[[nodiscard]] const MixFunction* find_mix_function(std::string_view name);

/// "" where models know this access; otherwise those that they know.
[[nodiscard]] std::string alternatives_to_access(std::string_view access);

/// The leaves that these functions read. They also read the traces of kAloneExperiment: accesses and adds alone.
[[nodiscard]] std::set<std::string> leaves_of_mixes(std::string_view access);
inline constexpr std::string_view kAloneExperiment = "occupancy";

}  // namespace gputomo::reproduce
