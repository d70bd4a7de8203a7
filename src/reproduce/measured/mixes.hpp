// Mixes of one access and adds, which rows hold models against: measured at the occupancies that the models are judged
// on.
#pragma once

#include "device/device.hpp"
#include "scan/runner.hpp"

#include <compare>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace gputomo::reproduce {

/// A mix with one chain in a warp: an access and `alpha` adds, again and again (Volkov 2016, 4.1).
struct Mix {
    std::string access;  ///< "global", "shared" or "sfu"
    int alpha = 1;
    auto operator<=>(const Mix&) const =
        default;  // NOLINT(modernize-use-nullptr): clang-tidy 14 takes the comparison with zero for one of pointers
};

/// The record that measure_mixes() gives has this id; it has a trace of mix_trace_name() for each mix, with the columns
/// warps (of an SM) and rate (instructions of the mix per cycle and SM).
inline constexpr std::string_view kMixRecord = "mixes";
[[nodiscard]] std::string mix_trace_name(const Mix& mix);

/// Every mix at numbers of warps that give each scheduler as many (Volkov 2016, 7), those of
/// measure::mix_occupancies(). `scan` says how many schedulers an SM has. What fails or is interrupted is said in
/// the record, as scan::run() does.
[[nodiscard]] scan::Record measure_mixes(device::Device& device, const scan::Scan& scan, const std::set<Mix>& mixes,
                                         const std::function<void(double fraction, std::string_view what)>& progress);

}  // namespace gputomo::reproduce
