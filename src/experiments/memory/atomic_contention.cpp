// How long atomics take that meet: on one address, in one sector, in one unit of the last cache.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/bandwidth/atomic_loop.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace atomic_contention {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.9;
/// The differences of launches that are compared scatter by 2.5%: two scans of one H200, a minute apart, gave rates
/// that were 4.6% apart. Intervals are at least that wide, and wider where places in the cache differ by more.
constexpr double kUncertainty = 0.025;
/// Places in the cache at which warps meet, so that one part of it does not stand for all.
constexpr std::uint32_t kPlaces = 5, kQuickPlaces = 2;
/// Iterations of the shorter launch, and launches of each kind; the fastest counts.
constexpr int kIterations = 4, kRuns = 3, kQuickRuns = 1;
/// If half as many SMs take longer than this for the same atomics, the SMs are the limit and not what they meet at.
constexpr double kSaturated = 1.5;
/// A request must take longer than the wait for the one before by this factor to be the limit.
constexpr double kAboveWait = 1.05;
constexpr std::uint32_t kSector = 32, kLine = 128, kSectors = kLine / kSector;
/// Scattered atomics touch a part of the cache that surely stays there.
constexpr std::int64_t kPartOfCache = 4;
/// Bytes in which atomics are spread over a few units only, and the share of all units that still counts as few.
constexpr std::uint32_t kFewestBytes = 256;
constexpr double kFew = 1.0 / 8;

/// What all SMs and half of them took.
struct Rate {
    double cycles = 0;  ///< of a warp instruction, with all SMs: the median of the places
    bool saturated = false;
    double low = 0, high = 0;  ///< of the places, and at least kUncertainty from the median
};

class AtomicContention {
public:
    explicit AtomicContention(Context& context)
        : context_(context),
          sms_(static_cast<int>(sms_of(context.device))),
          cache_(last_cache(context.findings)),
          span_(std::bit_floor(static_cast<std::uint32_t>(std::min<std::int64_t>(
              {std::int64_t{sms_} * AtomicLoop::kWarps * kWarpSize * kSector,
               std::max<std::int64_t>(largest_cache(context) / kPartOfCache, kLine), std::int64_t{1} << 30})))),
          array_(context.device, Bytes{std::max<std::int64_t>(span_, kLine)}) {
        trace_.columns = {{"kind", "0 integer, 1 float, 2 double, 3 swap", {}},
                          {"lanes", "count", {}},
                          {"bytes", "bytes", {}},
                          {"cycles", "cycles", {}}};
        trace_.plot = {.title = "Cycles of a warp's atomics against the bytes that all warps spread over",
                       .x = "bytes",
                       .y = {"cycles"},
                       .log_x = true,
                       .log_y = true,
                       .split = "kind"};
    }

    Outcome run() {
        int done = 0;
        for (const auto kind :
             {AtomicKind::add_integer, AtomicKind::add_float, AtomicKind::add_double, AtomicKind::compare_swap}) {
            context_.progress(0.2 * done++, fmt::format("atomics that meet, {}", name_of(kind)));
            if (target_of(context_.device).sm < needed_capability(kind)) continue;
            try {
                AtomicLoop loop(context_.device, kind, sms_);
                add_code_checks(loop.compiled(), outcome_);
                const auto part = costs(loop, kind);
                if (kind == AtomicKind::add_integer && part) units(loop, *part);
            } catch (const CodeMismatch& mismatch) {
                add_mismatch(mismatch, outcome_);
            }
        }
        outcome_.traces.push_back(std::move(trace_));
        return std::move(outcome_);
    }

private:
    [[nodiscard]] std::string leaf(AtomicKind kind, std::string_view name) const {
        return kind == AtomicKind::add_integer ? fmt::format("accesses.{}_atomic.{}", cache_, name)
                                               : fmt::format("accesses.{}_atomic_{}.{}", cache_, name_of(kind), name);
    }

    /// `lanes` and `bytes` describe the addresses for the trace. Other places move them by whole lines.
    std::optional<Rate> rate(AtomicLoop& loop, AtomicKind kind, int lanes, std::uint32_t bytes,
                             const AtomicLoop::OffsetOf& offset_of, bool at_other_places = true) {
        const auto of = [&](int blocks, std::uint32_t place) {
            const auto there = [&](std::uint32_t warp, std::uint32_t lane) {
                const std::uint32_t offset = offset_of(warp, lane);
                return offset == AtomicLoop::kNone ? offset : (offset + place) % span_;
            };
            return loop.cycles_of_warp(blocks, there, array_.address(), kIterations,
                                       context_.quick ? kQuickRuns : kRuns);
        };
        std::vector<double> times;
        const std::uint32_t places = !at_other_places ? 1 : context_.quick ? kQuickPlaces : kPlaces;
        for (std::uint32_t place = 0; place < places; ++place) {
            const auto all = of(sms_, span_ / places / kLine * kLine * place);
            if (!all) return std::nullopt;
            trace_.add_row(static_cast<int>(kind), lanes, bytes, *all);
            times.push_back(*all);
        }
        const Measured all = summarise(times);
        const auto half = sms_ > 1 ? of(sms_ / 2, 0) : all.value;
        return Rate{all.value, half && *half < kSaturated * all.value,
                    std::min(all.low, (1 - kUncertainty) * all.value),
                    std::max(all.high, (1 + kUncertainty) * all.value)};
    }

    void report(const std::string& path, const std::optional<Rate>& rate, double value, const std::string& how,
                const std::string& open) {
        if (!rate) return;
        const Evidence evidence{"atomic_contention: " + how, kConfidence};
        if (rate->saturated && open.empty()) {
            const double each = value / rate->cycles;
            outcome_.estimates.push_back(decided_real(path, {value, each * rate->low, each * rate->high}, evidence));
            return;
        }
        auto estimate = undecided(path, {}, evidence);
        estimate.note = fmt::format("at most {:.3g}: {}", value, open.empty() ? "more SMs bring more atomics" : open);
        outcome_.estimates.push_back(std::move(estimate));
    }

    /// Reports what requests of one kind cost. Returns the rate of sectors that are touched in part.
    std::optional<Rate> costs(AtomicLoop& loop, AtomicKind kind) {
        const std::uint32_t bytes = bytes_of(kind);
        const auto one = rate(loop, kind, 1, bytes,
                              [](std::uint32_t, std::uint32_t lane) { return lane == 0 ? 0 : AtomicLoop::kNone; });
        const auto parts = rate(loop, kind, kSectors, kLine, [](std::uint32_t, std::uint32_t lane) {
            return lane < kSectors ? lane * kSector : AtomicLoop::kNone;
        });
        const auto whole =
            rate(loop, kind, static_cast<int>(kLine / bytes), kLine, [bytes](std::uint32_t, std::uint32_t lane) {
                return lane < kLine / bytes ? lane * bytes : AtomicLoop::kNone;
            });
        if (!one) return std::nullopt;
        report(leaf(kind, "same_address_cycles"), one, one->cycles,
               "all SMs, one thread of each of 8 warps on one address, by atomic", "");
        const auto open = [&](const std::optional<Rate>& rate) {
            return rate && rate->cycles < kAboveWait * one->cycles
                       ? fmt::format("an atomic on the same address waits {:.3g} cycles", one->cycles)
                       : std::string();
        };
        if (parts)
            report(leaf(kind, "part_cycles"), parts, parts->cycles / kSectors,
                   "all SMs, each warp on one word of each sector of one line, by sector", open(parts));
        if (whole)
            report(leaf(kind, "sector_cycles"), whole, whole->cycles / kSectors,
                   "all SMs, each warp on all words of one line, by sector", open(whole));
        if (!parts || !parts->saturated || !open(parts).empty()) return std::nullopt;
        return parts;
    }

    /// Reports how many units there are, and how many neighbouring bytes one of them serves.
    void units(AtomicLoop& loop, const Rate& of_one_line) {
        const double part = of_one_line.cycles / kSectors;
        const std::uint32_t sectors = span_ / kSector;
        const auto scattered =
            rate(loop, AtomicKind::add_integer, kWarpSize, span_, [sectors](std::uint32_t warp, std::uint32_t lane) {
                return (warp * kWarpSize + lane) % sectors * kSector;
            });
        if (!scattered) return;
        const double units = part * kWarpSize / scattered->cycles;
        const Evidence evidence{
            fmt::format("atomic_contention: rate of atomics on {} sectors over that on one line", sectors),
            kConfidence};
        const auto path = leaf(AtomicKind::add_integer, "units");
        if (!scattered->saturated || units < 1) {
            auto open = undecided(path, {}, evidence);
            open.note = fmt::format("at least {:.3g}: more SMs bring more atomics", units);
            outcome_.estimates.push_back(std::move(open));
            return;
        }
        auto estimate = decided(path, static_cast<std::int64_t>(std::llround(units)), evidence);
        estimate.interval = {units * of_one_line.low / of_one_line.cycles * scattered->cycles / scattered->high,
                             units * of_one_line.high / of_one_line.cycles * scattered->cycles / scattered->low};
        outcome_.estimates.push_back(std::move(estimate));
        unit_bytes(loop, part, units);
    }

    void unit_bytes(AtomicLoop& loop, double part, double units) {
        std::uint32_t bytes = 0;
        double used = 0;  // units that serve `bytes`
        const auto warps = static_cast<std::uint32_t>(sms_ * AtomicLoop::kWarps);
        for (std::uint32_t spread = kFewestBytes; spread <= span_ && spread / kSector <= warps; spread *= 2) {
            const auto found = rate(
                loop, AtomicKind::add_integer, 1, spread,
                [spread](std::uint32_t warp, std::uint32_t lane) {
                    return lane == 0 ? warp % (spread / kSector) * kSector : AtomicLoop::kNone;
                },
                false);
            if (!found || !found->saturated) break;
            const double served_by = part / found->cycles;
            if (bytes > 0 && served_by > std::max(2.0, kFew * units)) break;
            bytes = spread;
            used = served_by;
        }
        if (bytes == 0) return;
        const double each = bytes / used;
        const auto rounded =
            static_cast<std::int64_t>(std::exp2(std::round(std::log2(std::max<double>(each, kSector)))));
        auto estimate = decided(leaf(AtomicKind::add_integer, "unit_bytes"), rounded,
                                {fmt::format("atomic_contention: rate of atomics on {} neighbouring bytes over that on "
                                             "one line, to a power of two",
                                             bytes),
                                 kConfidence, fmt::format("{:.3g} units serve them", used)});
        outcome_.estimates.push_back(std::move(estimate));
    }

    Context& context_;
    int sms_;
    std::string cache_;
    std::uint32_t span_;  ///< bytes of scattered atomics
    device::Buffer array_;
    results::Trace trace_{.name = "atomic_contention/cycles", .experiment = "atomic_contention"};
    Outcome outcome_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return AtomicContention(c).run(); });
}

}  // namespace
}  // namespace atomic_contention

Experiment atomic_contention_experiment() {
    return {.id = "atomic_contention",
            .title = "cycles of atomics on one address, one sector and one unit of the last cache, by type",
            .source = "gputomo",
            .method = "memory-and-bandwidth",
            .explanation =
                "Warps of all SMs add to one address, to one word of each sector of a line, and to a whole line. They "
                "take as long as the unit of the last cache that serves the line. Atomics on many lines show how many "
                "units there are, and those on a few neighbouring lines how many bytes each of them serves.",
            .needs = {},
            .after = {"caches"},
            .provides = {"accesses.*.same_address_cycles", "accesses.*.part_cycles", "accesses.*.sector_cycles",
                         "accesses.*.units", "accesses.*.unit_bytes"},
            .run = atomic_contention::run,
            .part_of_scan = PartOfScan::with_full_budget};
}

}  // namespace gputomo::experiments
