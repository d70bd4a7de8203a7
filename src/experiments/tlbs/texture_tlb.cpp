// The TLBs on the way to textures in linear memory.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/tlbs/tlb_levels.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::experiments {
namespace texture_tlb {
namespace {

/// Bytes of the largest range: several times the reach of the TLBs of GPUs without aliasing. A linear texture of words
/// can be larger on every device.
constexpr std::uint64_t kLargest = std::uint64_t{128} << 20;

Outcome measure(Context& context) {
    Outcome outcome;
    // On devices that can alias memory, entries span megabytes: the first TLB covers more than a linear texture can.
    if (context.device.attribute(device::Attribute::virtual_memory_management).value_or(0) == 1) {
        outcome.warnings.emplace_back(
            "texture_tlb: nothing was measured, because the first TLB of this device reaches farther than a linear "
            "texture");
        return outcome;
    }
    const auto memory =
        static_cast<std::uint64_t>(context.device.attribute(device::Attribute::total_memory_bytes).value_or(kLargest));
    const auto mapped = MappedWindow::plain(context.device, std::min(kLargest, std::bit_floor(memory / 2)), kPlainPage);
    const TlbQuestion question{.stride = kPlainStride,
                               .trace = "texture_tlb/levels",
                               .caches = data_caches(context.findings, "texture", "texture_l"),
                               .hint = LoadHint::texture};
    report_tlbs(find_tlbs(context, mapped, question, outcome), "texture", mapped.window().bytes, "texture_tlb",
                outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace texture_tlb

Experiment texture_tlb_experiment() {
    return {.id = "texture_tlb",
            .title = "TLBs on the way to textures in linear memory",
            .source = "Wong 2010, IV-I2, Fig. 16",
            .method = "tlbs",
            .explanation =
                "Texture fetches touch pages that lie far apart, several lines of each, so that the first texture "
                "cache does not hold them. The time that the first fetch of a page takes longer than the others of "
                "that page is translation.",
            .needs = {},
            .after = {"clock", "texture_caches"},
            .provides = {"tlbs.*.reach", "tlbs.*.entries", "tlbs.*.ways", "tlbs.*.sets", "tlbs.*.set_ways",
                         "tlbs.*.span", "tlbs.*.policy", "tlbs.*.miss_penalty", "paths.texture.tlbs"},
            .run = texture_tlb::run};
}

}  // namespace gputomo::experiments
