// Measures the mixes of one access and adds that expressions name, at the occupancies at which models are judged.
#pragma once

#include "device/device.hpp"
#include "scan/runner.hpp"

#include <compare>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// A mix with one dependence chain per warp: an access and `alpha` adds, repeated (Volkov 2016, 4.1).
struct Mix {
    std::string access;  ///< "global", "shared" or "sfu"
    int alpha = 1;
    auto operator<=>(const Mix&) const =
        default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 mistakes the comparison with zero for one of pointers
};

/// The id of the record that measure_mixes() returns. The record has a trace mix_trace_name() for each mix, with the
/// columns warps (per SM) and rate (instructions of the mix per cycle and SM).
inline constexpr std::string_view kMixRecord = "mixes";
[[nodiscard]] std::string mix_trace_name(const Mix& mix);

/// Measures every mix at the occupancies of measure::mix_occupancies(), which give each scheduler the same number of
/// warps (Volkov 2016, 7). The number of schedulers is taken from `scan`. A failure or an interruption stands in the
/// record, as after scan::run().
[[nodiscard]] scan::Record measure_mixes(device::Device& device, const scan::Scan& scan, const std::set<Mix>& mixes,
                                         const std::function<void(double fraction, std::string_view what)>& progress);

}  // namespace gputomo::reproduce
