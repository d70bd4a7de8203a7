#include "experiments/shared_conflicts.hpp"

namespace gputomo::experiments {
namespace {

constexpr std::uint32_t kWordBytes = 4;
constexpr std::uint32_t kLargestStride = 64;  ///< words; twice the banks of any GPU so far

}  // namespace

double pattern_latency(SharedChase& chase, const std::vector<std::uint32_t>& offsets) {
    std::vector<SharedLink> links;
    for (const std::uint32_t offset : offsets) links.push_back({offset, offset});
    return chase.cycles_of_n(links, offsets) / chase.shape().length;
}

deduce::Trace stride_trace(Context& context, SharedChase& chase) {
    const auto warp = static_cast<std::uint32_t>(context.device.attribute(device::Attribute::warp_size).value_or(32));
    deduce::Trace trace{.name = "shared_latency/strides", .experiment = "shared_latency"};
    trace.columns = {{"stride", "words", {}}, {"latency", "cycles", {}}};
    trace.plot = {"Shared memory: latency of a warp's load against stride", "stride", {"latency"}, false, false};
    for (std::uint32_t stride = 0; stride <= kLargestStride; ++stride) {
        context.progress(static_cast<double>(stride) / kLargestStride, "bank conflicts");
        std::vector<std::uint32_t> offsets;
        for (std::uint32_t thread = 0; thread < warp; ++thread) offsets.push_back(thread * stride * kWordBytes);
        trace.columns[0].values.push_back(stride);
        trace.columns[1].values.push_back(pattern_latency(chase, offsets));
    }
    return trace;
}

}  // namespace gputomo::experiments
