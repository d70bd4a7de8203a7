// The caches on the way to constants.
#include "experiments/experiments.hpp"

#include "experiments/caches/cached_path.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/chase_array.hpp"

#include <algorithm>

namespace gputomo::experiments {
namespace constant_caches {
namespace {

/// Bytes of constants that a module may have.
constexpr std::uint64_t kBufferBytes = 64 * 1024;
/// Bytes between loads of the search for levels: no constant cache so far has shorter lines.
constexpr std::uint64_t kStride = 64;

Outcome measure(Context& context) {
    Outcome outcome;
    ChaseArray array(context, {.ring_stride = kStride}, LoadHint::constant);
    add_code_checks(array.kernels(), outcome);
    array.describe(0.1, "constants");
    const PathQuestion question{.experiment = "constant_caches",
                                .path = "constant",
                                .largest = kBufferBytes,
                                .buffer_bytes = kBufferBytes,
                                .stride = kStride};
    measure_path(context, array, question, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace constant_caches

Experiment constant_caches_experiment() {
    return {
        .id = "constant_caches",
        .title = "caches on the way to constants",
        .source = "Wong 2010, IV-J, Figs. 17, 18",
        .method = "instruction-supply",
        .explanation =
            "One thread follows a pointer chain in constant memory, as for global memory. To measure a farther "
            "level, it first evicts the lines from the nearer ones.",
        .needs = {},
        .after = {"clock", "caches"},
        .provides = {"caches.*.latency", "caches.*.latency_range", "caches.*.capacity", "caches.*.line",
                     "caches.*.sector", "caches.*.ways", "caches.*.sets", "caches.*.index", "caches.*.policy",
                     "paths.constant.caches", "paths.constant.memory_latency", "paths.constant.memory_latency_range"},
        .run = constant_caches::run};
}

}  // namespace gputomo::experiments
