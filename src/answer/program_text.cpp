#include "answer/answer_text.hpp"
#include "answer/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace gputomo::answer {
namespace {

using Json = nlohmann::ordered_json;
using Out = std::back_insert_iterator<std::string>;

/// Characters of the longest name in a table. Longer ones lose their middle, because names differ at both ends.
constexpr std::size_t kLongestName = 48;
/// Launches that a message lists by number.
constexpr std::size_t kListed = 8;

std::string fitting(const std::string& name) {
    if (name.size() <= kLongestName) return name;
    constexpr std::size_t kEnd = kLongestName / 3;
    return name.substr(0, kLongestName - kEnd - 3) + "..." + name.substr(name.size() - kEnd);
}

std::string cell(const std::optional<double>& microseconds) {
    return microseconds ? fmt::format("{:.2f}", *microseconds) : "-";
}
std::string error_cell(const std::optional<double>& error) {
    return error ? fmt::format("{:+.1f}%", 100 * *error) : "-";
}

std::string numbers_of(const std::vector<std::size_t>& launches) {
    const auto shown = std::min(launches.size(), kListed);
    return fmt::format("launch{} {}{}", launches.size() > 1 ? "es" : "",
                       fmt::join(launches.begin(), launches.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                       launches.size() > shown ? fmt::format(" and {} more", launches.size() - shown) : "");
}

std::string_view done(Method method) { return method == Method::predict ? "predicted" : "simulated"; }

void append_rows(Out out, const Program& program) {
    std::size_t width = 6;
    for (const auto& row : program.kernels) width = std::max(width, fitting(row.label).size());
    fmt::format_to(out, "{:<{}}  {:>8}  {:>10}  {:>6}  {:<22}  {:>10}  {:>7}\n", "kernel", width, "launches",
                   done(program.method), "share", "limiter", "captured", "error");
    for (const auto& row : program.kernels) {
        const std::string limiter = row.limiter.empty() ? "-"
                                    : row.limiter_share < 0.995
                                        ? fmt::format("{} ({:.0f}%)", row.limiter, 100 * row.limiter_share)
                                        : row.limiter;
        fmt::format_to(out, "{:<{}}  {:>8}  {:>10}  {:>6}  {:<22}  {:>10}  {:>7}{}\n", fitting(row.label), width,
                       row.launches.size(), row.launches.empty() ? "-" : fmt::format("{:.2f}", row.microseconds),
                       row.launches.empty() ? "-" : fmt::format("{:.1f}%", 100 * row.share), limiter,
                       cell(row.captured_microseconds), error_cell(row.error),
                       row.failed > 0   ? fmt::format("  {} failed", row.failed)
                       : row.warned > 0 ? fmt::format("  {} warned", row.warned)
                                        : "");
    }
    fmt::format_to(out, "{:<{}}  {:>8}  {:>10.2f}  {:>6}  {:<22}  {:>10}  {:>7}\n", "total", width, program.answered,
                   program.microseconds, "", "", cell(program.captured_microseconds), error_cell(program.error));
}

void append_timeline(Out out, const Program& program) {
    if (!program.timeline) return;
    const auto& timeline = *program.timeline;
    fmt::format_to(out,
                   "\nWhen it was captured, the GPU ran {} launches on {} stream{} for {:.2f} us of the {:.2f} us from "
                   "the first start to the last end: {:.2f} us were gaps",
                   timeline.launches, timeline.streams, timeline.streams == 1 ? "" : "s", timeline.busy_microseconds,
                   timeline.span_microseconds, timeline.span_microseconds - timeline.busy_microseconds);
    if (timeline.sum_microseconds > timeline.busy_microseconds * 1.001)
        fmt::format_to(out, ", and launches overlapped for {:.2f} us",
                       timeline.sum_microseconds - timeline.busy_microseconds);
    fmt::format_to(out, ".\n");
}

void append_others(Out out, const Program& program) {
    if (program.not_asked == 0) return;
    fmt::format_to(out, "\n{} launches are not in the table, since they have no memory or were not asked for",
                   program.not_asked);
    if (program.graph_launches > 0) fmt::format_to(out, " ({} of them are of graphs)", program.graph_launches);
    if (program.not_asked_microseconds)
        fmt::format_to(out, "; they took {:.2f} us when they were captured", *program.not_asked_microseconds);
    fmt::format_to(out, ".\n");
}

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json row_json(const KernelRow& row) {
    return {{"kernel", row.kernel},
            {"label", row.label},
            {"launches", row.launches},
            {"longest_launch", row.launches.empty() ? Json() : Json(row.longest)},
            {"failed", row.failed},
            {"warned", row.warned},
            {"microseconds", row.microseconds},
            {"share", row.share},
            {"limiter", row.limiter.empty() ? Json() : Json(row.limiter)},
            {"limiter_share", row.limiter.empty() ? Json() : Json(row.limiter_share)},
            {"captured_microseconds", or_null(row.captured_microseconds)},
            {"error", or_null(row.error)}};
}

}  // namespace

std::string program_text(const Program& program) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{} launches {} on {}, caches {}; times in us{}\n\n", program.answered, done(program.method),
                   program.gpu.empty() ? "no GPU" : program.gpu, name_of(program.caches),
                   program.captured_gpu.empty() ? "" : fmt::format("; captured on {}", program.captured_gpu));
    append_rows(out, program);
    append_timeline(out, program);
    append_others(out, program);
    bool titled = false;
    for (const auto& row : program.kernels)
        for (const auto& warning : row.warnings) {
            fmt::format_to(out, "{}  - {}, launch {}: {}\n",
                           titled ? "" : "\nWarnings of the longest launch of each kernel\n", fitting(row.label),
                           row.longest, warning);
            titled = true;
        }
    if (program.compared > 0)
        fmt::format_to(
            out, "\nResults are as captured in {} of {} launches{}\n", program.compared - program.different.size(),
            program.compared,
            program.different.empty() ? "" : fmt::format("; they differ in {}", numbers_of(program.different)));
    if (!program.failures.empty()) fmt::format_to(out, "\nFailed\n");
    for (const auto& failure : program.failures)
        fmt::format_to(out, "  - {}: {}\n", numbers_of(failure.launches), failure.message);
    return text;
}

std::string launches_text(const capture::Capture& captured, const std::vector<ProgramLaunch>& launches) {
    std::string text;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{:>6}  {:<16}  {:<14}  {:>10}  {:<22}  {:>10}  {:>7}\n", "launch", "grid", "block", "us",
                   "limiter", "captured", "error");
    const auto dimensions = [](const auto& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); };
    for (const auto& launch : launches) {
        const auto& of = captured.launches[launch.number];
        if (!launch.answer) {
            fmt::format_to(out, "{:>6}  failed: {}\n", launch.number, launch.failed);
            continue;
        }
        const Answer& answer = *launch.answer;
        const auto program = program_of(captured, {launch});
        fmt::format_to(out, "{:>6}  {:<16}  {:<14}  {:>10.2f}  {:<22}  {:>10}  {:>7}{}\n", launch.number,
                       dimensions(answer.launch.grid), dimensions(answer.launch.block), answer.time.microseconds,
                       answer.limiter ? answer.limiter->resource : "-", cell(of.us), error_cell(program.error),
                       answer.warnings.empty() ? "" : "  warned");
    }
    return text;
}

Json program_json(const Program& program) {
    Json kernels = Json::array(), failures = Json::array();
    for (const auto& row : program.kernels) kernels.push_back(row_json(row));
    for (const auto& failure : program.failures)
        failures.push_back({{"message", failure.message}, {"launches", failure.launches}});
    Json timeline;
    if (program.timeline)
        timeline = {{"launches", program.timeline->launches},
                    {"streams", program.timeline->streams},
                    {"span_microseconds", program.timeline->span_microseconds},
                    {"busy_microseconds", program.timeline->busy_microseconds},
                    {"gap_microseconds", program.timeline->span_microseconds - program.timeline->busy_microseconds},
                    {"sum_microseconds", program.timeline->sum_microseconds}};
    return {{"kernels", kernels},
            {"total",
             {{"answered", program.answered},
              {"failed", program.failed},
              {"not_asked", program.not_asked},
              {"graph_launches", program.graph_launches},
              {"microseconds", program.microseconds},
              {"captured_microseconds", or_null(program.captured_microseconds)},
              {"error", or_null(program.error)},
              {"captured_gpu", program.captured_gpu.empty() ? Json() : Json(program.captured_gpu)},
              {"compared", program.compared},
              {"different", program.different},
              {"timeline", timeline}}},
            {"failures", failures}};
}

}  // namespace gputomo::answer
