// The caches on the way to textures in linear memory.
#include "experiments/experiments.hpp"

#include "experiments/caches/cached_path.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/chase_array.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::experiments {
namespace texture_caches {
namespace {

/// Bytes between loads of the search for levels: no texture cache so far has shorter lines.
constexpr std::uint64_t kStride = 32;
/// Bytes of a texel.
constexpr std::uint64_t kTexel = 4;
/// The largest array is this many times the L2 that the driver reports, or `kLargest` bytes if it reports none, and at
/// most the size of a texture.
constexpr std::int64_t kTimesL2 = 8;
/// Bounds of the array in bytes. Larger arrays take long and show little: a larger cache of the whole GPU is always
/// that of global memory.
constexpr std::int64_t kLargest = std::int64_t{2} << 20, kLargestTexture = std::int64_t{16} << 20;
/// Lines that lie far apart are spread over this many bytes, which is more than a pass over an array needs.
constexpr std::int64_t kBufferBytes = std::int64_t{8} << 20;

std::int64_t largest_array(const device::Device& device) {
    const auto l2 = device.attribute(device::Attribute::l2_cache_bytes).value_or(0);
    const auto wanted = std::min(std::max(kTimesL2 * l2, kLargest), kLargestTexture);
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto largest = largest_array(context.device), buffer_bytes = std::max(largest, kBufferBytes);
    const device::Buffer memory(context.device, Bytes{buffer_bytes});
    const auto texture = context.device.linear_texture(memory.address(), Bytes{buffer_bytes}, device::TexelFormat::u32);
    ChaseArray array(context, {.base = memory.address(), .texture = texture}, LoadHint::texture);
    add_code_checks(array.kernels(), outcome);
    array.describe(0.1, "textures");
    const PathQuestion question{.experiment = "texture_caches",
                                .path = "texture",
                                .largest = static_cast<std::uint64_t>(largest),
                                .buffer_bytes = static_cast<std::uint64_t>(buffer_bytes),
                                .stride = kStride,
                                .word = kTexel};
    measure_path(context, array, question, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace texture_caches

Experiment texture_caches_experiment() {
    return {.id = "texture_caches",
            .title = "caches on the way to textures in linear memory",
            .source = "Wong 2010, IV-H, Figs. 10-12",
            .method = "instruction-supply",
            .explanation =
                "One thread follows a pointer chain as for global memory, with texture fetches from linear memory.",
            .needs = {},
            .after = {"clock", "caches"},
            .provides = {"caches.*.latency", "caches.*.latency_range", "caches.*.capacity", "caches.*.line",
                         "caches.*.sector", "caches.*.ways", "caches.*.sets", "caches.*.index", "caches.*.index_hash",
                         "caches.*.policy", "paths.texture.caches", "paths.texture.memory_latency",
                         "paths.texture.memory_latency_range"},
            .run = texture_caches::run};
}

}  // namespace gputomo::experiments
