// Bytes per cycle of the cache of constants that all SMs share.
#include "experiments/experiments.hpp"

#include "deduce/cache/levels.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "measure/chase/pointer_chase_kernels.hpp"
#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gputomo::experiments {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

constexpr double kConfidence = 0.9;
/// Loads of a thread in flight, each in a ring of lines of its own.
constexpr std::size_t kChains = 4;
/// The rings take so much of the cache, and so many times what the caches before it hold.
constexpr double kPart = 0.75;
constexpr std::uint64_t kTimesBefore = 2;
constexpr std::uint32_t kLaps = 8;
/// All SMs together reach less than this share of as many times one SM's rate where the cache is what limits them.
constexpr double kLimited = 0.9;
/// Rates from this share of the last one on are of a cache that is full.
constexpr double kFilled = 0.99;
/// One SM has a whole number of loads in flight, but for this share.
constexpr double kWhole = 0.1;
constexpr std::uint32_t kBlocksPerSm = 2;
/// Each rate is measured so often, and more often where it differs by more than this share.
constexpr double kSteady = 0.01;
constexpr std::size_t kRuns = 2, kDisturbedRuns = 5;

/// Of one block; `claim` is taken by the first one on its SM.
struct BlockResult {
    std::uint32_t claim = 0, begin = 0, end = 0, padding = 0;
};

/// One thread on each of `active` SMs follows its rings: on the first of each `per` SMs, of which there are `groups`,
/// then on the second of each, which begins elsewhere. The lap before the timed ones runs through the same code.
ptx::KernelBuilder bandwidth_kernel(ptx::Target target) {
    ptx::KernelBuilder k("constant_bandwidth", target);
    std::vector<Reg> starts;
    for (std::size_t i = 0; i < kChains; ++i) starts.push_back(k.param(Type::u64, fmt::format("start{}", i)));
    const Reg turns = k.param(Type::u32, "turns"), per = k.param(Type::u32, "per"),
              groups = k.param(Type::u32, "groups"), active = k.param(Type::u32, "active"),
              shift = k.param(Type::u32, "shift"), results = k.param(Type::u64, "results"),
              sink = k.param(Type::u64, "sink");
    static_cast<void>(k.array(constant_array()));
    const Label leave = k.label();
    const Reg sm = k.special(SpecialRegister::smid), number = k.reg(Type::u32), rest = k.reg(Type::u32),
              other = k.reg(Type::pred), taken = k.reg(Type::u32);
    k("div.u32", number, sm, per);
    k("rem.u32", rest, sm, per);
    k("mad.lo.u32", number, rest, groups, number);
    k("setp.ge.u32", other, number, active);
    k.when(other)("bra", leave);
    const Reg mine = k.element(results, number, Bytes{sizeof(BlockResult)});
    k("atom.global.exch.b32", taken, Mem{mine}, 1);
    k("setp.ne.u32", other, taken, 0);
    k.when(other)("bra", leave);
    // The thread's number, which is 0, keeps the compiler from taking the addresses for ones that all threads share.
    const Reg thread = k.reg(Type::u64);
    k("cvt.u64.u32", thread, k.special(SpecialRegister::tid_x));
    const Reg begins = k.reg(Type::u64);
    k("mul.wide.u32", begins, rest, shift);
    k("add.u64", thread, thread, begins);
    std::vector<Reg> at = k.regs(Type::u64, static_cast<int>(kChains));
    for (std::size_t i = 0; i < kChains; ++i) k("add.u64", at[i], starts[i], thread);
    k.loop(2, [&] {
        const Reg begin = k.clock_after(at[0]);
        k.loop(turns, [&] {
            for (const Reg a : at) k("ld.const.u64", a, Mem{a});
        });
        for (std::size_t i = 1; i < kChains; ++i) k("add.u64", at[0], at[0], at[i]);
        const Reg end = k.clock_after(at[0]);
        for (std::size_t i = 1; i < kChains; ++i) k("sub.u64", at[0], at[0], at[i]);
        k("st.global.u32", Mem{mine, offsetof(BlockResult, begin)}, begin);
        k("st.global.u32", Mem{mine, offsetof(BlockResult, end)}, end);
    });
    for (const Reg a : at) k("st.volatile.global.u64", Mem{sink}, a);
    k.place(leave);
    return k;
}

/// What earlier experiments know of the cache and of those before it.
struct Subject {
    std::string name;   ///< key in `caches`
    std::string first;  ///< of the nearest cache, which the loads of one SM wait in
    std::uint64_t capacity = 0, before = 0;
    std::uint64_t line = 0;  ///< distance of two loads
    double bytes = 0;        ///< that a load brings to the cache before
    double latency = 0;
    std::uint32_t per = 1;  ///< SMs that share the cache before
};

/// The last cache of the path, where all SMs share it and others come before it.
std::optional<Subject> subject_of(const Findings& findings) {
    const auto* list = findings.find("paths.constant.caches");
    if (list == nullptr || list->knowledge != results::Knowledge::known) return std::nullopt;
    const auto& names = std::get<std::vector<std::string>>(list->value);
    if (names.size() < 2) return std::nullopt;
    const auto leaf = [&](const std::string& name, std::string_view what) {
        return findings.number(fmt::format("caches.{}.{}", name, what));
    };
    const auto scope = [&](const std::string& name) {
        const auto* found = findings.find(fmt::format("caches.{}.scope", name));
        return found == nullptr || found->knowledge != results::Knowledge::known ? std::string()
                                                                               : std::get<std::string>(found->value);
    };
    const auto &last = names.back(), &before = names[names.size() - 2];
    const auto capacity = leaf(last, "capacity"), held = leaf(before, "capacity"), line = leaf(last, "line"),
               bytes = leaf(before, "sector"), latency = leaf(last, "latency");
    if (!capacity || !held || !line || !bytes || !latency || scope(last) != "gpu") return std::nullopt;
    const auto sharing = scope(before);
    if (sharing != "sm" && sharing != "tpc") return std::nullopt;
    const double per = sharing == "sm" ? 1 : findings.number("topology.sms_per_tpc").value_or(0);
    if (per < 1) return std::nullopt;
    return Subject{last,
                   names.front(),
                   static_cast<std::uint64_t>(*capacity),
                   static_cast<std::uint64_t>(*held),
                   static_cast<std::uint64_t>(*line),
                   *bytes,
                   *latency,
                   static_cast<std::uint32_t>(per)};
}

/// Bytes per cycle of several SMs that don't end at the same time: until the last one's end, when the others' bandwidth
/// lies idle, and the sum of what each had until its own, with which the last ones have what the others left. The
/// cache's own bandwidth, where they fill it, lies between.
struct Throughput {
    double until_last = 0, each = 0;
};

class Measurement {
public:
    Measurement(device::Device& device, const Subject& subject)
        : device_(device),
          subject_(subject),
          module_(load(device)),
          kernel_(module_, bandwidth_kernel(target_of(device)).name(),
                  {LoopedCode{.operation = {"LDC"}, .count = kChains}}),
          links_(device, module_),
          sms_(sms_of(device)),
          results_(device, Bytes{static_cast<std::int64_t>(sizeof(BlockResult)) * sms_ + 16}) {
        lines_ = static_cast<std::uint32_t>(kPart * static_cast<double>(subject.capacity)) / kChains /
                 static_cast<std::uint32_t>(subject.line);
        write_rings(1);
        for (std::uint64_t chain = 0; chain < kChains; ++chain)
            starts_.push_back(links_.link_to(chain * lines_ * subject_.line));
    }
    /// Gives each SM of a group lines of its own: followers in one ring would find what the first one fetched. False
    /// where the cache before holds what two of them walk through.
    bool split_rings() {
        const std::uint64_t part = lines_ / subject_.per;
        if (subject_.per < 2 || (subject_.per - 1) * kChains * part * subject_.line <= subject_.before) return false;
        write_rings(subject_.per);
        return true;
    }
    /// SMs that share no cache before this one.
    [[nodiscard]] std::uint32_t groups() const { return (sms_ + subject_.per - 1) / subject_.per; }
    [[nodiscard]] std::uint32_t sms() const { return sms_; }
    [[nodiscard]] const CompiledKernel& kernel() const { return kernel_; }
    /// Bytes per cycle that come to `active` SMs together: what the second half of the laps adds, free of how SMs begin
    /// and end.
    Throughput rate(std::uint32_t active) {
        const auto half = cycles(active, kLaps / 2 * lines_), whole = cycles(active, kLaps * lines_);
        constexpr std::uint32_t kTimedLaps = kLaps - kLaps / 2;
        const double bytes = subject_.bytes * kChains * kTimedLaps * lines_;
        double sum = 0, all = 0;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            if (whole[i] <= half[i]) continue;
            sum += bytes / (whole[i] - half[i]);
            all += bytes;
        }
        return {sum == 0 ? 0 : all / (std::ranges::max(whole) - std::ranges::max(half)), sum};
    }

private:
    /// Each chain's lines in so many rings, one behind the other.
    void write_rings(std::uint32_t parts) {
        const std::uint64_t part = lines_ / parts * subject_.line;
        for (std::uint64_t begin = 0; begin < kChains * lines_ * subject_.line; begin += lines_ * subject_.line) {
            for (std::uint64_t number = 0; number < parts; ++number) {
                auto ring = deduce::strided(part, subject_.line);
                for (auto& offset : ring) offset += begin + number * part;
                links_.write_cycle(ring);
            }
        }
    }
    /// Of each block that reads; 0 for the others.
    std::vector<double> cycles(std::uint32_t active, std::uint32_t turns) {
        device::Arguments arguments;
        for (const auto start : starts_) arguments.add(start);
        const std::uint32_t shift = lines_ / subject_.per * static_cast<std::uint32_t>(subject_.line);
        arguments.add(turns).add(subject_.per).add(groups()).add(active).add(shift);
        arguments.add(results_.address()).add(results_.address() + sizeof(BlockResult) * sms_);
        device_.fill_u32(results_.address(), 0, sizeof(BlockResult) / 4 * sms_);
        kernel_.launch({kBlocksPerSm * sms_}, {1}, arguments);
        std::vector<double> spans;
        for (const auto& block : results_.read<BlockResult>(sms_))
            spans.push_back(block.claim != 0 ? block.end - block.begin : 0);
        return spans;
    }
    static std::shared_ptr<device::Module> load(device::Device& device) {
        ptx::ModuleBuilder module(target_of(device));
        module.add(bandwidth_kernel(target_of(device)));
        module.add(constant_base_kernel(target_of(device)));
        return device.load(module.text());
    }
    device::Device& device_;
    const Subject& subject_;
    std::shared_ptr<device::Module> module_;
    CompiledKernel kernel_;
    ConstantLinks links_;
    std::uint32_t sms_;
    device::Buffer results_;
    std::vector<std::uint64_t> starts_;
    std::uint32_t lines_ = 0;
};

/// Of so many SMs together, in several runs.
struct Rate {
    std::uint32_t active = 0;
    std::vector<Throughput> samples;
    /// Accidents only slow a few SMs, which don't fill the cache; where it is full others take their turns.
    [[nodiscard]] double best() const { return std::ranges::max(both()); }
    [[nodiscard]] double least() const { return std::ranges::min(both()); }
    [[nodiscard]] double median() const {
        std::vector<double> middles;
        for (const auto& sample : samples) middles.push_back((sample.until_last + sample.each) / 2);
        return gputomo::median(middles);
    }

private:
    [[nodiscard]] std::vector<double> both() const {
        std::vector<double> values;
        for (const auto& sample : samples) values.insert(values.end(), {sample.until_last, sample.each});
        return values;
    }
};

/// One SM, two, ... of those that share no cache before this one; then, where they can be kept from sharing what they
/// fetch, all SMs, which fill it even where accidents always hold some of them up.
std::vector<Rate> measure_rates(Context& context, Measurement& measurement) {
    std::vector<Rate> rates;
    const auto add = [&](std::uint32_t active) {
        context.progress(static_cast<double>(active) / measurement.sms(), fmt::format("{} SMs read constants", active));
        Rate rate{active, {}};
        do rate.samples.push_back(measurement.rate(active));
        while (rate.samples.size() < kRuns ||
               (rate.samples.size() < kDisturbedRuns && rate.best() - rate.least() > kSteady * rate.best()));
        rates.push_back(std::move(rate));
    };
    for (std::uint32_t active = 1; active <= measurement.groups(); ++active) add(active);
    if (measurement.split_rings()) add(measurement.sms());
    return rates;
}

/// What a single SM gets tells how many loads it has in flight, where that is fewer than the thread has.
void report_one_sm(const Subject& subject, double rate, Outcome& outcome) {
    const double in_flight = rate * subject.latency / subject.bytes, whole = std::round(in_flight);
    if (whole < 1 || whole >= kChains || std::abs(in_flight - whole) > kWhole * whole) return;
    outcome.estimates.push_back(decided(
        fmt::format("caches.{}.outstanding_entries", subject.first), static_cast<std::int64_t>(whole),
        {fmt::format(
             "constant_bandwidth: of {} independent loads so many are in flight, from one SM's rate and the latency",
             kChains),
         kConfidence}));
}

void report_all(const Subject& subject, const std::vector<Rate>& rates, Outcome& outcome) {
    const auto path = fmt::format("caches.{}.bytes_per_cycle", subject.name);
    const double all = rates.back().median();
    double best = 0;
    for (const auto& rate : rates) best = std::max(best, rate.best());
    if (all < kLimited * rates.front().best() * rates.back().active) {
        // Of those that fill it, which of them end first makes the rates differ a little. Runs that agree as well as is
        // asked for may be so far off.
        double least = (1 - kSteady / 2) * all, most = (1 + kSteady / 2) * all;
        for (const auto& rate : rates) {
            if (rate.median() < kFilled * all) continue;
            least = std::min(least, rate.least());
            most = std::max(most, rate.best());
        }
        outcome.estimates.push_back(
            decided_real(path, {all, least, most},
                         {"constant_bandwidth: more SMs that read from it bring nothing more", kConfidence}));
        return;
    }
    auto open = undecided(path, {}, {"constant_bandwidth: as many SMs as there are do not fill it", kConfidence});
    open.note = fmt::format("at least {:.2f}", best);
    outcome.estimates.push_back(std::move(open));
}

Outcome measure(Context& context) {
    Outcome outcome;
    const auto subject = subject_of(context.findings);
    if (!subject ||
        kPart * static_cast<double>(subject->capacity) < static_cast<double>(kTimesBefore * subject->before)) {
        outcome.warnings.emplace_back(
            "constant_bandwidth: no cache of constants is known to be shared by all SMs and several times as large as "
            "those before it");
        return outcome;
    }
    Measurement measurement(context.device, *subject);
    add_code_checks(measurement.kernel(), outcome);
    const auto rates = measure_rates(context, measurement);
    results::Trace trace{.name = "constant_bandwidth/sms", .experiment = "constant_bandwidth"};
    trace.columns = {{"blocks", "count", {}}, {"rate", "bytes/cycle", {}}};
    trace.plot = {"Bytes per cycle from the shared cache of constants against the number of SMs that read",
                  "blocks",
                  {"rate"},
                  false,
                  false};
    for (const auto& rate : rates) {
        trace.columns[0].values.push_back(rate.active);
        trace.columns[1].values.push_back(rate.median());
    }
    report_one_sm(*subject, rates.front().best(), outcome);
    report_all(*subject, rates, outcome);
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

Experiment constant_bandwidth_experiment() {
    return {.id = "constant_bandwidth",
            .title = "bytes per cycle of the cache of constants that all SMs share",
            .source = "Wong 2010, IV-J3, Fig. 19",
            .method = "instruction-supply",
            .explanation =
                "One thread on each of more and more SMs reads constants that only the shared cache holds, with "
                "several loads in flight. The rate beyond which further SMs bring nothing is the bandwidth of that "
                "cache.",
            .needs = {},
            .after = {"clock", "constant_caches", "scopes"},
            .provides = {"caches.*.bytes_per_cycle", "caches.*.outstanding_entries"},
            .run = run};
}

}  // namespace gputomo::experiments
