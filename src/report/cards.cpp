#include "report/cards.hpp"

#include "report/parts/quantities.hpp"
#include "report/parts/storages.hpp"
#include "report/parts/subsystems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace gputomo::report {
namespace {

std::string was(const std::string& text) {
    return text.empty() ? text : fmt::format("<small>was {}</small>", escaped(text));
}

std::string card(std::string_view path, const std::string& value, const std::string& label,
                 const std::string& note = {}, bool wide = false) {
    return fmt::format("<a class='card{}' href='#{}'><b>{}</b><span>{}</span>{}</a>", wide ? " long" : "",
                       anchor("leaf", path), escaped(value), escaped(label), note);
}

std::string streaming_card(const Facts& facts, const Facts* earlier) {
    const auto found = streaming(facts);
    if (!found) return {};
    auto label =
        fmt::format("per SM {}: {} in flight of an SM{}",
                    found->measured ? "read DRAM at 90% of the highest rate" : "hide DRAM latency at full bandwidth",
                    number_text(std::ceil(found->bytes_in_flight), machine::Unit::bytes),
                    found->measured ? ", measured" : ", by Little's law");
    if (found->loads > 1 && found->wide_warps > 0)
        label += fmt::format("; or {} warps with one load of 16 bytes each", found->wide_warps);
    const auto before = earlier == nullptr ? std::nullopt : streaming(*earlier);
    return card(found->measured ? "memory.bytes_in_flight" : "paths.global.memory_latency", streaming_text(*found),
                label, was(before ? streaming_text(*before) : ""), true);
}

/// The total of a cache with partitions, and what one SM sees of it.
std::string total_card(const Facts& facts, const machine::Machine& machine, const Page& page) {
    for (const auto& [key, cache] : machine.caches) {
        if (!cache.partitions.known() || cache.partitions.value < 2) continue;
        const auto path = fmt::format("caches.{}.partitions", key);
        const auto parts = fmt::format("{} in all: {} partitions", shown_name(key), cache.partitions.value);
        if (const auto all = bytes_in_all(page.traces, key))
            return card(path, range_text((*all)[0], (*all)[1], machine::Unit::bytes), parts);
        if (const auto least = least_in_all(facts, key))
            return card(path, "at least " + number_text(*least, machine::Unit::bytes),
                        parts + ", of which an SM fills its own");
    }
    return {};
}

std::string tensor_card(const Facts& facts) {
    const auto rates = tensor_rates(facts);
    const auto best = std::ranges::find(rates, "FP16", &TensorRate::type);
    const auto main = best != rates.end() ? best : rates.begin();
    if (main == rates.end()) return {};
    const auto total = [](const TensorRate& rate) {
        return rate.of_all ? with_prefix(*rate.of_all, rate.unit())
                           : fmt::format("{:.0f} {}/cycle", rate.per_cycle, rate.unit());
    };
    std::string others;
    for (const auto& rate : rates)
        if (&rate != &*main && rate.type != "1 bit")
            others += fmt::format("{}{} {}", others.empty() ? "" : ", ",
                                  rate.path == main->path || rate.type == main->type ? rate.instruction : rate.type,
                                  total(rate));
    return card(main->path, total(*main),
                fmt::format("{} on tensor cores with {}: {:.0f} {}/cycle of an SM{}", main->type, main->instruction,
                            main->per_cycle, main->unit(), others.empty() ? "" : "; " + others),
                {}, true);
}

/// How much is undecided, by section of the description.
std::string open_card(const Facts& facts) {
    std::map<std::string_view, std::size_t> sections;
    std::size_t open = 0;
    for (const auto& leaf : facts.all())
        if (leaf.leaf.knowledge == machine::Knowledge::undecided) ++sections[section_of(leaf.path)], ++open;
    if (open == 0) return {};
    std::string where;
    for (const auto& [section, count] : sections)
        where += fmt::format("{}{} {}", where.empty() ? "" : ", ", section, count);
    return fmt::format(
        "<a class='card long' href='#uncertain'><b>{} of {} values</b><span>are undecided: {}</span></a>", open,
        facts.all().size(), where);
}

std::string fused_card(const Facts& facts, std::string_view operation, const char* type) {
    const auto rate = fused_per_second(facts, operation);
    return rate ? card(fmt::format("operations[{}].throughput", operation), with_prefix(*rate, "FLOP"),
                       fmt::format("{} multiply-adds of all SMs", type))
                : "";
}

}  // namespace

std::string cards(const Facts& facts, const machine::Machine& machine, const Page& page) {
    const auto earlier = page.earlier ? std::optional(Facts(page.earlier->machine)) : std::nullopt;
    const auto* before = earlier ? &*earlier : nullptr;
    std::string out = "<div class=cards>" + streaming_card(facts, before) + tensor_card(facts) + open_card(facts);
    for (const auto& headline : headlines()) {
        const auto* leaf = facts.find(headline.path);
        if (leaf == nullptr || (headline.path == kGlobalCaches && leaf_text(*leaf) != "none")) continue;
        std::string label(headline.label);
        if (headline.path == "caches.l1.capacity" && facts.text("shared.unified_cache") == "l1")
            label += ", without shared memory";
        if (headline.path == "caches.l2.capacity" && facts.number("caches.l2.partitions").value_or(1) > 1)
            label += ", as one SM sees it";
        out += card(headline.path, leaf_text(*leaf), label, was(before == nullptr ? "" : before->text(headline.path)));
        if (headline.path == "caches.l2.capacity") out += total_card(facts, machine, page);
    }
    out += fused_card(facts, "fma.rn.f32", "FP32") + fused_card(facts, "fma.rn.f64", "FP64") + "</div>";
    return before == nullptr ? out
                             : out + fmt::format("<p class=m>was: on the {}, a GPU of the generation before</p>",
                                                 escaped(page.earlier->name));
}

}  // namespace gputomo::report
