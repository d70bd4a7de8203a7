#include "answer/answer_text.hpp"
#include "answer/measure.hpp"
#include "answer/measurement_json.hpp"
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "cli/inputs/devices.hpp"
#include "cli/inputs/launches.hpp"
#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
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
#include <memory>
#include <optional>
#include <string>
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
std::optional<machine::Machine> built_in_description(const device::Device& gpu) {
    for (const auto& name : shipped_machines())
        if (auto machine = simulated_machine("sim:" + name); machine.identity.name.value_or("") == gpu.name())
            return machine;
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
        const auto named = named_launches(captured_, options_.launch);
        open();
        origin_ = origin_on(*gpu_);
        if (!options_.json) print_head();
        for (const std::size_t number : named) {
            MeasuredRow row{.launch = number};
            measure(row);
            if (beside_ && row.failed.empty()) answer(row);
            if (!options_.json) print_row(row);
            rows_.push_back(std::move(row));
            save();
        }
        if (gpu_) add_state_after(*origin_, *gpu_);
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

    void open() {
        measurer_.reset();
        gpu_.reset();
        gpu_ = open_device(options_.device, options_.seed, 0);
        measurer_ = std::make_unique<answer::Measurer>(
            *gpu_, answer::MeasureRequest{.repetitions = options_.repetitions,
                                          .cold = cold(),
                                          .warm = warm(),
                                          .compares_results = options_.check,
                                          .time_limit = std::chrono::milliseconds(options_.time_limit_ms)});
        cold_overhead_ = measurer_->cold_overhead();
        warm_overhead_ = measurer_->warm_overhead();
        if (const auto& machine = beside_ ? std::optional(beside_->machine) : built_in_description(*gpu_);
            machine && machine->launch.profiler_cycles)
            launch_cycles_ = *machine->launch.profiler_cycles;
    }

    /// A launch that fails may take the device with it. The next one then gets a new one.
    void measure(MeasuredRow& row) {
        if (!ended_.empty()) {
            row.failed = ended_;
            return;
        }
        try {
            if (!gpu_) open();
            const auto kind = gpu_->simulated() ? launch::CodeKind::machine_code : launch::CodeKind::any;
            row.measured = measurer_->measure(launch::captured_launch(captured_, captured_.launches[row.launch], kind));
        } catch (const InputError& e) {
            row.failed = e.what();
        } catch (const TimeLimitError& e) {
            row.failed = e.what();
            ended_ = fmt::format("not measured, because launch {} has not ended and still runs on the GPU", row.launch);
            measurer_.reset();
            gpu_.reset();
        } catch (const Error& e) {
            row.failed = e.what();
            measurer_.reset();
            gpu_.reset();
        }
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
        out::print("{}: {}, medians of {} repetitions, in microseconds {}\n\n", gpu_->id(), gpu_->name(),
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
        overhead("cold", cold_overhead_);
        overhead("warm", warm_overhead_);
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
        if (cold_overhead_) overhead["cold"] = overhead_json(*cold_overhead_);
        if (warm_overhead_) overhead["warm"] = overhead_json(*warm_overhead_);
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
    std::unique_ptr<device::Device> gpu_;
    std::unique_ptr<answer::Measurer> measurer_;
    std::optional<results::Origin> origin_;
    std::optional<double> launch_cycles_;
    std::optional<answer::MeasuredOverhead> cold_overhead_, warm_overhead_;
    std::string ended_;  ///< why no further launch can be measured
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
