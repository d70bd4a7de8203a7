#include "answer/answer_text.hpp"
#include "answer/measure.hpp"
#include "answer/measurement_json.hpp"
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/launches.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/measuring_process.hpp"
#include "cli/options.hpp"
#include "cli/terminal/exits.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "files/output_file.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/origin_json.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct MeasurementOptions {
    LaunchOptions launch;
    std::string device = "cuda:0", caches = "both", beside, out;
    int repetitions = 11;
    std::uint64_t seed = 1;
    std::int64_t time_limit_ms = 60'000;
    bool check = false, simulate = false, json = false;
};

/// A description with which launches are answered beside the measurement.
struct Beside {
    machine::Machine machine;
    std::string name;
    bool simulates = false;
};

/// What predict or simulate says in one state of the caches.
struct Told {
    double cycles = 0;
    std::string failed;  ///< why there is no answer; empty where there is one
};

struct MeasuredRow {
    std::size_t launch = 0;
    answer::Measurement measured;
    std::string failed;
    std::optional<Told> predicted_cold, predicted_warm, simulated_cold, simulated_warm;
};

/// The built-in description of the GPU, which says what a profiler counts for an empty kernel.
std::optional<machine::Machine> built_in_description(std::string_view gpu) {
    for (const auto& name : shipped_machines())
        if (auto machine = simulated_machine("sim:" + name); machine.identity.name.value_or("") == gpu) return machine;
    return std::nullopt;
}

class Measuring {
public:
    explicit Measuring(const MeasurementOptions& options)
        : options_(options), captured_(capture::load(options.launch.file)) {
        if (!options.beside.empty())
            beside_.emplace(
                Beside{sim::completed(machine_named(options.beside)).machine, options.beside, options.simulate});
        if (!options.out.empty()) {
            files::refuse_inputs("--out", options.out, files_of({options.launch.file, options.device, options.beside}));
            files::check_writable_file(options.out);
        }
    }

    int run() {
        for (const std::size_t number : named_launches(captured_, options_.launch)) left_.push_back({.number = number});
        start_process();
        if (!options_.json) print_head();
        while (!left_.empty()) {
            MeasuredRow row{.launch = left_.front().number};
            if (!measure(row)) continue;
            left_.pop_front();
            if (beside_ && row.failed.empty()) answer(row);
            if (!options_.json) print_row(row);
            rows_.push_back(std::move(row));
            save();
        }
        if (process_)
            if (auto origin = process_->finish()) origin_ = std::move(origin);
        save();
        if (options_.json)
            print_json(document(), *origin_);
        else
            print_summary();
        return exit_code();
    }

private:
    [[nodiscard]] bool cold() const { return options_.caches != "warm"; }
    [[nodiscard]] bool warm() const { return options_.caches != "cold"; }

    /// Starts a process that measures what is left.
    void start_process() {
        const MeasuringPlan plan{.captured = &captured_,
                                 .device = options_.device,
                                 .seed = options_.seed,
                                 .request = {.repetitions = options_.repetitions,
                                             .cold = cold(),
                                             .warm = warm(),
                                             .compares_results = options_.check,
                                             .time_limit = std::chrono::milliseconds(options_.time_limit_ms)}};
        process_.reset();
        process_ = std::make_unique<MeasuringProcess>(plan, std::vector(left_.begin(), left_.end()));
        if (origin_) return;
        const OpenedGpu& gpu = process_->gpu();
        origin_ = gpu.origin;
        if (const auto& machine = beside_ ? std::optional(beside_->machine) : built_in_description(gpu.name);
            machine && machine->launch.profiler_cycles)
            launch_cycles_ = *machine->launch.profiler_cycles;
        gpu_ = gpu;
    }

    /// Measures the first of the launches that are left. Returns false where it has to be measured once more.
    bool measure(MeasuredRow& row) {
        try {
            if (!process_) start_process();
            auto made = process_->next();
            if (made.then != MeasuredLaunch::Then::next) process_.reset();
            if (made.then == MeasuredLaunch::Then::repeatable) {
                out::note(
                    "launch {} does not end on the memory that its own first run left. Another process measures "
                    "it with memory restored before each run",
                    row.launch);
                left_.front().restoring = answer::Restoring::always;
                return false;
            }
            row.failed = std::move(made.failed);
            if (made.measured) row.measured = std::move(*made.measured);
        } catch (const Error& e) {
            // The GPU may not have recovered from the launch before; the next launch tries again.
            row.failed = e.what();
            process_.reset();
        }
        return true;
    }

    Told told(std::size_t number, answer::Caches::State caches, bool simulates) const {
        try {
            const auto launch = launch::captured_launch(captured_, captured_.launches[number]);
            const answer::Gpu gpu{beside_->machine, beside_->name};
            const answer::CachesAtStart state{.caches = {.state = caches}};
            if (simulates)
                return {.cycles = answer::simulate(launch, gpu,
                                                   {.seed = options_.seed,
                                                    .time_limit = std::chrono::milliseconds(options_.time_limit_ms),
                                                    .sampling = sim::SamplingPlan{kDefaultSampleAbove},
                                                    .caches = state})
                                      .time.cycles,
                        .failed = {}};
            return {.cycles = answer::predict(launch, gpu, {.seed = options_.seed}, state).time.cycles, .failed = {}};
        } catch (const Error& e) {
            return {.cycles = 0, .failed = e.what()};
        }
    }

    void answer(MeasuredRow& row) const {
        using State = answer::Caches::State;
        if (cold()) row.predicted_cold = told(row.launch, State::cold, false);
        if (warm()) row.predicted_warm = told(row.launch, State::warm, false);
        if (!beside_->simulates) return;
        if (cold()) row.simulated_cold = told(row.launch, State::cold, true);
        if (warm()) row.simulated_warm = told(row.launch, State::warm, true);
    }

    /// As a profiler counts them where that is known.
    [[nodiscard]] double cycles_of(const answer::MeasuredTime& time) const {
        return time.cycles + launch_cycles_.value_or(0);
    }

    [[nodiscard]] std::optional<double> error_of(const std::optional<Told>& told,
                                                 const std::optional<answer::MeasuredTime>& time) const {
        if (!told || !told->failed.empty() || !time || cycles_of(*time) <= 0) return std::nullopt;
        return told->cycles / cycles_of(*time) - 1;
    }

    void print_head() const {
        out::print("{}: {}, medians of {} repetitions, in microseconds {}\n\n", gpu_.id, gpu_.name,
                   options_.repetitions,
                   launch_cycles_ ? "as a profiler counts them" : "beyond those of an empty kernel");
        std::string head = fmt::format("{:>6}  {:<40} {:>9} {:>9} {:>8} {:>8}", "launch", "kernel", "cold", "warm",
                                       "spread", "SM MHz");
        if (beside_) {
            head += fmt::format("  {:>18} {:>18}", "predicted cold", "warm");
            if (beside_->simulates) head += fmt::format("  {:>18} {:>18}", "simulated cold", "warm");
        }
        out::print("{}\n", head);
    }

    [[nodiscard]] std::string cell(const std::optional<answer::MeasuredTime>& time) const {
        if (!time || time->sm_mhz <= 0) return "-";
        return fmt::format("{:.2f}", cycles_of(*time) / time->sm_mhz);
    }

    [[nodiscard]] std::string cell(const std::optional<Told>& told,
                                   const std::optional<answer::MeasuredTime>& time) const {
        if (!told) return "-";
        if (!told->failed.empty()) return "no answer";
        const auto error = error_of(told, time);
        if (!error || time->sm_mhz <= 0) return fmt::format("{:.0f} cycles", told->cycles);
        return fmt::format("{:.2f} {:+.1f}%", told->cycles / time->sm_mhz, 100 * *error);
    }

    void print_row(const MeasuredRow& row) const {
        const auto& shape = captured_.launches[row.launch].kernel;
        const auto& kernel = captured_.kernels[static_cast<std::size_t>(shape ? shape->kernel : 0)];
        constexpr std::size_t kWidth = 40;
        const auto name = out::one_line(kernel.readable).substr(0, kWidth);
        if (!row.failed.empty()) {
            out::print("{:>6}  {:<40} failed: {}\n", row.launch, name, row.failed);
            return;
        }
        const auto& first = row.measured.cold ? row.measured.cold : row.measured.warm;
        const double spread = 100 * (first->highest_cycles - first->lowest_cycles) / std::max(1.0, cycles_of(*first));
        std::string line = fmt::format("{:>6}  {:<40} {:>9} {:>9} {:>7.1f}% {:>8.0f}", row.launch, name,
                                       cell(row.measured.cold), cell(row.measured.warm), spread, first->sm_mhz);
        if (beside_) {
            line += fmt::format("  {:>18} {:>18}", cell(row.predicted_cold, row.measured.cold),
                                cell(row.predicted_warm, row.measured.warm));
            if (beside_->simulates)
                line += fmt::format("  {:>18} {:>18}", cell(row.simulated_cold, row.measured.cold),
                                    cell(row.simulated_warm, row.measured.warm));
        }
        out::print("{}\n", line);
        for (const auto& warning : row.measured.warnings) out::print("{:>8}warning: {}\n", "", warning);
        if (row.measured.differences)
            for (const auto& different : *row.measured.differences)
                out::print("{:>8}differs: {}: {} of {} bytes, the first at {}\n", "", different.buffer, different.bytes,
                           different.compared, different.offset);
        for (const auto* told : {&row.predicted_cold, &row.simulated_cold})
            if (*told && !(*told)->failed.empty()) out::print("{:>8}no answer: {}\n", "", (*told)->failed);
    }

    struct Errors {
        std::string what;
        std::vector<double> values;  ///< absolute
        double signed_sum = 0, told = 0, measured = 0;
        std::size_t missing = 0;
    };

    [[nodiscard]] std::vector<Errors> errors() const {
        std::vector<Errors> all{{.what = "predicted, cold", .values = {}},
                                {.what = "predicted, warm", .values = {}},
                                {.what = "simulated, cold", .values = {}},
                                {.what = "simulated, warm", .values = {}}};
        for (const MeasuredRow& row : rows_) {
            if (!row.failed.empty()) continue;
            const std::pair<const std::optional<Told>*, const std::optional<answer::MeasuredTime>*> pairs[] = {
                {&row.predicted_cold, &row.measured.cold},
                {&row.predicted_warm, &row.measured.warm},
                {&row.simulated_cold, &row.measured.cold},
                {&row.simulated_warm, &row.measured.warm}};
            for (std::size_t i = 0; i < all.size(); ++i) {
                const auto& [told, time] = pairs[i];
                if (!*told) continue;
                if (const auto error = error_of(*told, *time)) {
                    all[i].values.push_back(std::abs(*error));
                    all[i].signed_sum += *error;
                    all[i].told += (*told)->cycles;
                    all[i].measured += cycles_of(**time);
                } else {
                    ++all[i].missing;
                }
            }
        }
        std::erase_if(all, [](const Errors& errors) { return errors.values.empty() && errors.missing == 0; });
        return all;
    }

    void print_summary() const {
        const auto overhead = [](std::string_view state, const std::optional<answer::MeasuredOverhead>& of) {
            if (of)
                out::print(
                    "\nAn empty kernel, {}: {:.0f} cycles between two time stamps, {:.0f} with no kernel; {:.2f} us "
                    "by events\n",
                    state, of->cycles, of->nothing_cycles, of->event_microseconds);
        };
        overhead("cold", gpu_.cold_overhead);
        overhead("warm", gpu_.warm_overhead);
        std::size_t moved = 0;
        for (const MeasuredRow& row : rows_) moved += row.measured.moved_buffers != 0 ? 1 : 0;
        if (moved != 0)
            out::print("{} launches had memory at other addresses than recorded, and their pointers were changed\n",
                       moved);
        for (const auto& errors : errors()) {
            if (errors.values.empty()) {
                out::print("{}: no launch answered, {} not\n", errors.what, errors.missing);
                continue;
            }
            double sum = 0;
            for (const double value : errors.values) sum += value;
            const auto count = static_cast<double>(errors.values.size());
            out::print(
                "{}: {} launches, mean error {:.1f}%, median {:.1f}%, 90th percentile {:.1f}%, mean signed "
                "{:+.1f}%, sum of cycles {:+.1f}%; {} without an answer\n",
                errors.what, errors.values.size(), 100 * sum / count, 100 * median(errors.values),
                100 * quantile(errors.values, 0.9), 100 * errors.signed_sum / count,
                100 * (errors.told / errors.measured - 1), errors.missing);
        }
    }

    [[nodiscard]] static Json json_of(const std::optional<Told>& told) {
        if (!told) return {};
        if (!told->failed.empty()) return {{"failed", told->failed}};
        return {{"cycles", told->cycles}};
    }

    [[nodiscard]] Json document() const {
        Json launches = Json::array();
        for (const MeasuredRow& row : rows_) {
            Json one{{"launch", row.launch}};
            if (!row.failed.empty()) {
                one["failed"] = row.failed;
                launches.push_back(std::move(one));
                continue;
            }
            one.update(measurement_json(row.measured, launch_cycles_));
            if (beside_) {
                one["predicted"] = {{"cold", json_of(row.predicted_cold)}, {"warm", json_of(row.predicted_warm)}};
                if (beside_->simulates)
                    one["simulated"] = {{"cold", json_of(row.simulated_cold)}, {"warm", json_of(row.simulated_warm)}};
            }
            launches.push_back(std::move(one));
        }
        Json overhead;
        if (gpu_.cold_overhead) overhead["cold"] = overhead_json(*gpu_.cold_overhead);
        if (gpu_.warm_overhead) overhead["warm"] = overhead_json(*gpu_.warm_overhead);
        return {{"schema", "gputomo-measurements-1"}, {"capture", options_.launch.file},
                {"device", options_.device},          {"beside", beside_ ? Json(beside_->name) : Json()},
                {"empty_kernel", overhead},           {"launches", launches}};
    }

    /// After each launch, so that nothing is lost where a later one takes the program with it.
    void save() const {
        if (options_.out.empty()) return;
        Json json = document();
        machine::add_origin(json, *origin_);
        files::write_whole(options_.out, json.dump(2) + "\n");
    }

    [[nodiscard]] int exit_code() const {
        for (const MeasuredRow& row : rows_)
            if (!row.failed.empty() || (row.measured.differences && !row.measured.differences->empty())) return kFailed;
        return kDone;
    }

    const MeasurementOptions& options_;
    capture::Capture captured_;
    std::optional<Beside> beside_;
    std::deque<PlannedLaunch> left_;  ///< launches that are not measured yet
    std::unique_ptr<MeasuringProcess> process_;
    OpenedGpu gpu_;  ///< as the first process found it
    std::optional<results::Origin> origin_;
    std::optional<double> launch_cycles_;
    std::vector<MeasuredRow> rows_;
};

int measure_capture(const MeasurementOptions& options) {
    if (!is_capture(options.launch.file))
        throw InputError(
            fmt::format("{}: is no folder; expected one that `gputomo capture` wrote", options.launch.file));
    return Measuring(options).run();
}

}  // namespace

void add_measure(CLI::App& parent, Action& action) {
    const auto options = std::make_shared<MeasurementOptions>();
    Command command(parent, "measure",
                    "Run the launches of a capture on a GPU and print how long they take, beside what is predicted");
    command.add_option("capture", options->launch.file, "folder of a capture with memory").required();
    command.add_option("--device", options->device, "cuda:N, sim:NAME or sim:FILE.json").capture_default_str();
    command.add_option("--kernel", options->launch.kernel, "only launches of this kernel");
    command.add_option("--launch", options->launch.launches, "only the launch of this number; given once for each")
        .one_value_each();
    command.add_option("--repeat", options->repetitions, "repetitions, whose median counts")
        .capture_default_str()
        .positive();
    command
        .add_option("--caches", options->caches,
                    "state of the caches before each repetition: cold, warm (what the launch itself leaves), or both")
        .capture_default_str()
        .member_of({"both", "cold", "warm"});
    auto beside = command.add_option("--beside", options->beside,
                                     "description (M.json or sim:NAME) with which each launch is predicted, to print "
                                     "the error beside the measurement");
    command.add_flag("--simulate", options->simulate, "with --beside: simulate each launch too").needs(beside);
    command.add_flag("--check", options->check,
                     "compare memory after the launch with the results of the capture, which needs --results there");
    command.add_option("--out", options->out, "file to write the results to, after each launch (JSON)");
    command.add_option("--seed", options->seed, kSeedHelp).capture_default_str();
    command.add_option("--time-limit", options->time_limit_ms, "longest time of one repetition, in milliseconds")
        .capture_default_str()
        .positive();
    command.add_flag("--json", options->json, "print JSON instead of text");
    command.add_verbosity();
    command.runs(action, [options] { return measure_capture(*options); });
}

}  // namespace gputomo::cli
