#include "report/compare/trends.hpp"

#include "report/parts/quantities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace gputomo::report {
namespace {

/// One or two quantities of each GPU, drawn at the same scale.
struct Trend {
    std::string_view title;
    std::string_view explanation;
    struct Quantity {
        std::string_view name;
        std::optional<double> (*of)(const Facts&) = nullptr;
    };
    std::array<Quantity, 2> quantities;
};

std::optional<double> memory_over_arithmetic(const Facts& facts) {
    const auto memory = warps_for_memory(facts), arithmetic = warps_for_arithmetic(facts);
    return memory && arithmetic && *arithmetic > 0 ? std::optional(*memory / *arithmetic) : std::nullopt;
}

template <const char* Path>
std::optional<double> leaf(const Facts& facts) {
    return facts.number(Path);
}
constexpr char kAddLatency[] = "operations[add.f32].latency", kSharedLatency[] = "shared.latency",
               kMemoryLatency[] = "paths.global.memory_latency";

constexpr Trend kTrends[] = {
    {"Warps per SM that hide latency",
     "An estimate: latency times throughput. Volkov 2016, Fig. 4.2, counts the warps that attained 90% of the "
     "memory's peak, which are more.",
     {{{"arithmetic (FP32 adds)", warps_for_arithmetic}, {"memory (4-byte loads)", warps_for_memory}}}},
    {"Warps for memory over warps for arithmetic",
     "The ratio of the two quantities above. Volkov 2016, 4.3, has 4, 2.7, 2.3, 1.6 and 1.7 from G80 to Maxwell, from "
     "measured occupancies.",
     {{{"ratio", memory_over_arithmetic}}}},
    {"DRAM bytes per FP32 add",
     "Pin bandwidth over arithmetic throughput (Volkov 2016, Fig. 4.4). Memory bandwidth improved more slowly than "
     "arithmetic, by a factor of about 1.24 a year among GeForce GPUs until 2016. HBM counteracts this.",
     {{{"bytes per add", bytes_per_add}}}},
    {"Latency near the SM, cycles",
     "Falling arithmetic latency kept the number of warps needed from growing (Volkov 2016, 4.4).",
     {{{"FP32 add", leaf<kAddLatency>}, {"shared memory", leaf<kSharedLatency>}}}},
    {"DRAM latency",
     "DRAM latency changed less: it is nearly constant in nanoseconds, and in cycles it follows the clock.",
     {{{"cycles", leaf<kMemoryLatency>}, {"nanoseconds", memory_nanoseconds}}}},
};

std::vector<const Described*> by_generation(std::span<const Described> columns) {
    std::vector<const Described*> order;
    for (const auto& column : columns) order.push_back(&column);
    const auto capability = [](const Described* d) {
        return std::pair(d->facts.number("identity.compute_capability_major").value_or(0),
                         d->facts.number("identity.compute_capability_minor").value_or(0));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const auto* a, const auto* b) { return capability(a) < capability(b); });
    return order;
}

std::string number(double value) { return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value); }

std::string bar(double value, double largest, std::size_t quantity, std::string_view name) {
    return fmt::format("<div class=bar title='{}'><i class=q{} style='width:{:.1f}%'></i><span>{}</span></div>", name,
                       quantity, 80 * value / largest, number(value));
}

std::string draw(const Trend& trend, const std::vector<const Described*>& gpus) {
    double largest = 0;
    int known = 0;
    for (const auto* gpu : gpus)
        for (const auto& quantity : trend.quantities)
            if (const auto value = quantity.of != nullptr ? quantity.of(gpu->facts) : std::nullopt)
                largest = std::max(largest, *value), ++known;
    if (known < 2 || largest <= 0) return {};
    std::string out = fmt::format("<figure class=trend><h3>{}</h3>", trend.title);
    if (trend.quantities[1].of != nullptr)
        out += fmt::format("<p class=key><i class=q0></i> {} <i class=q1></i> {}</p>", trend.quantities[0].name,
                           trend.quantities[1].name);
    out += "<table>";
    for (const auto* gpu : gpus) {
        std::string bars;
        for (std::size_t q = 0; q < trend.quantities.size(); ++q)
            if (const auto value =
                    trend.quantities[q].of != nullptr ? trend.quantities[q].of(gpu->facts) : std::nullopt)
                bars += bar(*value, largest, q, trend.quantities[q].name);
        if (!bars.empty()) out += fmt::format("<tr><th scope=row>{}</th><td>{}</td>", escaped(gpu->name), bars);
    }
    return out + fmt::format("</table><figcaption>{}</figcaption></figure>", trend.explanation);
}

}  // namespace

std::string trends(std::span<const Described> columns, std::string_view figures) {
    const auto gpus = by_generation(columns);
    std::string out;
    for (const auto& trend : kTrends) out += draw(trend, gpus);
    if (out.empty() && figures.empty()) return {};
    return fmt::format(
        "<h2 id=trends>From generation to generation</h2><p class=m>In the order of compute capability.</p><div "
        "class=plots>{}</div>{}",
        out, figures);
}

}  // namespace gputomo::report
