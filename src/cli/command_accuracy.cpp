#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "compare/suites/accuracy.hpp"
#include "compare/suites/accuracy_json.hpp"
#include "files/output_file.hpp"
#include "launch/captured/captured_launch.hpp"
#include "units/error.hpp"
#include "units/workers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

struct AccuracyOptions {
    std::vector<std::string> suites;
    std::string captures, device = "sim:h200", gpu = "h200", only, results, out;
    std::int64_t time_limit_ms = 600'000;
    std::uint64_t seed = 1;
    std::uint64_t sample_above = kDefaultSampleAbove;
    int jobs = 1;
    bool held_out = false, json = false, whole = false;
};

std::vector<compare::SuiteEntry> entries_to_score(const AccuracyOptions& options) {
    std::vector<compare::SuiteEntry> entries;
    const auto add = [&](const std::filesystem::path& file, bool held_out) {
        for (auto& entry : compare::read_suite(file, options.gpu, held_out)) entries.push_back(std::move(entry));
    };
    bool has_held_out = false;
    for (const std::filesystem::path file : options.suites) {
        add(file, false);
        const auto other = file.parent_path() / "held-out" / file.filename();
        if (!options.held_out || !std::filesystem::exists(other)) continue;
        add(other, true);
        has_held_out = true;
    }
    if (options.held_out && !has_held_out)
        throw InputError(fmt::format("--held-out: {} has no such entries; expected them in held-out/ beside it",
                                     options.suites.front()));
    if (entries.empty())
        throw InputError(fmt::format("{}: no entry that the GPU '{}' measured; expected one such as h200",
                                     options.suites.front(), options.gpu));
    return entries;
}

/// Answers the entries one by one, several at the same time, and keeps each answer in the file of --results.
class Scorer {
public:
    Scorer(const AccuracyOptions& options, std::vector<compare::SuiteEntry> entries)
        : options_(options), machine_(open_simulated(options.device, options.seed, 0)->machine()) {
        const auto command = origin_of_command();
        origin_ = {.version = command.version,
                   .commit = command.commit,
                   .device = options.device,
                   .gpu = options.gpu,
                   .seed = options.seed,
                   .sample_above = options.whole ? 0 : options.sample_above};
        for (auto& entry : entries) scored_.push_back({std::move(entry)});
        if (!options.results.empty() && std::filesystem::exists(options.results))
            compare::restore_answers(scored_, options.results, origin_);
    }

    /// Throws InputError where no entry has a capture or a kept answer.
    void run() {
        refuse_no_capture();
        const auto tasks = open_tasks();
        spread(
            static_cast<int>(tasks.size()), static_cast<unsigned>(options_.jobs),
            [&](int i) { answer(tasks[static_cast<std::size_t>(i)]); },
            [&](int done) {
                out::say("{} of {} done: {} answers, {} failures", done, tasks.size(), answers_.load(),
                         failures_.load());
            });
    }
    [[nodiscard]] bool has_answer() const {
        return std::ranges::any_of(scored_, [](const compare::Scored& one) {
            return std::ranges::any_of(one.answers,
                                       [](const auto& answer) { return answer && answer->failure.empty(); });
        });
    }

    [[nodiscard]] const std::vector<compare::Scored>& scored() const { return scored_; }
    [[nodiscard]] nlohmann::ordered_json json() const { return compare::accuracy_json(scored_, origin_); }

private:
    struct Task {
        compare::Scored* scored = nullptr;
        compare::Method method = compare::Method::simulation;
    };

    void refuse_no_capture() const {
        const bool has_capture = std::ranges::any_of(scored_, [&](const compare::Scored& one) {
            return std::filesystem::exists(compare::capture_folder(options_.captures, one.entry));
        });
        if (!has_capture && !has_answer())
            throw InputError(
                fmt::format("--captures {}: has no capture of the {} kernels in {}; expected the folder "
                            "that `scripts/measure_suites.py capture` has written",
                            options_.captures, scored_.size(), fmt::join(options_.suites, ", ")));
    }

    /// Answers that are not known yet, and failures: a later call may have the capture or the time that an earlier one
    /// lacked. The longest launches come first, so that no core waits for one of them at the
    /// end.
    [[nodiscard]] std::vector<Task> open_tasks() {
        std::vector<Task> tasks;
        for (const auto method : compare::kMethods) {
            if (!options_.only.empty() && options_.only != compare::name_of(method)) continue;
            for (auto& one : scored_)
                if (const auto& known = one.answer(method); !known || !known->failure.empty())
                    tasks.push_back({&one, method});
        }
        const auto instructions = [](const Task& task) {
            const auto& counters = task.scored->entry.counters;
            const auto found = counters.find("smsp__inst_executed.sum");
            return found == counters.end() ? 0 : found->second;
        };
        std::ranges::stable_sort(tasks, [&](const Task& a, const Task& b) {
            return std::pair(a.method, -instructions(a)) < std::pair(b.method, -instructions(b));
        });
        return tasks;
    }

    void answer(const Task& task) {
        compare::EntryAnswer given;
        std::optional<std::string> lost;  // unknown where the capture cannot be read
        const auto start = std::chrono::steady_clock::now();
        try {
            const auto folder = compare::capture_folder(options_.captures, task.scored->entry);
            if (!std::filesystem::exists(folder)) throw InputError("it was not captured");
            const auto captured = capture::load(folder);
            const auto& recorded = compare::launch_of(captured, task.scored->entry);
            lost = launch::lost_by_reduction(recorded);
            const auto launch = launch::captured_launch(captured, recorded);
            given = compare::entry_answer(task.method == compare::Method::simulation ? simulated(launch)
                                                                                     : predicted(launch));
        } catch (const Error& error) {
            given.failure = error.what();
        }
        given.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const std::lock_guard guard(mutex_);
        ++(given.failure.empty() ? answers_ : failures_);
        task.scored->answer(task.method) = std::move(given);
        if (lost) task.scored->lost = *std::move(lost);
        if (!options_.results.empty()) files::write_whole(options_.results, json().dump(2) + "\n");
    }

    [[nodiscard]] answer::Answer simulated(const launch::Launch& launch) const {
        answer::SimulationRequest request{.seed = options_.seed,
                                          .time_limit = std::chrono::milliseconds(options_.time_limit_ms)};
        if (!options_.whole) request.sampling = sim::SamplingPlan{options_.sample_above};
        return answer::simulate(launch, {machine_, options_.device}, request);
    }

    [[nodiscard]] answer::Answer predicted(const launch::Launch& launch) const {
        return answer::predict(
            launch, {machine_, options_.device},
            {.seed = options_.seed, .time_limit = std::chrono::milliseconds(options_.time_limit_ms)});
    }

    const AccuracyOptions& options_;
    machine::Machine machine_;
    compare::AccuracyOrigin origin_;
    std::vector<compare::Scored> scored_;
    std::mutex mutex_;
    std::atomic<int> answers_ = 0, failures_ = 0;  ///< of this run
};

int run_accuracy(const AccuracyOptions& options) {
    for (const auto& [option, file] : {std::pair("--out", options.out), std::pair("--results", options.results)}) {
        if (file.empty()) continue;
        files::refuse_inputs(option, file, options.suites);
        files::check_writable_file(file);
    }
    Scorer scorer(options, entries_to_score(options));
    scorer.run();
    const std::string page = compare::accuracy_page(scorer.scored(), options.device, options.gpu);
    if (!options.out.empty()) files::write_whole(options.out, page);
    if (options.json)
        print_json(scorer.json(), origin_of_command());
    else if (options.out.empty())
        out::print("{}", page);
    return scorer.has_answer() ? kDone : kFailed;
}

}  // namespace

void add_accuracy(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<AccuracyOptions>();
    Command command(
        parent, "accuracy",
        "Simulate and predict the captured kernels of suites, and put cycles beside those that a GPU measured");
    command.add_option("suite", options->suites, "files of suites, such as suites/hecbench.json").required();
    command
        .add_option("--captures", options->captures,
                    "folder that `scripts/measure_suites.py capture` has written: SUITE/PROGRAM/HASH for each kernel")
        .required();
    command.add_option("--device", options->device, "simulated GPU: sim:NAME or sim:FILE.json").capture_default_str();
    command.add_option("--gpu", options->gpu, "name of the measurements to compare with").capture_default_str();
    command.add_flag("--held-out", options->held_out,
                     "also those that are held out until all other work on predictions is done");
    command.add_option("--only", options->only, "one of both answers: simulate or predict")
        .member_of({"simulate", "predict"});
    command.add_option("--results", options->results,
                       "file that keeps each answer as soon as it is there; another call with the same file continues");
    command.add_option("--jobs", options->jobs, "answers that are worked on at the same time")
        .capture_default_str()
        .range(1, 256);
    command
        .add_option("--time-limit", options->time_limit_ms,
                    "longest time that one answer may take, in milliseconds of processor time")
        .capture_default_str()
        .positive();
    auto above = command.add_option("--sample-above", options->sample_above, kSampleAboveHelp);
    above.capture_default_str();
    command.add_flag("--whole", options->whole, "simulate all blocks of every launch").excludes(above);
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command.add_flag("--json", options->json, "print JSON instead of the page");
    command.add_option("--out", options->out, "file for the page, in Markdown");
    command.add_verbosity();
    command.runs(action, [options] { return run_accuracy(*options); });
}

}  // namespace gputomo::cli
