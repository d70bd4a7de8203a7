#include "answer/program.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace gputomo::answer {
namespace {

const capture::Kernel* kernel_of(const capture::Capture& captured, const capture::Launch& launch) {
    if (!launch.kernel) return nullptr;
    return &captured.kernels[static_cast<std::size_t>(launch.kernel->kernel)];
}

const capture::Gpu* gpu_of(const capture::Capture& captured, const capture::Launch& launch) {
    return launch.gpu ? &captured.gpus[static_cast<std::size_t>(*launch.gpu)] : nullptr;
}

/// The captured and the answered time of launches that have both and are of the same GPU.
struct Compared {
    double answered = 0, captured = 0;
    void add(const capture::Capture& from, const capture::Launch& launch, const Answer& answer) {
        const auto* const gpu = gpu_of(from, launch);
        if (!launch.us || gpu == nullptr || gpu->name != answer.gpu) return;
        answered += answer.time.microseconds;
        captured += *launch.us;
    }
    [[nodiscard]] std::optional<double> error() const {
        return captured > 0 ? std::optional(answered / captured - 1) : std::nullopt;
    }
};

void add_to(std::optional<double>& sum, const std::optional<double>& value) {
    if (value) sum = sum.value_or(0) + *value;
}

std::optional<CapturedTimeline> timeline_of(const capture::Capture& captured) {
    // Clocks of processes and of GPUs begin at different times.
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> runs;
    std::set<std::pair<int, int>> streams;
    CapturedTimeline timeline;
    for (const auto& launch : captured.launches) {
        if (!launch.start_us || !launch.us) continue;
        runs[{launch.process, launch.gpu.value_or(0)}].emplace_back(*launch.start_us, *launch.start_us + *launch.us);
        streams.emplace(launch.process, launch.stream);
        timeline.sum_microseconds += *launch.us;
        ++timeline.launches;
    }
    if (timeline.launches == 0) return {};
    timeline.streams = streams.size();
    for (auto& [where, of_one] : runs) {
        std::ranges::sort(of_one);
        double end = of_one.front().first;
        for (const auto& [first, last] : of_one) {
            timeline.busy_microseconds += std::max(0.0, last - std::max(first, end));
            end = std::max(end, last);
        }
        timeline.span_microseconds += end - of_one.front().first;
    }
    return timeline;
}

/// Names several kernels alike as far as they differ.
void label_rows(std::vector<KernelRow>& rows, const std::map<std::string, std::string>& readable) {
    std::map<std::string, int> uses;
    for (auto& row : rows) ++uses[row.label = short_name(readable.at(row.kernel))];
    for (auto& row : rows)
        if (uses[row.label] > 1) row.label = readable.at(row.kernel);
    uses.clear();
    for (const auto& row : rows) ++uses[row.label];
    for (auto& row : rows)
        if (uses[row.label] > 1) row.label = row.kernel;
}

class Summary {
public:
    Summary(const capture::Capture& captured, const std::vector<ProgramLaunch>& launches)
        : captured_(captured), launches_(launches) {}

    Program make() {
        for (const auto& launch : launches_) add(launch);
        for (auto& [kernel, row] : rows_) finish(row);
        for (auto& row : program_.kernels) row.share = row.microseconds / std::max(1e-300, program_.microseconds);
        std::ranges::stable_sort(program_.kernels, std::ranges::greater(), &KernelRow::microseconds);
        label_rows(program_.kernels, readable_);
        program_.error = all_.error();
        program_.timeline = timeline_of(captured_);
        add_others();
        return std::move(program_);
    }

private:
    struct Row {
        KernelRow row;
        Compared compared;
        std::map<std::string, double> by_limiter;
        double longest = -1;
    };

    void add(const ProgramLaunch& launch) {
        const auto& of = captured_.launches[launch.number];
        const auto* const kernel = kernel_of(captured_, of);
        const std::string name = kernel != nullptr ? kernel->name : "graph";
        Row& row = rows_[name];
        row.row.kernel = name;
        readable_[name] = kernel != nullptr && !kernel->readable.empty() ? kernel->readable : name;
        if (!launch.answer) {
            ++row.row.failed;
            ++program_.failed;
            return add_failure(launch);
        }
        const Answer& answer = *launch.answer;
        program_.gpu = answer.gpu;
        program_.caches = answer.caches;
        ++program_.answered;
        program_.microseconds += answer.time.microseconds;
        for (const auto& assumption : answer.assumptions)
            if (assumed_.insert(assumption).second) program_.assumptions.push_back(assumption);
        if (answer.differences) {
            ++program_.compared;
            if (!std::ranges::all_of(*answer.differences, &launch::Difference::tolerated))
                program_.different.push_back(launch.number);
        }
        add_answer(launch.number, of, answer, row);
        all_.add(captured_, of, answer);
        add_to(program_.captured_microseconds, of.us);
        if (const auto* const gpu = gpu_of(captured_, of)) gpus_.insert(gpu->name);
    }

    void add_answer(std::size_t number, const capture::Launch& of, const Answer& answer, Row& to) {
        KernelRow& row = to.row;
        row.launches.push_back(number);
        row.microseconds += answer.time.microseconds;
        if (!answer.warnings.empty()) ++row.warned;
        if (answer.time.microseconds > to.longest) {
            to.longest = answer.time.microseconds;
            row.longest = number;
            row.warnings = answer.warnings;
        }
        if (answer.limiter) to.by_limiter[answer.limiter->resource] += answer.time.microseconds;
        add_to(row.captured_microseconds, of.us);
        to.compared.add(captured_, of, answer);
    }

    void add_failure(const ProgramLaunch& launch) {
        const auto known = std::ranges::find(program_.failures, launch.failed, &Program::Failure::message);
        auto& failure =
            known != program_.failures.end()
                ? *known
                : program_.failures.emplace_back(Program::Failure{.message = launch.failed, .launches = {}});
        failure.launches.push_back(launch.number);
    }

    void finish(Row& from) {
        KernelRow& row = from.row;
        for (const auto& [limiter, time] : from.by_limiter)
            if (const double share = time / row.microseconds; share > row.limiter_share) {
                row.limiter = limiter;
                row.limiter_share = share;
            }
        row.error = from.compared.error();
        program_.kernels.push_back(std::move(row));
    }

    void add_others() {
        if (gpus_.size() == 1) program_.captured_gpu = *gpus_.begin();
        std::set<std::size_t> asked;
        for (const auto& launch : launches_) asked.insert(launch.number);
        for (std::size_t i = 0; i < captured_.launches.size(); ++i) {
            if (asked.contains(i)) continue;
            const auto& launch = captured_.launches[i];
            ++program_.not_asked;
            if (launch.graph) ++program_.graph_launches;
            add_to(program_.not_asked_microseconds, launch.us);
        }
        for (const auto& launch : launches_)
            if (launch.answer && launch.answer->method == Method::simulate) ++simulated_;
        if (simulated_ > 0 && simulated_ == program_.answered) program_.method = Method::simulate;
    }

    const capture::Capture& captured_;
    const std::vector<ProgramLaunch>& launches_;
    std::map<std::string, Row> rows_;
    std::map<std::string, std::string> readable_;
    std::set<std::string> assumed_, gpus_;
    std::size_t simulated_ = 0;
    Compared all_;
    Program program_;
};

}  // namespace

std::string short_name(const std::string& readable) {
    // Parentheses and template arguments may hold spaces and colons: "void (anonymous namespace)::f<int>(int)".
    int depth = 0;
    std::string name;
    for (const char c : readable) {
        if (c == '<') ++depth;
        if (depth == 0) {
            if (c == '(' && !name.empty() && name.back() != ' ' && name.back() != ':') break;
            if (c == ' ' && !name.ends_with("(anonymous"))
                name.clear();
            else
                name += c;
        }
        if (c == '>' && depth > 0) --depth;
    }
    return name.empty() ? readable : name;
}

Program program_of(const capture::Capture& captured, const std::vector<ProgramLaunch>& launches) {
    return Summary(captured, launches).make();
}

}  // namespace gputomo::answer
