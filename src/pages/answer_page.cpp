#include "pages/answer_page.hpp"

#include "pages/parts.hpp"
#include "pages/style.hpp"
#include "report/parts/start.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

/// Changes that the compact part names.
constexpr std::size_t kCompactAdvice = 3;

std::string start(std::string_view title) {
    auto head = report::page_start(title);
    head.insert(head.find("</style>"), answer_css());
    return head;
}

std::string summary(const Answer& a) {
    return a.summary.empty() ? "" : fmt::format("<p class=lead>{}</p>", escaped(a.summary));
}

/// The finding above what shows it; nothing where there is nothing to show.
std::string titled(const std::string& finding, const std::string& content) {
    if (content.empty() || finding.empty()) return content;
    return fmt::format("<p class=finding>{}</p>{}", escaped(finding), content);
}

struct Part {
    std::string_view id, title;
    std::string content;
};

std::vector<Part> parts_of(const Answer& a, const PageContext& context) {
    const std::size_t all = a.advice ? a.advice->size() : 0;
    std::vector<Part> parts{{"time", "What takes the time", titled(time_finding(a), time_bar(a) + bounds(a))},
                            {"advice", "What would help, each change tried by the same model", advice(a, all)},
                            {"stalls", "What warps wait for", titled(stall_finding(a), stalls(a, true))},
                            {"lines", "Lines of source at which warps spend most cycles", lines(a)},
                            {"instructions", "Instructions at which warps spend most cycles",
                             titled(instruction_finding(a), instructions(a))},
                            {"roofline", "Roofline and rates", roofline(a, context.machine)},
                            {"memory", "Memory", memory_chart(a)},
                            {"timeline", "One SM over time", timeline(a)},
                            {"launch", "Launch and occupancy", occupancy(a)},
                            {"sensitivity", "Values of the description that the time depends on", sensitivity(a)},
                            {"results", "Memory beside what the recorded GPU left", differences(a)},
                            {"warnings", "Warnings", warnings(a)},
                            {"assumed", "What is assumed", assumptions(a, context)}};
    std::erase_if(parts, [](const Part& part) { return part.content.empty(); });
    return parts;
}

/// `prefix` tells the parts of several answers of a page apart.
std::string body(const Answer& a, const PageContext& context, const std::string& prefix = {}) {
    std::string links, sections;
    for (const Part& part : parts_of(a, context)) {
        links += fmt::format("<a href='#{}{}'>{}</a> ", prefix, part.id, part.id);
        sections += fmt::format("<section class={1} id='{0}{1}'><h2>{2}</h2>{3}</section>", prefix, part.id,
                                escaped(part.title), part.content);
    }
    // Only the page of one answer has a bar that stays in view: several of them would cover each other.
    return summary(a) + cards(a) + fmt::format("<nav{}>", prefix.empty() ? " class=bar" : "") + links + "</nav>" +
           sections;
}

std::string end(const PageContext& context) {
    return (context.made_by.empty() ? "" : fmt::format("<p class=m>{}</p>", escaped(context.made_by))) + "</html>\n";
}

}  // namespace

std::string answer_html(const Answer& a, const PageContext& context) {
    return start(fmt::format("{} on {}", a.launch.kernel, a.gpu)) + "<main class=answer>" + body(a, context) +
           "</main>" + end(context);
}

std::string program_html(const answer::Program& program, const std::vector<answer::ProgramLaunch>& launches,
                         const PageContext& context) {
    std::string out = start(fmt::format("{} launches on {}", program.answered, program.gpu)) + "<main class=answer>";
    out +=
        fmt::format("<p class=lead>All answered launches take {:.6g} us, one after the other{}.</p>",
                    program.microseconds, program.failed > 0 ? fmt::format("; {} have no answer", program.failed) : "");
    out += "<div class=scroll><table class=facts><thead><tr>";
    for (const char* const column : {"kernel", "launches", "us", "share", "limited by", "captured us"})
        out += fmt::format("<th>{}</th>", column);
    out += "</tr></thead><tbody>";
    for (const auto& row : program.kernels)
        out += fmt::format(
            "<tr><td><a href='#k{}'>{}</a></td><td>{}</td><td>{:.6g}</td><td>{:.1f}%</td><td>{}</td><td>{}</td></tr>",
            row.longest, escaped(row.label), row.launches.size(), row.microseconds, 100 * row.share,
            escaped(row.limiter), row.captured_microseconds ? fmt::format("{:.6g}", *row.captured_microseconds) : "");
    out += "</tbody></table></div>";
    for (const auto& row : program.kernels) {
        const auto longest = std::ranges::find(launches, row.longest, &answer::ProgramLaunch::number);
        if (longest == launches.end() || !longest->answer) continue;
        out += fmt::format("<details id=k{0}><summary>{1}, launch {0}</summary>{2}</details>", row.longest,
                           escaped(row.label), body(*longest->answer, context, fmt::format("k{}-", row.longest)));
    }
    for (const auto& failure : program.failures)
        out += fmt::format("<div class=warn>{} launches failed: {}</div>", failure.launches.size(),
                           escaped(failure.message));
    return out + "</main>" + end(context);
}

std::string compact_html(const Answer& a) {
    const auto more = a.warnings.size();
    return fmt::format(
        "<div class='answer gputomo-card'><style>{}</style><p class=title><b>{}</b> on {}</p>{}{}{}{}{}{}</div>",
        answer_css(), escaped(a.launch.kernel), escaped(a.gpu), summary(a), cards(a), time_bar(a), stalls(a, false),
        advice(a, kCompactAdvice),
        more == 0 ? ""
                  : fmt::format("<details><summary>{} warning{}</summary>{}</details>", more, more == 1 ? "" : "s",
                                warnings(a)));
}

}  // namespace gputomo::pages
