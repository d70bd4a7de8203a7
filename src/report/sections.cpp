#include "report/sections.hpp"

#include "report/findings/chart_finding.hpp"
#include "report/leaf_table.hpp"
#include "report/modelled.hpp"
#include "report/parts/subsystems.hpp"
#include "report/plot/element.hpp"
#include "report/plot/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gputomo::report {
namespace {

/// Plots of one experiment beyond this number are folded away. More make its section long.
constexpr std::size_t kPlotsInView = 4;

/// What the line of a closed section names: a value of each that is known.
struct Gist {
    std::string_view subsystem, words, path;
};
constexpr Gist kGists[] = {
    {"gpu", "SMs", "topology.sms"},
    {"gpu", "clock", "clock.sm_mhz"},
    {"gpu", "threads of an SM", "topology.max_threads_per_sm"},
    {"gpu", "registers of an SM", "topology.registers_per_sm"},
    {"issue", "schedulers of an SM", "issue.schedulers_per_sm"},
    {"issue", "divergence", "issue.divergence"},
    {"issue", "barrier", "issue.barrier_latency"},
    {"arithmetic", "FP32 add", "operations[add.f32].latency"},
    {"arithmetic", "FP32 adds of an SM", "operations[add.f32].throughput"},
    {"arithmetic", "FP64 adds", "operations[add.f64].throughput"},
    {"shared", "capacity", "shared.capacity"},
    {"shared", "latency", "shared.latency"},
    {"shared", "banks", "shared.banks"},
    {"caches", "L1", "caches.l1.capacity"},
    {"caches", "latency", "caches.l1.latency"},
    {"caches", "L2", "caches.l2.capacity"},
    {"caches", "latency", "caches.l2.latency"},
    {"translation", "first TLB reaches", "tlbs.global_l1.reach"},
    {"translation", "a miss adds", "tlbs.global_l1.miss_penalty"},
    {"memory", "reads", "memory.read_bandwidth"},
    {"memory", "copies", "memory.copy_bandwidth"},
    {"launch", "empty kernel", "launch.empty_kernel"},
    {"launch", "from one block to the next", "launch.block_replacement"},
};

std::string gist_of(std::string_view subsystem, const Facts& facts) {
    std::string out;
    for (const auto& gist : kGists)
        if (const auto text = facts.text(gist.path); gist.subsystem == subsystem && !text.empty())
            out += fmt::format("{}{} {}", out.empty() ? "" : "; ", gist.words, text);
    return out;
}

std::string counted(std::size_t count, std::string_view one) {
    return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// The start of a section that is closed at first.
std::string section_start(std::string_view id, std::string_view title, const std::string& gist) {
    return fmt::format("<details class=part id={}><summary><h2>{}</h2><span>{}</span></summary>", id, title,
                       escaped(gist));
}

/// The subsystem whose section shows an experiment's evidence: the one with most of its findings. Null without
/// findings.
const Subsystem* home_of(const std::string& experiment, const Page& page) {
    std::map<const Subsystem*, int> found;
    for (const auto& [path, id] : page.experiment_of)
        if (id == experiment) ++found[subsystem_of(path)];
    found.erase(nullptr);
    const auto most =
        std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == found.end() ? nullptr : most->first;
}

/// The experiments in the order in which they ran, then those that only traces name.
std::vector<Method> experiments_of(const Page& page) {
    auto experiments = page.methods;
    for (const auto& trace : page.traces)
        if (std::none_of(experiments.begin(), experiments.end(),
                         [&](const auto& m) { return m.id == trace.experiment; }))
            experiments.push_back({trace.experiment, trace.experiment, "", ""});
    return experiments;
}

std::string without_plot(const results::Trace& trace) {
    std::string columns;
    for (const auto& column : trace.columns) columns += (columns.empty() ? "" : ", ") + column.name;
    return fmt::format("<li id='{}'>{}: {} rows of {}</li>", anchor("trace", trace.name), escaped(trace.name),
                       trace.columns.empty() ? 0 : trace.columns.front().values.size(), escaped(columns));
}

std::size_t plots_of(const Method& method, const Page& page) {
    return static_cast<std::size_t>(std::ranges::count_if(page.traces, [&](const results::Trace& trace) {
        return trace.experiment == method.id && !series_of(trace).empty();
    }));
}

std::string evidence(const Method& method, const Facts& facts, const Page& page) {
    std::vector<std::string> plots;
    std::string others;
    for (const auto& trace : page.traces) {
        if (trace.experiment != method.id) continue;
        if (auto plot = plot_element(trace, {}, finding_of(trace, facts)); !plot.empty())
            plots.push_back(std::move(plot));
        else
            others += without_plot(trace);
    }
    std::string out = plots.empty() ? "" : "<div class=plots>";
    for (std::size_t i = 0; i < plots.size(); ++i) {
        if (i == kPlotsInView)
            out += fmt::format("</div><details><summary>{} more plots</summary><div class=plots>", plots.size() - i);
        out += plots[i];
    }
    if (!plots.empty()) out += plots.size() > kPlotsInView ? "</div></details>" : "</div>";
    if (!others.empty())
        out += fmt::format("<details><summary>More evidence, in scan.json</summary><ul>{}</ul></details>", others);
    return out;
}

std::string experiment(const Method& method, const Facts& facts, const Page& page) {
    const auto plots = plots_of(method, page);
    std::string out =
        fmt::format("<details class=method id='{}'><summary><h3>How it was measured: {}</h3><span>{}</span></summary>",
                    anchor("experiment", method.id), escaped(method.title), plots == 0 ? "" : counted(plots, "chart"));
    if (!method.explanation.empty()) out += fmt::format("<p>{}</p>", escaped(method.explanation));
    out += fmt::format("<p class=m>Experiment {}{}{}</p>", escaped(method.id), method.source.empty() ? "" : ", after ",
                       escaped(method.source));
    return out + evidence(method, facts, page) + "</details>";
}

std::vector<machine::NamedLeaf> leaves_of(const Facts& facts, const Subsystem& subsystem) {
    std::vector<machine::NamedLeaf> out;
    for (const auto& leaf : facts.all())
        if (subsystem_of(leaf.path) == &subsystem) out.push_back(leaf);
    return out;
}

bool has_other_evidence(const Page& page) {
    const auto experiments = experiments_of(page);
    return std::any_of(experiments.begin(), experiments.end(),
                       [&](const auto& m) { return home_of(m.id, page) == nullptr; });
}

}  // namespace

std::string contents(const Facts& facts, const Page& page, bool changes) {
    std::string out = "<nav>";
    if (changes) out += fmt::format("<a href='#earlier' title='since {}'>Changes</a> ", escaped(page.earlier->name));
    for (const auto& subsystem : subsystems())
        if (!leaves_of(facts, subsystem).empty())
            out += fmt::format("<a href='#{}' title='{}'>{}</a> ", subsystem.id, subsystem.title, subsystem.menu);
    if (!page.modelled.empty()) out += "<a href='#models'>Models</a> ";
    if (has_other_evidence(page)) out += "<a href='#evidence' title='Other evidence'>Other</a> ";
    if (!page.code_checks.empty()) out += "<a href='#code' title='Machine code'>Code</a>";
    return out + "</nav>";
}

std::string sections(const machine::Machine& machine, const Facts& facts, const Page& page) {
    std::string out;
    const auto experiments = experiments_of(page);
    for (const auto& subsystem : subsystems()) {
        const auto leaves = leaves_of(facts, subsystem);
        if (leaves.empty()) continue;
        auto gist = gist_of(subsystem.id, facts);
        gist += fmt::format("{}{}", gist.empty() ? "" : "; ", counted(leaves.size(), "value"));
        out += section_start(subsystem.id, subsystem.title, gist) + leaf_table(leaves, machine, facts, page);
        for (const auto& method : experiments)
            if (home_of(method.id, page) == &subsystem) out += experiment(method, facts, page);
        out += "</details>";
    }
    if (!page.modelled.empty())
        out += section_start("models", "Throughput against occupancy, and models",
                             counted(page.modelled.accesses.size(), "kind") + " of instructions") +
               modelled_section(page.modelled) + "</details>";
    if (has_other_evidence(page)) {
        out += section_start("evidence", "Other evidence", "experiments that decided no value");
        for (const auto& method : experiments)
            if (home_of(method.id, page) == nullptr) out += experiment(method, facts, page);
        out += "</details>";
    }
    return out + code_checks(page);
}

std::string code_checks(const Page& page) {
    if (page.code_checks.empty()) return {};
    std::map<std::string, std::map<std::string, int>> counts;
    std::set<std::string> why_not;
    std::string failed;
    for (const auto& check : page.code_checks) {
        ++counts[check.experiment][check.result];
        if (check.result == "unavailable") why_not.insert(check.found);
        if (check.result != "failed") continue;
        failed += fmt::format(
            "<details open><summary class=fail>{} ({}): expected {}; found {}</summary><pre>{}</pre></details>",
            escaped(check.kernel), escaped(check.experiment), escaped(check.expected), escaped(check.found),
            escaped(check.listing));
    }
    std::size_t failures = 0;
    for (const auto& [id, results] : counts)
        if (const auto found = results.find("failed"); found != results.end())
            failures += static_cast<std::size_t>(found->second);
    std::string out = section_start("code", "Machine code",
                                    counted(page.code_checks.size(), "check") + fmt::format(", {} failed", failures)) +
                      "<p>Each timed kernel is checked: the driver must have compiled it to the instructions that were "
                      "written. A kernel that fails is not timed.</p>" +
                      failed;
    out += "<div class=scroll><table><thead><tr><th>experiment<th>passed<th>failed<th>not checked</thead><tbody>";
    for (auto& [id, results] : counts)
        out += fmt::format("<tr><th scope=row>{}</th><td class=pass>{}</td><td class={}>{}</td><td>{}</td>",
                           escaped(id), results["passed"], results["failed"] > 0 ? "fail" : "c", results["failed"],
                           results["unavailable"]);
    out += "</tbody></table></div>";
    for (const auto& reason : why_not) out += fmt::format("<p class=m>Not checked: {}</p>", escaped(reason));
    return out + "</details>";
}

}  // namespace gputomo::report
