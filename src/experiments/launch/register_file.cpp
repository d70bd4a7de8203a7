// How registers are handed out: from blocks that can and that cannot be launched, and from blocks that are on an SM
// together.
#include "experiments/experiments.hpp"

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
namespace {

constexpr double kConfidence = 0.97;
constexpr std::int64_t kWarp = kWarpSize;
/// More values than any GPU has registers for a thread.
constexpr int kTooMany = 300;
/// So few that every GPU can launch a warp that holds them.
constexpr int kFewValues = 8;
/// Steps of the staircase that is kept as evidence (Wong 2010, Fig. 9).
constexpr int kStairs = 16;

/// How an SM may hand out registers.
struct Rule {
    std::int64_t file = 0;           ///< registers of an SM
    std::int64_t register_unit = 1;  ///< of a thread
    std::int64_t thread_unit = 32;   ///< of a block
    std::int64_t parts = 1;          ///< of the file, a warp lying within one

    [[nodiscard]] std::int64_t warps(std::int64_t registers) const {
        const auto each = (registers + register_unit - 1) / register_unit * register_unit * kWarp;
        return file / parts / each * parts;
    }
    [[nodiscard]] std::int64_t largest_block(std::int64_t registers) const {
        return warps(registers) * kWarp / thread_unit * thread_unit;
    }
    [[nodiscard]] std::int64_t resident(std::int64_t registers, std::int64_t threads) const {
        return warps(registers) * kWarp / ((threads + thread_unit - 1) / thread_unit * thread_unit);
    }
};

std::vector<Rule> rules_for(std::int64_t file) {
    std::vector<Rule> rules;
    for (const std::int64_t registers : {file, file / 2, 2 * file})
        for (const std::int64_t unit : {1, 2, 4, 8, 16})
            for (const std::int64_t threads : {32, 64, 128, 256})
                for (const std::int64_t parts : {1, 2, 4, 8}) rules.push_back({registers, unit, threads, parts});
    return rules;
}

/// One thing to try: the largest block that can be launched, or how many blocks of a warp are on an SM together.
struct Question {
    int registers = 0;
    bool resident = false;
    auto operator<=>(const Question&) const = default;
};

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
    [[nodiscard]] std::int64_t predicted(const Rule& rule, Question question) const;
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
    int overhead_ = 0;  ///< registers of a kernel besides the values that it holds
    std::map<int, std::unique_ptr<ResidencyProbe>> kernels_;  ///< by values held
    std::set<Question> asked_;
    std::vector<Rule> rules_;
};

ResidencyProbe& RegisterFile::kernel_with(int live) {
    auto& kernel = kernels_[live];
    if (!kernel) kernel = std::make_unique<ResidencyProbe>(device_, ResidencyProbe::Shape{.live_values = live});
    return *kernel;
}

/// Compilers keep in memory what finds no register; a device without one refuses the kernel.
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
    const Evidence evidence{"register_file: the most registers of a kernel that holds more and more values",
                            kConfidence};
    if (can_hold(kTooMany)) {
        most_registers_ = kernel_with(kTooMany).registers();
        outcome.warnings.push_back(
            fmt::format("register_file: no limit found up to {} registers a thread", most_registers_));
        return;
    }
    if (kernels_.contains(kTooMany)) {  // compiled, with the rest in memory: all registers are in use
        most_registers_ = kernel_with(kTooMany).registers();
    } else {
        while (fails - fits > 1) (can_hold((fits + fails) / 2) ? fits : fails) = (fits + fails) / 2;
        most_registers_ = kernel_with(fits).registers();
    }
    outcome.estimates.push_back(
        decided("topology.max_registers_per_thread", static_cast<std::int64_t>(most_registers_), evidence));
}

std::int64_t RegisterFile::predicted(const Rule& rule, Question question) const {
    if (!question.resident) return std::min(most_threads_, rule.largest_block(question.registers));
    return std::min(most_blocks_, rule.resident(question.registers, kWarp));
}

/// A part of the file may have fewer registers than one warp of the kernel needs. A device that refuses kernels of few
/// registers too is at fault.
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
        kernel_with(question.registers - overhead_).registers();  // a compiler may have found another number
    const auto found = answer(question);
    std::erase_if(rules_, [&](const Rule& rule) { return predicted(rule, {registers, question.resident}) != found; });
}

/// The question that tells most of the rules apart that are left.
std::optional<Question> RegisterFile::where_they_differ() const {
    std::optional<Question> best;
    std::size_t least = rules_.size();
    for (int registers = overhead_ + kFewValues; registers <= most_registers_; ++registers)
        for (const bool resident : {false, true}) {
            const Question question{registers, resident};
            if (asked_.contains(question)) continue;
            std::map<std::int64_t, std::size_t> answers;
            std::size_t most = 0;
            for (const Rule& rule : rules_) most = std::max(most, ++answers[predicted(rule, question)]);
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
        std::int64_t Rule::*member;
    };
    static constexpr Leaf kLeaves[] = {{"topology.register_allocation_unit", &Rule::register_unit},
                                       {"topology.thread_allocation_unit", &Rule::thread_unit},
                                       {"topology.register_partitions", &Rule::parts}};
    const Evidence evidence{
        fmt::format(
            "register_file: the rule that explains {} largest blocks and numbers of blocks that are on an SM together",
            asked_.size()),
        kConfidence};
    if (rules_.empty()) {
        outcome.warnings.emplace_back(
            "register_file: no rule for handing out registers explains which blocks can be launched and which are on "
            "an SM together");
        return;
    }
    for (const auto& [path, member] : kLeaves) {
        std::set<std::int64_t> values;
        for (const Rule& rule : rules_) values.insert(rule.*member);
        if (values.size() == 1)
            outcome.estimates.push_back(decided(path, *values.begin(), evidence));
        else
            outcome.estimates.push_back(undecided(path, {values.begin(), values.end()}, evidence));
    }
    if (std::ranges::none_of(rules_, [&](const Rule& rule) { return rule.file == file_; }))
        outcome.warnings.push_back(fmt::format("register_file: the SM hands out {} registers, its attribute says {}",
                                               rules_.front().file, file_));
}

results::Trace RegisterFile::stairs() {
    results::Trace trace{.name = "register_file/largest_block", .experiment = "register_file"};
    trace.columns = {{"registers", "count", {}}, {"threads", "count", {}}, {"used", "count", {}}};
    for (int i = 1; i <= kStairs; ++i) {
        const int registers = most_registers_ * i / kStairs;
        if (registers - overhead_ < 1) continue;
        ResidencyProbe& kernel = kernel_with(registers - overhead_);
        const auto threads = answer({registers, false});
        trace.columns[0].values.push_back(kernel.registers());
        trace.columns[1].values.push_back(static_cast<double>(threads));
        trace.columns[2].values.push_back(static_cast<double>(threads * kernel.registers()));
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
    // Blocks of few registers are limited by something else: their number, or the shared memory that each takes.
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

Experiment register_file_experiment() {
    return {.id = "register_file",
            .title = "how registers are handed out to threads, warps and blocks",
            .source = "Wong 2010, IV-E, Fig. 9",
            .method = "registers-and-launch",
            .explanation =
                "Kernels with growing numbers of registers and threads are launched. Which launches succeed, and "
                "how many blocks are resident on an SM together, gives the units in which registers are allocated.",
            .needs = {},
            .provides = {"topology.max_registers_per_thread", "topology.register_allocation_unit",
                         "topology.thread_allocation_unit", "topology.register_partitions"},
            .run = run};
}

}  // namespace gputomo::experiments
