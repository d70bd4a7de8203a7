// Attributes that the driver reports, copied into the description.
#include "experiments/experiments.hpp"

#include "results/estimates.hpp"

#include <array>

namespace gputomo::experiments {
namespace attributes {
namespace {

struct AttributeLeaf {
    device::Attribute attribute;
    std::string_view path;
};

using enum device::Attribute;
constexpr std::array kLeaves = {
    AttributeLeaf{compute_capability_major, "identity.compute_capability_major"},
    AttributeLeaf{compute_capability_minor, "identity.compute_capability_minor"},
    AttributeLeaf{multiprocessor_count, "topology.sms"},
    AttributeLeaf{warp_size, "topology.warp_size"},
    AttributeLeaf{max_threads_per_block, "topology.max_threads_per_block"},
    AttributeLeaf{max_threads_per_multiprocessor, "topology.max_threads_per_sm"},
    AttributeLeaf{max_blocks_per_multiprocessor, "topology.max_blocks_per_sm"},
    AttributeLeaf{max_registers_per_multiprocessor, "topology.registers_per_sm"},
    AttributeLeaf{max_shared_memory_per_multiprocessor, "shared.capacity"},
    AttributeLeaf{total_memory_bytes, "memory.capacity"},
};

/// The most bytes that a block may use, with opt-in if the device has it.
std::optional<std::int64_t> shared_per_block(const device::Device& device) {
    const auto opted_in = device.attribute(max_shared_memory_per_block_optin);
    return opted_in ? opted_in : device.attribute(max_shared_memory_per_block);
}

Outcome run(Context& context) {
    context.progress(0, "reading attributes");
    const Evidence evidence{"device attribute", kAttributeConfidence};
    Outcome outcome;
    outcome.estimates.push_back(decided("identity.name", context.device.name(), evidence));
    for (const auto& [attribute, path] : kLeaves)
        if (const auto value = context.device.attribute(attribute))
            outcome.estimates.push_back(decided(std::string(path), *value, evidence));
    if (const auto bytes = shared_per_block(context.device))
        outcome.estimates.push_back(decided("shared.max_per_block", *bytes, evidence));
    return outcome;
}

}  // namespace
}  // namespace attributes

Experiment attributes_experiment() {
    return {.id = "attributes",
            .title = "what the driver says: counts and limits",
            .source = "CUDA driver API, cuDeviceGetAttribute",
            .method = "registers-and-launch",
            .explanation =
                "gputomo asks the driver. It measures none of these values; other experiments use them as limits "
                "of what they launch.",
            .needs = {},
            .provides = {"identity.name", "identity.compute_capability_major", "identity.compute_capability_minor",
                         "topology.sms", "topology.warp_size", "topology.max_threads_per_block",
                         "topology.max_threads_per_sm", "topology.max_blocks_per_sm", "topology.registers_per_sm",
                         "shared.capacity", "shared.max_per_block", "memory.capacity"},
            .run = attributes::run};
}

}  // namespace gputomo::experiments
