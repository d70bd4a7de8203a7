#include "costs/fences.hpp"

#include <string>

namespace gputomo::costs {
namespace {

/// Cycles that the other instructions of a fence take: the clock behind MEMBAR, and CGAERRBAR behind ERRBAR.
constexpr double kFenceCode = 2, kErrorChecks = 6;

}  // namespace

FenceSpec fence_spec_of(const machine::Machine& machine) {
    const auto latency = [&machine](std::string_view operation) {
        const auto found = machine.operations.find(std::string(operation));
        return found == machine.operations.end() ? 0 : static_cast<double>(found->second.latency.value_or(0));
    };
    FenceSpec spec;
    spec.view = latency(kSharedProxyFence);
    const double whole = latency(kGpuFence), proxy = latency(kProxyFence);
    spec.described = whole > 0;
    if (!spec.described) return spec;
    // The fence of the asynchronous proxy has the same MEMBAR, but no ERRBAR.
    spec.gpu = std::max(0.0, (proxy > 0 ? proxy : whole) - kFenceCode);
    spec.errors = proxy > 0 ? std::max(0.0, whole - proxy - kErrorChecks) : 0;
    spec.system = std::max(spec.gpu, latency(kSystemFence) - kFenceCode - kErrorChecks - spec.errors);
    spec.acknowledged = latency(kAcknowledgedStore);
    return spec;
}

}  // namespace gputomo::costs
