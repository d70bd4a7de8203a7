// What shares each cache: two blocks compete from chosen SMs (Wong 2010, IV-J4, Fig. 20).
#include "experiments/experiments.hpp"

#include "deduce/cache/levels/levels.hpp"
#include "experiments/caches/known_caches.hpp"
#include "experiments/caches/scope_report.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/interference_chase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace gputomo::experiments {
namespace scopes {
namespace {

/// Bytes of constants that a kernel can address.
constexpr std::uint64_t kConstants = 64 * 1024;
/// Bytes of memory that arrays may take. Larger caches belong to the whole GPU on every GPU so far, and take long to
/// fill.
constexpr std::int64_t kMostMemory = std::int64_t{256} << 20;

/// Lines of an array: every SM reads it, and more lines would take minutes.
constexpr std::size_t kMostLines = 16384;

/// A cache as earlier experiments found it.
struct KnownCache {
    std::string name;
    std::uint64_t capacity = 0, line = 0;
    double latency = 0, next_latency = 0;
};

/// The caches of a path, up to the first whose capacity or latency is unknown.
std::vector<KnownCache> caches_of(const Findings& findings, const std::string& path) {
    std::vector<KnownCache> caches;
    const auto names = names_of(findings, fmt::format("paths.{}.caches", path));
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto leaf = [&](std::string_view what) {
            return findings.number(fmt::format("caches.{}.{}", names[i], what));
        };
        const auto capacity = least_of(findings, fmt::format("caches.{}.capacity", names[i]));
        const auto next = i + 1 < names.size() ? findings.number(fmt::format("caches.{}.latency", names[i + 1]))
                                               : findings.number(fmt::format("paths.{}.memory_latency", path));
        if (!capacity || *capacity <= 0 || !leaf("latency") || !next) break;
        const double line = leaf("line").value_or(leaf("sector").value_or(128));
        caches.push_back({names[i], static_cast<std::uint64_t>(*capacity), static_cast<std::uint64_t>(line),
                          *leaf("latency"), *next});
    }
    return caches;
}

/// Two arrays of one size, one after the other, in steps of the longest line. Empty if the buffer is too small for
/// them.
std::array<std::vector<device::Address>, 2> arrays_for(const std::vector<KnownCache>& caches, std::size_t index,
                                                       std::uint64_t buffer_bytes, device::Address base) {
    std::uint64_t line = 0;
    for (std::size_t i = 0; i <= index; ++i) line = std::max(line, caches[i].line);
    const std::uint64_t capacity = caches[index].capacity, bytes = Footprints(capacity, capacity).own / line * line;
    // The rival's array begins at the next power of two, so that it covers the same sets.
    const std::uint64_t second = std::min(std::bit_ceil(bytes), buffer_bytes / 2);
    if (bytes == 0 || bytes > second) return {};
    std::array<std::vector<device::Address>, 2> arrays;
    for (const auto offset : deduce::strided(bytes, line)) {
        arrays[0].push_back(base + offset);
        arrays[1].push_back(base + second + offset);
    }
    return arrays;
}

struct Place {
    std::string path;
    LoadHint hint = LoadHint::all;
    device::Address base = 0;
    std::uint64_t buffer_bytes = 0;
    device::Texture texture = 0;
};

void measure_path(Context& context, const Place& place, std::vector<KnownCache> caches, Outcome& outcome) {
    if (caches.empty()) return;
    InterferenceChase competition(context.device, place.hint, place.base, place.texture);
    for (std::size_t i = 0; i < caches.size(); ++i) {
        const auto arrays = arrays_for(caches, i, place.buffer_bytes, place.base);
        if (arrays[0].empty()) continue;
        if (arrays[0].size() > kMostLines) {
            outcome.warnings.push_back(
                fmt::format("scopes: {} was left out: its test reads {} lines from every SM; more than {} take minutes",
                            caches[i].name, arrays[0].size(), kMostLines));
            continue;
        }
        competition.set_arrays(arrays[0], arrays[1]);
        context.progress(static_cast<double>(i) / static_cast<double>(caches.size()),
                         fmt::format("what shares {}", caches[i].name));
        report_scope(context, fmt::format("caches.{}.scope", caches[i].name),
                     compete_with_all(context, competition, caches[i].next_latency - caches[i].latency),
                     "scopes: a block on each other SM competes with a block on SM 0 for the cache", outcome);
    }
}

Outcome measure(Context& context) {
    Outcome outcome;
    measure_path(context, {"constant", LoadHint::constant, 0, kConstants, 0}, caches_of(context.findings, "constant"),
                 outcome);
    const auto total = context.device.attribute(device::Attribute::total_memory_bytes).value_or(kMostMemory);
    const auto buffer_bytes = std::min(kMostMemory, total / 4);
    const device::Buffer memory(context.device, Bytes{buffer_bytes});
    auto global = caches_of(context.findings, "global");
    // The L1 comes before textures: on an H200, loads of lines that texture fetches brought into the L1 miss there
    // while these lines are resident.
    if (!global.empty() && global.front().name == "l1") {
        measure_path(context, {"global", LoadHint::all, memory.address(), static_cast<std::uint64_t>(buffer_bytes), 0},
                     {global.front()}, outcome);
        global.erase(global.begin());
    }
    const auto texture = context.device.linear_texture(memory.address(), Bytes{buffer_bytes}, device::TexelFormat::u32);
    measure_path(context,
                 {"texture", LoadHint::texture, memory.address(), static_cast<std::uint64_t>(buffer_bytes), texture},
                 caches_of(context.findings, "texture"), outcome);
    measure_path(context, {"global", LoadHint::l2_only, memory.address(), static_cast<std::uint64_t>(buffer_bytes), 0},
                 global, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace scopes

Experiment scopes_experiment() {
    return {.id = "scopes",
            .title = "what shares each cache: two blocks compete from chosen SMs",
            .source = "Wong 2010, IV-J4, Fig. 20",
            .method = "cache-geometry",
            .explanation =
                "A block on one SM fills part of a cache, a block on another SM fills as much, and the first reads "
                "its lines again. It is slower where both share the cache.",
            .needs = {},
            .after = {"clock", "caches", "constant_caches", "texture_caches"},
            .provides = {"caches.*.scope"},
            .run = scopes::run};
}

}  // namespace gputomo::experiments
