#include "answer/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string_view>

namespace gputomo::answer {
namespace {

/// A launch whose GPU stays empty for this share of the time takes longer for that.
constexpr double kNotable = 0.1;

double largest_bound(const Limiter& limiter) { return limiter.bounds.empty() ? 0 : limiter.bounds.front().cycles; }

/// The bytes that make DRAM busy, in words.
std::string moved_by_dram(const Answer& a) {
    const double read = a.work.dram_read_bytes.value_or(0), written = a.work.dram_written_bytes.value_or(0);
    return fmt::format(" ({}B read and {}B written{})", in_units(read, ""), in_units(written, ""),
                       a.roofline.dram_bytes_per_second_ceiling
                           ? fmt::format(", at {}B/s of {}B/s", in_units(a.roofline.dram_bytes_per_second, ""),
                                         in_units(*a.roofline.dram_bytes_per_second_ceiling, ""))
                           : "");
}

std::string of_latency(const Answer& a) {
    const auto& occupancy = *a.occupancy;
    std::string text =
        fmt::format("Its warps wait for latency: an SM has {:.3g} of them{}", occupancy.warps_per_sm,
                    occupancy.max_warps_per_sm > 0 ? fmt::format(" of {}", occupancy.max_warps_per_sm) : "");
    const double bound = largest_bound(*a.limiter);
    if (bound > 0 && occupancy.needed_warps)
        text += fmt::format(", and {} would limit it from {:.3g} on", a.limiter->bounds.front().resource,
                            *occupancy.needed_warps);
    text += '.';
    if (const auto first = costliest(a.instructions, 1); !first.empty()) {
        const Instruction& one = *first.front();
        const auto stall = main_stall(one.cycles);
        text += fmt::format(" {:.0f}% of their cycles pass at {}{}{}.", 100 * one.share_of_wait, one.text,
                            one.source ? fmt::format(" ({})", short_text(*one.source)) : "",
                            stall ? fmt::format(", waiting for {}", meaning_of(*stall)) : "");
    }
    return text;
}

std::string of_resource(const Answer& a) {
    const auto& limiter = *a.limiter;
    const double share = std::min(1.0, largest_bound(limiter) / a.time.cycles);
    return fmt::format("It is limited by {}, busy for {:.0f}% of the time{}.", limiter.resource, 100 * share,
                       limiter.resource == "DRAM" ? moved_by_dram(a) : "");
}

}  // namespace

std::string in_units(double value, std::string_view unit) {
    constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t at = 0;
    while (value >= 999.5 && at + 1 < std::size(kPrefixes)) value /= 1000, ++at;
    return fmt::format("{:.3g} {}{}", value, kPrefixes[at], unit);
}

std::vector<TimePart> parts_of(const Answer& a) {
    std::vector<TimePart> parts;
    const auto& limiter = *a.limiter;
    const double outside = std::min(a.time.cycles, a.time.launch_cycles.value_or(0));
    const double of_blocks = a.time.cycles - outside;
    const double busy = std::min(of_blocks, largest_bound(limiter));
    if (busy > 0) parts.push_back({fmt::format("with {} busy", limiter.bounds.front().resource), busy});
    if (of_blocks > busy)
        parts.push_back(
            {busy > 0 ? fmt::format("waiting with {} idle", limiter.bounds.front().resource) : std::string("waiting"),
             of_blocks - busy});
    if (outside > 0) parts.push_back({"before the first block and after the last one", outside});
    return parts;
}

std::string summary_of(const Answer& a, double sms) {
    std::string text;
    const auto blocks = static_cast<double>(a.coverage.blocks);
    const double outside = a.time.launch_cycles.value_or(0) / std::max(1.0, a.time.cycles);
    if (blocks < sms)
        text = fmt::format("Its {:.0f} blocks leave {:.0f} of {:.0f} SMs without work. ", blocks, sms - blocks, sms);
    text += a.limiter->resource == "latency" ? of_latency(a) : of_resource(a);
    if (outside > kNotable)
        text +=
            fmt::format(" {:.0f}% of the time passes before the first block and after the last one.", 100 * outside);
    if (const double tail = a.occupancy->tail_share.value_or(0);
        tail > kNotable && a.occupancy->waves > 1 && a.occupancy->limited_by != "the grid")
        text += fmt::format(" Its {:.3g} waves of blocks leave {:.0f}% of the GPU's places empty at the end.",
                            a.occupancy->waves, 100 * tail);
    return text;
}

}  // namespace gputomo::answer
