#include "cli/answers.hpp"

#include "answer/answer_text.hpp"
#include "answer/program.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/messages.hpp"
#include "cli/terminal/progress.hpp"
#include "files/output_file.hpp"
#include "launch/captured/captured_launch.hpp"
#include "pages/answer_page.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;
using answer::ProgramLaunch;

int exit_code(const answer::Answer& answer) {
    if (!answer.differences) return kDone;
    return std::ranges::all_of(*answer.differences, &launch::Difference::tolerated) ? kDone : kFailed;
}

/// What is assumed, or where to find it.
void print_assumptions(const std::vector<std::string>& of_launches, const PrintOptions& print) {
    if (!print.explain) {
        if (const auto count = of_launches.size() + print.assumed_of_gpu.size(); count > 0)
            out::print("\n{} assumed: --explain lists {}\n",
                       count == 1 ? "1 thing is" : fmt::format("{} things are", count), count == 1 ? "it" : "them");
        return;
    }
    for (const auto& [title, lines] :
         {std::pair("Assumed", &of_launches),
          std::pair("Assumed of the GPU, because its description leaves it open", &print.assumed_of_gpu)}) {
        if (!lines->empty()) out::print("\n{}\n", title);
        for (const auto& line : *lines) out::print("  - {}\n", line);
    }
}

void print_text_of(const answer::Answer& answer, const PrintOptions& print) {
    out::print_sections(answer_text(answer));
    if (print.instructions) out::print("{}", instructions_text(answer));
    print_assumptions(answer.assumptions, print);
}

/// Shows how many launches are answered, because a program of many launches takes minutes.
class LaunchProgress {
public:
    explicit LaunchProgress(std::size_t launches) : launches_(launches) {}
    void show(std::size_t done, std::size_t number) {
        if (launches_ > 1)
            progress_.show(static_cast<double>(done) / static_cast<double>(launches_), -1,
                           fmt::format("launch {}", number));
    }

private:
    std::size_t launches_;
    Progress progress_{isatty(STDERR_FILENO) == 0};
};

/// The answer to a launch, with what it took to find it.
answer::Answer answered(const launch::Launch& launch, const Answerer& answer, bool whole) {
    answer::Answer given;
    {
        const Elapsed elapsed(fmt::format("answering {}", launch.kernel));
        given = answer(launch, whole);
    }
    out::detail("  {} of {} blocks executed, {} of them with timing; {} instructions of code",
                given.coverage.executed_blocks, given.coverage.blocks, given.coverage.timed_blocks,
                given.instructions.size());
    return given;
}

std::vector<ProgramLaunch> answers_to(const std::vector<std::size_t>& numbers, const capture::Capture& captured,
                                      const Answerer& answer, bool whole, const PrintOptions& print) {
    // The table of a program of a thousand launches shows no instructions, which would take gigabytes.
    const bool keeps_code = whole || print.json || !print.html.empty();
    std::vector<ProgramLaunch> launches;
    LaunchProgress progress(numbers.size());
    for (const auto number : numbers) {
        progress.show(launches.size(), number);
        ProgramLaunch launch{.number = number, .answer = {}, .failed = {}};
        try {
            launch.answer = answered(launch::captured_launch(captured, captured.launches[number]), answer, whole);
        } catch (const Error& error) {
            if (numbers.size() == 1) throw;
            launch.failed = error.what();
        }
        if (launch.answer && !keeps_code) launch.answer->instructions = {}, launch.answer->timeline = {};
        launches.push_back(std::move(launch));
    }
    return launches;
}

/// In the table of a program, each launch has its dozen costliest instructions only.
void add_answer(Json& to, const answer::Answer& answer, bool whole) {
    to.update(answer_json(answer));
    if (!whole) to["executed_instructions"] = nullptr;
}

Json json_of(const answer::Program& program, const std::vector<ProgramLaunch>& launches, const PrintOptions& print,
             bool whole) {
    Json all = Json::array();
    for (const auto& launch : launches) {
        Json one{{"launch", launch.number}};
        if (launch.answer)
            add_answer(one, *launch.answer, whole);
        else
            one["failed"] = launch.failed;
        all.push_back(std::move(one));
    }
    Json json{{"schema", "gputomo-answers-1"}};
    json.update(program_json(program));
    json["assumptions_of_gpu"] = print.assumed_of_gpu;
    json["launches"] = all;
    return json;
}

/// The whole answers one after the other.
void print_each(const std::vector<ProgramLaunch>& launches, const PrintOptions& print) {
    for (const auto& launch : launches) {
        out::print("launch {}: ", launch.number);
        if (!launch.answer) {
            out::print("failed: {}\n", launch.failed);
            continue;
        }
        print_text_of(*launch.answer, print);
        if (&launch != &launches.back()) out::print("\n");
    }
}

void print_kernel(const capture::Capture& captured, const answer::Program& program,
                  const std::vector<ProgramLaunch>& launches, const Answerer& answer, const PrintOptions& print) {
    out::print("{}", launches_text(captured, launches));
    const auto& row = program.kernels.front();
    if (row.launches.empty()) return;
    out::print("\nThe longest is launch {}: ", row.longest);
    print_text_of(answer(launch::captured_launch(captured, captured.launches[row.longest]), true), print);
}

void print_program(const answer::Program& program, const PrintOptions& print) {
    out::print_sections(program_text(program));
    print_assumptions(program.assumptions, print);
    out::print("--launch N prints the whole answer to one launch, and --kernel NAME the launches of one kernel\n");
}

/// Writes the page that was asked for.
template <class Page>
void write_page(const PrintOptions& print, const Page& page) {
    if (print.html.empty()) return;
    const auto origin = origin_of_command();
    files::write_whole(print.html, page({.machine = print.machine,
                                         .assumed_of_gpu = print.assumed_of_gpu,
                                         .made_by = fmt::format("{}: {}", results::summary(origin), origin.command)}));
}

}  // namespace

void check_page(const std::string& html, const std::vector<std::string>& inputs) {
    if (html.empty()) return;
    files::refuse_inputs("--html", html, inputs);
    files::check_writable_file(html);
}

int print_answer(const launch::Launch& launch, const Answerer& answer, const PrintOptions& print) {
    const auto given = answered(launch, answer, true);
    write_page(print, [&](const pages::PageContext& context) { return answer_html(given, context); });
    if (print.json) {
        auto json = answer_json(given);
        json["assumptions_of_gpu"] = print.assumed_of_gpu;
        print_json(json, origin_of_command());
    } else {
        print_text_of(given, print);
    }
    return exit_code(given);
}

int print_answers_of_capture(const capture::Capture& captured, const LaunchOptions& options, const Answerer& answer,
                             const PrintOptions& print) {
    const auto named = named_launches(captured, options);
    const bool each = !options.launches.empty() || named.size() == 1;
    const auto launches = answers_to(named, captured, answer, each, print);
    int code = kDone;
    for (const auto& launch : launches)
        code = std::max(code, launch.answer ? exit_code(*launch.answer) : static_cast<int>(kFailed));
    const auto program = answer::program_of(captured, launches);
    write_page(print, [&](const pages::PageContext& context) {
        return launches.size() == 1 && launches.front().answer ? answer_html(*launches.front().answer, context)
                                                               : program_html(program, launches, context);
    });
    if (print.json)
        print_json(json_of(program, launches, print, each), origin_of_command());
    else if (each)
        print_each(launches, print);
    else if (!options.kernel.empty() && program.kernels.size() == 1)
        print_kernel(captured, program, launches, answer, print);
    else
        print_program(program, print);
    return code;
}

}  // namespace gputomo::cli
