// The caches on the way to textures in linear memory.
#include "experiments/experiments.hpp"

#include "experiments/caches/cached_path.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/chase_array.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::experiments {
namespace {

/// No line of textures was ever shorter.
constexpr std::uint64_t kStride = 32;
constexpr std::uint64_t kTexel = 4;
/// Arrays this many times as large as the cache that the driver names, or kLargest where it names none, as large as a
/// texture can be.
constexpr std::int64_t kTimesL2 = 8;
/// A walk through more would take longer than it tells: the cache of the whole GPU is that of global memory wherever it
/// is so large.
constexpr std::int64_t kLargest = std::int64_t{2} << 20, kLargestTexture = std::int64_t{16} << 20;
/// For lines far apart, more than for arrays walked line by line.
constexpr std::int64_t kRoom = std::int64_t{8} << 20;

std::int64_t largest_array(const device::Device& device) {
    const auto l2 = device.attribute(device::Attribute::l2_cache_bytes).value_or(0);
    const auto wanted = std::min(std::max(kTimesL2 * l2, kLargest), kLargestTexture);
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto largest = largest_array(context.device), room = std::max(largest, kRoom);
    const device::Buffer memory(context.device, Bytes{room});
    const auto texture = context.device.linear_texture(memory.address(), Bytes{room}, device::TexelFormat::u32);
    ChaseArray array(context, {.base = memory.address(), .texture = texture}, LoadHint::texture);
    add_code_checks(array.kernels(), outcome);
    array.describe(0.1, "textures");
    const PathQuestion question{.experiment = "texture_caches",
                                .path = "texture",
                                .largest = static_cast<std::uint64_t>(largest),
                                .room = static_cast<std::uint64_t>(room),
                                .stride = kStride,
                                .word = kTexel};
    measure_path(context, array, question, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

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
            .run = run};
}

}  // namespace gputomo::experiments
