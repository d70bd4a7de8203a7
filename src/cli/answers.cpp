#include "cli/answers.hpp"

#include "answer/answer_text.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/messages.hpp"
#include "launch/captured/captured_launch.hpp"
#include "units/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

int exit_code(const answer::Answer& answer) {
    if (!answer.differences) return kDone;
    return std::ranges::all_of(*answer.differences, &launch::Difference::tolerated) ? kDone : kFailed;
}

}  // namespace

int print_answer(const launch::Launch& launch, const Answerer& answer, bool json) {
    const auto given = answer(launch);
    if (json)
        print_json(answer_json(given), origin_of_command());
    else
        out::print("{}", answer_text(given));
    return exit_code(given);
}

int print_answers_of_capture(const capture::Capture& captured, const LaunchOptions& options, const Answerer& answer,
                             bool json) {
    const auto named = named_launches(captured, options);
    Json all = Json::array();
    int code = kDone;
    for (const auto number : named) {
        Json one{{"launch", number}};
        if (!json) out::print("launch {}: ", number);
        try {
            const auto given = answer(launch::captured_launch(captured, captured.launches[number]));
            code = std::max(code, exit_code(given));
            if (json)
                one.update(answer_json(given));
            else
                out::print("{}\n", answer_text(given));
        } catch (const Error& error) {
            if (named.size() == 1) throw;
            code = kFailed;
            one["failed"] = error.what();
            if (!json) out::print("failed: {}\n", error.what());
        }
        all.push_back(std::move(one));
    }
    if (json) print_json({{"schema", "gputomo-answers-1"}, {"launches", all}}, origin_of_command());
    return code;
}

}  // namespace gputomo::cli
