#include "report/html.hpp"

#include "report/picture.hpp"
#include "report/plot_element.hpp"
#include "report/sections.hpp"
#include "report/style.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gputomo::report {
namespace {

/// Units of the picture on a wide page, and on a phone.
constexpr double kWide = 800, kNarrow = 340;

/// What a performance engineer asks first; shown as cards where it is known.
struct Headline {
    std::string_view path;
    std::string_view label;
};
constexpr Headline kHeadlines[] = {
    {"topology.sms", "SMs"}, {"clock.sm_mhz", "SM clock"}, {"operations[add.f32].latency", "FP32 add latency"}, {"operations[add.f32].throughput", "FP32 adds per SM"},
    {"shared.latency", "shared memory latency"}, {"shared.bytes_per_cycle", "shared memory per SM"}, {"caches.l1.capacity", "L1 capacity"}, {"caches.l1.latency", "L1 latency"},
    {"caches.l2.capacity", "L2 capacity"}, {"caches.l2.latency", "L2 latency"}, {"paths.global.memory_latency", "DRAM latency"}, {"memory.read_bandwidth", "DRAM read bandwidth"},
};

/// Warps of an SM that keep DRAM busy with one load of 4 bytes per thread in flight: latency x bandwidth of one SM / 128 bytes (Little's law; Volkov 2016, 3.4).
std::string warps_that_hide_memory(const Facts& facts) {
    const auto latency = facts.number("paths.global.memory_latency"), bandwidth = facts.number("memory.read_bandwidth"), clock = facts.number("clock.sm_mhz"), sms = facts.number("topology.sms");
    const auto warp = facts.number("topology.warp_size");
    if (!latency || !bandwidth || !clock || !sms || !warp || *clock <= 0 || *sms <= 0 || *warp <= 0) return {};
    const double bytes_per_cycle = *bandwidth * 1e9 / (*clock * 1e6) / *sms;
    return fmt::format("<a class='card long' href='#{}'><b>{:.0f} warps</b><span>per SM hide DRAM latency at full bandwidth, each with one 4-byte load per thread in flight (Little's law)</span></a>",
                       anchor("leaf", "paths.global.memory_latency"), std::ceil(*latency * bytes_per_cycle / (4 * *warp)));
}

std::string cards(const Facts& facts) {
    std::string out = "<div class=cards>";
    for (const auto& headline : kHeadlines)
        if (const auto* leaf = facts.find(headline.path))
            out += fmt::format("<a class=card href='#{}'><b>{}</b><span>{}</span></a>", anchor("leaf", headline.path), escaped(leaf_text(*leaf)), headline.label);
    return out + warps_that_hide_memory(facts) + "</div>";
}

std::string warnings(const Page& page) {
    std::string out;
    constexpr std::size_t kInView = 4;
    for (std::size_t i = 0; i < page.warnings.size(); ++i) {
        if (i == kInView) out += fmt::format("<details class=warns><summary>{} more warnings</summary>", page.warnings.size() - i);
        out += fmt::format("<div class=warn>{}</div>", escaped(page.warnings[i]));
    }
    return page.warnings.size() > kInView ? out + "</details>" : out;
}

std::string first_screen(const machine::Machine& machine, const Facts& facts, const Page& page) {
    return fmt::format("<div class=first><div><div class=wide>{}</div><div class=narrow>{}</div><p class=m>Latencies are those of a load that is served there, from the SM. Dashed: not decided; what is left is shown. Each box leads to its section.</p></div><div class=beside>{}{}</div></div>", picture(machine, facts, kWide), picture(machine, facts, kNarrow), cards(facts),
                       warnings(page));
}

}  // namespace

std::string page_start(std::string_view title) {
    return fmt::format("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width,initial-scale=1'><title>gputomo: {0}</title><style>{1}</style><h1>{0}</h1>", escaped(title), kStyle);
}

std::string html(const machine::Machine& machine, const Page& page) {
    const Facts facts(machine);
    return page_start(page.device) + contents(facts, page) + first_screen(machine, facts, page) + sections(facts, page) + plot_scripts(page.traces) + "</html>\n";
}

}  // namespace gputomo::report
