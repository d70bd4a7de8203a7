// How registers are allocated, from the largest blocks that can be launched and from how many blocks are resident
// together.
#include "experiments/experiments.hpp"

#include "experiments/launch/register_rules.hpp"
#include "measure/residency/resident_blocks.hpp"
#include "results/estimates.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace gputomo::experiments {
namespace register_file {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.97;
constexpr std::int64_t kWarp = kWarpSize;
/// Values that a kernel holds: more than any GPU has registers for a thread.
constexpr int kTooMany = 300;
/// Values so few that every GPU can launch a warp that holds them.
constexpr int kFewValues = 8;
/// Steps of the staircase in the report (Wong 2010, Fig. 9).
constexpr int kStairs = 16;

class RegisterFile {
public:
    explicit RegisterFile(Context& context) : context_(context), device_(context.device) {
        using enum device::Attribute;
        most_threads_ = device_.attribute(max_threads_per_block).value_or(512);
        most_blocks_ = device_.attribute(max_blocks_per_multiprocessor).value_or(8);
        file_ = device_.attribute(max_registers_per_multiprocessor).value_or(16384);
        rules_ = rules_for(file_);
    }
    Outcome measure();

private:
    ResidencyProbe& kernel_with(int live);
    [[nodiscard]] bool can_hold(int live);
    void find_limit(Outcome& outcome);
    [[nodiscard]] std::int64_t predicted(const RegisterRule& rule, Question question) const;
    [[nodiscard]] bool launches_a_warp(ResidencyProbe& kernel);
    [[nodiscard]] std::int64_t answer(Question question);
    void ask(Question question);
    [[nodiscard]] std::optional<Question> where_they_differ() const;
    void conclude(Outcome& outcome) const;
    [[nodiscard]] results::Trace stairs();

    Context& context_;
    device::Device& device_;
    std::int64_t most_threads_ = 0;
    std::int64_t most_blocks_ = 0;
    std::int64_t file_ = 0;
    int most_registers_ = 0;
    int overhead_ = 0;  ///< registers of a kernel besides those for the values that it holds
    std::map<int, std::unique_ptr<ResidencyProbe>> kernels_;  ///< by values held
    std::set<Question> asked_;
    std::vector<RegisterRule> rules_;
};

ResidencyProbe& RegisterFile::kernel_with(int live) {
    auto& kernel = kernels_[live];
    if (!kernel) kernel = std::make_unique<ResidencyProbe>(device_, ResidencyProbe::Shape{.live_values = live});
    return *kernel;
}

/// Whether a kernel can hold this many values in registers. A compiler spills others to memory; a device without a
/// compiler refuses the kernel.
bool RegisterFile::can_hold(int live) {
    try {
        return !kernel_with(live).spills();
    } catch (const DeviceError&) {
    } catch (const InputError&) {}
    kernels_.erase(live);
    return false;
}

void RegisterFile::find_limit(Outcome& outcome) {
    int fits = kFewValues;
    int fails = kTooMany;
    const Evidence evidence{"register_file: the most registers of kernels that hold more and more values", kConfidence};
    if (can_hold(kTooMany)) {
        most_registers_ = kernel_with(kTooMany).registers();
        outcome.warnings.push_back(
            fmt::format("register_file: the limit of registers per thread is unknown, because kernels with up to {} "
                        "registers compile",
                        most_registers_));
        return;
    }
    if (kernels_.contains(kTooMany)) {  // it compiled and spills, so that it uses all registers
        most_registers_ = kernel_with(kTooMany).registers();
    } else {
        while (fails - fits > 1) (can_hold((fits + fails) / 2) ? fits : fails) = (fits + fails) / 2;
        most_registers_ = kernel_with(fits).registers();
    }
    outcome.estimates.push_back(
        decided("topology.max_registers_per_thread", static_cast<std::int64_t>(most_registers_), evidence));
}

std::int64_t RegisterFile::predicted(const RegisterRule& rule, Question question) const {
    if (!question.resident) return std::min(most_threads_, rule.largest_block(question.registers));
    return std::min(most_blocks_, rule.resident(question.registers, kWarp));
}

/// Whether one warp can be launched. A part of the file may have fewer registers than the warp needs. If the device
/// refuses kernels of few registers too, it is at fault, and its error is passed on.
bool RegisterFile::launches_a_warp(ResidencyProbe& kernel) {
    try {
        return kernel.can_launch(kWarp);
    } catch (const DeviceError&) {
        static_cast<void>(kernel_with(kFewValues).can_launch(kWarp));
        return false;
    }
}

std::int64_t RegisterFile::answer(Question question) {
    ResidencyProbe& kernel = kernel_with(question.registers - overhead_);
    if (!launches_a_warp(kernel)) return 0;
    if (question.resident) return kernel.blocks_per_sm(kWarp, Bytes{0}, static_cast<int>(most_blocks_));
    std::int64_t fits = 1;
    std::int64_t fails = most_threads_ / kWarp + 1;
    while (fails - fits > 1) {
        const auto middle = (fits + fails) / 2;
        (kernel.can_launch(static_cast<int>(middle * kWarp)) ? fits : fails) = middle;
    }
    return fits * kWarp;
}

void RegisterFile::ask(Question question) {
    asked_.insert(question);
    const int registers =
        kernel_with(question.registers - overhead_).registers();  // the compiler may use another number than expected
    const auto found = answer(question);
    std::erase_if(rules_, [&](const RegisterRule& rule) {
        return predicted(rule, {registers, question.resident}) != found;
    });
}

/// The question whose answers distinguish most of the remaining rules.
std::optional<Question> RegisterFile::where_they_differ() const {
    std::optional<Question> best;
    std::size_t least = rules_.size();
    for (int registers = overhead_ + kFewValues; registers <= most_registers_; ++registers)
        for (const bool resident : {false, true}) {
            const Question question{registers, resident};
            if (asked_.contains(question)) continue;
            std::map<std::int64_t, std::size_t> answers;
            std::size_t most = 0;
            for (const RegisterRule& rule : rules_) most = std::max(most, ++answers[predicted(rule, question)]);
            if (answers.size() > 1 && most < least) {
                least = most;
                best = question;
            }
        }
    return best;
}

void RegisterFile::conclude(Outcome& outcome) const {
    struct Leaf {
        const char* path;
        std::int64_t RegisterRule::*member;
    };
    static constexpr Leaf kLeaves[] = {{"topology.register_allocation_unit", &RegisterRule::register_unit},
                                       {"topology.thread_allocation_unit", &RegisterRule::thread_unit},
                                       {"topology.register_partitions", &RegisterRule::parts}};
    const Evidence evidence{fmt::format("register_file: the rule that explains {} measurements of the largest block "
                                        "and of the blocks resident together",
                                        asked_.size()),
                            kConfidence};
    if (rules_.empty()) {
        outcome.warnings.emplace_back(
            "register_file: no rule of allocation that is known here explains which blocks can be launched and which "
            "are "
            "resident together; please report this GPU");
        return;
    }
    for (const auto& [path, member] : kLeaves) {
        std::set<std::int64_t> values;
        for (const RegisterRule& rule : rules_) values.insert(rule.*member);
        if (values.size() == 1)
            outcome.estimates.push_back(decided(path, *values.begin(), evidence));
        else
            outcome.estimates.push_back(undecided(path, {values.begin(), values.end()}, evidence));
    }
    if (std::ranges::none_of(rules_, [&](const RegisterRule& rule) { return rule.file == file_; }))
        outcome.warnings.push_back(fmt::format(
            "register_file: the SM allocates {} registers, but the driver reports {}", rules_.front().file, file_));
}

results::Trace RegisterFile::stairs() {
    results::Trace trace{.name = "register_file/largest_block", .experiment = "register_file"};
    trace.columns = {{"registers", "count", {}}, {"threads", "count", {}}, {"used", "count", {}}};
    for (int i = 1; i <= kStairs; ++i) {
        const int registers = most_registers_ * i / kStairs;
        if (registers - overhead_ < 1) continue;
        ResidencyProbe& kernel = kernel_with(registers - overhead_);
        const auto threads = answer({registers, false});
        trace.add_row(kernel.registers(), threads, threads * kernel.registers());
    }
    trace.plot = {"Threads of the largest block against registers of a thread", "registers", {"threads"}, false, false};
    return trace;
}

Outcome RegisterFile::measure() {
    Outcome outcome;
    context_.progress(0, "registers of a thread");
    find_limit(outcome);
    constexpr int kSome = 32;
    overhead_ = kernel_with(kSome).registers() - kSome;
    // Something else limits blocks of few registers: their number, or the shared memory that each takes.
    most_blocks_ = std::min<std::int64_t>(
        most_blocks_, kernel_with(kFewValues).blocks_per_sm(kWarp, Bytes{0}, static_cast<int>(most_blocks_)));
    for (auto question = where_they_differ(); question; question = where_they_differ()) {
        context_.progress(0.3, "registers of blocks");
        ask(*question);
    }
    conclude(outcome);
    context_.progress(0.7, "largest blocks");
    outcome.traces.push_back(stairs());
    return outcome;
}

Outcome run(Context& context) { return RegisterFile(context).measure(); }

}  // namespace
}  // namespace register_file

Experiment register_file_experiment() {
    return {.id = "register_file",
            .title = "how registers are allocated to threads, warps and blocks",
            .source = "Wong 2010, IV-E, Fig. 9",
            .method = "registers-and-launch",
            .explanation =
                "Kernels with growing numbers of registers and threads are launched. Which launches succeed, and "
                "how many blocks are resident on an SM together, gives the units in which registers are allocated.",
            .needs = {},
            .provides = {"topology.max_registers_per_thread", "topology.register_allocation_unit",
                         "topology.thread_allocation_unit", "topology.register_partitions"},
            .run = register_file::run};
}

}  // namespace gputomo::experiments
