#include "report/html.hpp"

#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"
#include "report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::report {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--fg:#1c2530;--bg:#fff;--soft:#f2f5f8;--line:#d8dfe6;--dim:#5c6b7a}
@media(prefers-color-scheme:dark){:root{--fg:#e3e9ef;--bg:#12171d;--soft:#1b232c;--line:#33404d;--dim:#93a3b3}}
*{box-sizing:border-box}body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:0 auto;max-width:70rem;padding:1rem}
h1{font-size:1.6rem;margin:.4rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem .25rem 0;vertical-align:top;border-bottom:1px solid var(--line)}
td.v{font-variant-numeric:tabular-nums;font-weight:600;white-space:nowrap}td.m{color:var(--dim);font-size:.85rem}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:.6rem}.card{background:var(--soft);border-radius:.5rem;padding:.6rem .8rem}
.card b{display:block;font-size:1.3rem}.card span{color:var(--dim);font-size:.85rem}.warn{border-left:4px solid #d9622b;background:var(--soft);padding:.4rem .8rem;margin:.4rem 0}
.scroll{overflow-x:auto}figure{margin:1rem 0}figcaption{color:var(--dim)}svg{width:100%;height:auto;max-width:44rem}svg text{font-size:11px;fill:var(--fg)}svg .grid{stroke:var(--line)}
)css";

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

/// What is not there has no unit.
std::string_view unit_of(const machine::NamedLeaf& leaf) { return leaf.leaf.knowledge == machine::Knowledge::absent ? "" : machine::unit_name(leaf.info.unit); }

std::string cards(const std::vector<machine::NamedLeaf>& leaves) {
    std::string out = "<div class=cards>";
    for (const auto& headline : kHeadlines) {
        const auto leaf = std::find_if(leaves.begin(), leaves.end(), [&](const auto& named) { return named.path == headline.path; });
        if (leaf == leaves.end()) continue;
        const auto unit = unit_of(*leaf);
        out += fmt::format("<div class=card><b>{}</b><span>{}{}{}</span></div>", escaped(machine::value_text(leaf->leaf)), unit, unit.empty() ? "" : ", ", headline.label);
    }
    return out + "</div>";
}

std::string leaf_row(const machine::NamedLeaf& leaf) {
    const auto& from = leaf.leaf.provenance;
    std::string sure;
    if (from.confidence) sure = fmt::format("{:.0f}%", 100 * *from.confidence);
    if (from.interval && (*from.interval)[0] != (*from.interval)[1]) sure += fmt::format(" [{:.6g}, {:.6g}]", (*from.interval)[0], (*from.interval)[1]);
    const std::string basis = from.source.empty() ? from.method : from.source;
    return fmt::format("<tr><td title='{}'>{}</td><td class=v>{} {}</td><td>{}</td><td class=m>{}{}{}</td></tr>", escaped(leaf.info.doc), escaped(leaf.path), escaped(machine::value_text(leaf.leaf)),
                       unit_of(leaf), escaped(sure), escaped(basis), from.note.empty() ? "" : ". ", escaped(from.note));
}

}  // namespace

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string page_start(std::string_view title) {
    return fmt::format("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'><title>gputomo: {0}</title><style>{1}</style><h1>{0}</h1>", escaped(title), kStyle);
}

std::string html(const machine::Machine& machine, const Page& page) {
    std::string out = page_start(page.device);
    for (const auto& warning : page.warnings) out += fmt::format("<div class=warn>{}</div>", escaped(warning));
    const auto leaves = machine::all_leaves(machine);
    out += cards(leaves);
    std::string section;
    for (const auto& leaf : leaves) {
        const auto name = leaf.path.substr(0, leaf.path.find_first_of(".["));
        if (name != section) {
            out += fmt::format("{}<h2 id={}>{}</h2><div class=scroll><table><tr><th>field<th>value<th>confidence<th>how", section.empty() ? "" : "</table></div>", escaped(name), escaped(name));
            section = name;
        }
        out += leaf_row(leaf);
    }
    if (!section.empty()) out += "</table></div>";
    out += "<h2 id=evidence>Evidence</h2>";
    for (const auto& trace : page.traces)
        if (const auto picture = svg(trace); !picture.empty()) out += fmt::format("<figure>{}<figcaption>{} ({})</figcaption></figure>", picture, escaped(trace.plot.title), escaped(trace.name));
    return out + "</html>\n";
}

}  // namespace gputomo::report
