#include "predict/static/prediction.hpp"

#include "costs/lines_in_flight.hpp"
#include "predict/static/queues.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace gputomo::predict {
namespace {

/// Largest occupancy that is predicted if the description lacks the warps that an SM holds.
constexpr int kDefaultWarps = 64;
/// Most bisection steps; they exhaust the precision of a double.
constexpr int kHalvings = 60;
/// Cycles added to the memory latency to find how strongly a warp's latency depends on it.
constexpr double kLonger = 100;
const std::string kScheduler = "warp scheduler";
const std::string kStarts = "starts of blocks";

class Predictor {
public:
    Predictor(Prediction& to, const machine::Machine& machine, const Choices& choices, std::string_view origin)
        : to_(to),
          costs_(machine, choices.access, origin),
          path_(path_of(to.code, choices.path)),
          executions_(executions(to.code, path_)) {
        check_lines(choices.access);
        warps_of_block_ = choices.warps_of_block;
        holding_ = choices.holding;
        if (!holding_) holding_ = [bytes = to.code.shared_bytes + choices.dynamic_shared](int) { return bytes; };
    }

    void predict() {
        const WarpTiming alone = warp_timing(to_.code, path_, costs_, {costs_.unloaded_latency(), warps_of_block_});
        to_.gpu = costs_.parameters().gpu;
        to_.latency = alone.latency;
        to_.work = alone.work;
        spread_ = spread_latency(to_.code, path_, costs_, {costs_.unloaded_latency(), warps_of_block_});
        reads_ = (spread_latency(to_.code, path_, costs_, {costs_.unloaded_latency() + kLonger, warps_of_block_}).mean -
                  spread_.mean) /
                 kLonger;
        to_.issue_times = alone.issue_times;
        to_.executions = executions_;
        fill_worksheet();
        const auto& tightest = to_.worksheet.tightest();
        to_.bound = tightest.total();
        to_.limited_by = tightest.resource;
        to_.needed_warps = to_.latency / to_.bound;
        to_.needed_contended = needed_contended();
        to_.gigabytes_per_second = bandwidth(1 / to_.bound);
        to_.max_warps = costs_.parameters().max_warps;
        fill_points();
        fill_changes();
        to_.assumptions = to_.code.assumptions;
        to_.assumptions.insert(to_.assumptions.end(), path_.assumptions.begin(), path_.assumptions.end());
        to_.assumptions.insert(to_.assumptions.end(), costs_.assumptions().begin(), costs_.assumptions().end());
    }

private:
    /// Refuses choices for lines without a matching access.
    void check_lines(const AccessChoices& choices) const {
        const auto check = [&](const std::map<int, double>& given, bool shared, std::string_view option) {
            for (const auto& [line, value] : given) {
                const bool fits = std::any_of(
                    to_.code.instructions.begin(), to_.code.instructions.end(), [&, wanted = line](const auto& i) {
                        return i.line == wanted && i.access && (i.access->space == MemorySpace::shared) == shared;
                    });
                if (!fits)
                    throw InputError(fmt::format(
                        "{} {}={}: line {} of {} has no such access; expected a line with a {} access", option, line,
                        value, line, to_.code.origin, shared ? "shared memory" : "global memory"));
            }
        };
        check(choices.transactions, false, "--transactions");
        check(choices.ways, true, "--ways");
    }

    void fill_worksheet() {
        Worksheet& sheet = to_.worksheet;
        const auto& p = costs_.parameters();
        for (std::size_t i = 0; i < executions_.size(); ++i) {
            if (executions_[i] == 0 || to_.code.instructions[i].kind == Kind::free) continue;
            const Cost cost = costs_.of(to_.code.instructions[i], costs_.unloaded_latency());
            sheet.add(std::string(name_of(cost.resource)), cost.worksheet_row, cost.cycles, executions_[i]);
            to_.bytes += cost.bytes * executions_[i];
            fetched_.add(cost, executions_[i]);
            if (cost.resource == Resource::memory && !to_.code.instructions[i].access->load)
                written_ += cost.cycles * executions_[i];
            if (cost.uncontended(p.issue_throughput))
                uncontended_[std::string(name_of(cost.resource))] += cost.cycles * executions_[i];
        }
        const double each = 1 / p.issue_throughput;
        sheet.add(kScheduler, "single issue", each, to_.work.single_issues);
        sheet.add(kScheduler, "dual issue", each, to_.work.dual_issues);
        sheet.add(kScheduler, "reissue", each, to_.work.reissues);
        if (const double start = costs_.start_cycles(warps_of_block_); start > 0) sheet.add(kStarts, "warps", start, 1);
        // The cores take a pair every second cycle, other instructions one a cycle (Volkov 2016, 3.8).
        if (costs_.dual_issue())
            sheet.resource(std::string(name_of(Resource::cores))).at_least = to_.work.core_issues / p.issue_throughput;
    }

    [[nodiscard]] double bandwidth(double warps_per_cycle) const {
        return warps_per_cycle * to_.bytes * costs_.parameters().sms * costs_.parameters().clock_ghz;
    }

    [[nodiscard]] double latency_at(double memory_latency) {
        return warp_timing(to_.code, path_, costs_, {memory_latency, warps_of_block_}).latency;
    }

    /// Latency of a warp if warps finish at this rate; nullopt if memory can't carry that load.
    [[nodiscard]] std::optional<double> loaded_latency(double warps_per_cycle) {
        const auto& contention = costs_.parameters().contention;
        if (!contention || to_.bytes == 0) return to_.latency;
        const double load = bandwidth(warps_per_cycle);
        if (load >= contention->lowest_limit()) return std::nullopt;
        return latency_at(contention->latency(load));
    }

    [[nodiscard]] double needed_contended() {
        const auto latency = loaded_latency(1 / to_.bound);
        return latency ? *latency / to_.bound : std::numeric_limits<double>::infinity();
    }

    /// The rate at which `warps` warps are in flight, by bisection (6.5).
    [[nodiscard]] double contended(int warps) {
        double low = 0, high = 1 / to_.bound;
        for (int i = 0; i < kHalvings && high - low > 1e-6 * high; ++i) {
            const double middle = (low + high) / 2;
            const auto latency = loaded_latency(middle);
            (latency && warps / *latency > middle ? low : high) = middle;
        }
        return low;
    }

    /// The resources at which blocks queue. The warps of a block arrive at a resource together, so blocks are the
    /// customers of the queues. Blocks start at regular times. No issued instruction waits for a unit that is at least
    /// as fast as issue.
    [[nodiscard]] std::vector<Station> stations() const {
        const double size = std::max(1, warps_of_block_);
        std::vector<Station> found;
        for (const auto& resource : to_.worksheet.resources) {
            const auto uncontended = uncontended_.find(resource.resource);
            const auto jitter = resource.resource == kStarts ? std::optional(spread_.deviation) : std::nullopt;
            found.push_back({.cycles = resource.total() * size,
                             .uncontended = uncontended == uncontended_.end() ? 0 : uncontended->second * size,
                             .jitter = jitter});
        }
        return found;
    }

    /// Writes delay reads by memory.write_delay, which copies showed. The delay includes the copies' waiting in the
    /// memory queue, so only what the queue here does not account for is added.
    [[nodiscard]] double queued(int warps) const {
        const double size = std::max(1, warps_of_block_);
        const auto places = stations();
        const auto memory = static_cast<std::size_t>(
            std::ranges::find(to_.worksheet.resources, name_of(Resource::memory), &ResourceUse::resource) -
            to_.worksheet.resources.begin());
        const auto delayed = [&](double cycles) {
            return predict::queued(places, spread_.mean + cycles, warps / size);
        };
        const auto missing = [&](const Queued& found) {
            return reads_ * costs_.write_delay() * written_ * size * found.throughput -
                   found.waiting[memory] * written_ * size / places[memory].cycles;
        };
        Queued found = delayed(0);
        if (written_ * reads_ * costs_.write_delay() > 0 && missing(found) > 0) {
            double low = 0, high = missing(found) + found.waiting[memory];
            for (int i = 0; i < kHalvings && high - low > 1e-6 * high; ++i) {
                const double middle = (low + high) / 2;
                found = delayed(middle);
                (missing(found) > middle ? low : high) = middle;
            }
        }
        return size * found.throughput;
    }

    /// The first-level cache beside the shared memory of `warps` warps; nullopt if it is unknown.
    [[nodiscard]] std::optional<costs::CacheLines> cache_beside(int warps) const {
        if (warps_of_block_ <= 0) return std::nullopt;
        const int blocks = (warps + warps_of_block_ - 1) / warps_of_block_;
        return costs::lines_beside(costs_.machine(), blocks * costs_.shared_allocated(holding_(blocks)));
    }

    /// The warps per cycle at which the lines in flight fill the cache: a closed queueing network of its loads alone.
    [[nodiscard]] double with_lines(const costs::CacheLines& cache) {
        if (fetched_.lines == 0) return 1 / to_.bound;
        const auto [known, is_new] = in_flight_.try_emplace(cache.lines, 0);
        if (is_new) known->second = costs::mean_lines_in_flight(cache, costs_.parameters().schedulers);
        const double scattered = fetched_.scattered / fetched_.lines;
        const double lines = scattered * known->second + (1 - scattered) * static_cast<double>(cache.lines);
        // A warp waits for the last of a load's lines, a line only for its own data.
        const double latency = fetched_.latency / fetched_.lines, own = costs_.unloaded_latency();
        const double loads = fetched_.lines / fetched_.lines_of_load();
        const double station = to_.worksheet.resource(std::string(name_of(Resource::memory))).total() / loads;
        const double network = queued_throughput(std::array{Station{station}}, latency,
                                                 lines / fetched_.lines_of_load() * std::max(1.0, latency / own));
        return network / loads;
    }

    void fill_points() {
        const int most = to_.max_warps > 0 ? to_.max_warps : kDefaultWarps;
        const bool contends = costs_.parameters().contention.has_value() && to_.bytes > 0;
        const int step = std::max(1, costs_.parameters().schedulers);
        for (int warps = step; warps <= most; warps += step) {
            const double plain = std::min(warps / to_.latency, 1 / to_.bound);
            Point point{.warps = warps,
                        .warps_per_cycle = plain,
                        .contended_warps_per_cycle = contends ? contended(warps) : plain,
                        .queued_warps_per_cycle = queued(warps),
                        .cache_lines = 0};
            if (const auto cache = cache_beside(warps)) {
                point.cache_lines = cache->lines;
                const double limit = with_lines(*cache);
                if (limit < point.queued_warps_per_cycle && lines_reported_.insert(cache->lines).second)
                    to_.code.assumptions.push_back(fmt::format(
                        "from {} warps on, shared memory leaves the first-level cache {} lines, which limits the loads "
                        "in flight",
                        warps, cache->lines));
                point.queued_warps_per_cycle = std::min(point.queued_warps_per_cycle, limit);
            }
            to_.points.push_back(point);
        }
    }

    void change(std::string what, double latency, double bound) {
        to_.changes.push_back({std::move(what), latency / bound, bound});
    }

    void fill_changes() {
        for (const auto& relaxed : to_.worksheet.resources) {
            double bound = relaxed.total() / 2;
            for (const auto& other : to_.worksheet.resources)
                if (&other != &relaxed) bound = std::max(bound, other.total());
            if (bound < to_.bound)
                change(fmt::format("twice the throughput of: {}", relaxed.resource), to_.latency, bound);
        }
        if (to_.bytes > 0) change("half the memory latency", latency_at(costs_.unloaded_latency() / 2), to_.bound);
        if (costs_.block_replacement() > 0)
            change("no block replacement", to_.latency - costs_.block_replacement(), to_.bound);
    }

    /// Sums over the lines that one warp loads from global memory.
    struct Fetched {
        double lines = 0;
        double scattered = 0;  ///< lines that lie in random sets
        double latency = 0;    ///< cycles of their loads
        double squares = 0;    ///< lines of their loads

        void add(const Cost& cost, double executions) {
            lines += executions * cost.lines;
            scattered += cost.scattered ? executions * cost.lines : 0;
            latency += executions * cost.lines * cost.latency;
            squares += executions * cost.lines * cost.lines;
        }
        /// Lines of a load, averaged over lines.
        [[nodiscard]] double lines_of_load() const { return squares / lines; }
    };

    Prediction& to_;
    Costs costs_;
    Path path_;
    std::vector<double> executions_;
    int warps_of_block_ = 0;
    std::function<std::int64_t(int)> holding_;
    Fetched fetched_;
    SpreadLatency spread_;  ///< latency of a warp whose loads vary in latency
    double reads_ = 0;      ///< cycles by which that mean grows per cycle of memory latency
    double written_ = 0;    ///< cycles for which a warp's writes occupy the memory
    /// Cycles of a warp by resource, of instructions that are executed at least as fast as they are issued.
    std::map<std::string, double> uncontended_;
    std::map<std::int64_t, double> in_flight_;  ///< scattered lines in flight, by the lines of the cache
    std::set<std::int64_t> lines_reported_;     ///< lines of the caches whose limit was reported
};

}  // namespace

double warps_per_cycle_at(const Prediction& prediction, double warps) {
    models::Curve curve;
    for (const auto& point : prediction.points) curve[point.warps] = point.queued_warps_per_cycle;
    return models::value_at(curve, warps);
}

Prediction predict(Code code, const machine::Machine& machine, const Choices& choices,
                   std::string_view machine_origin) {
    Prediction prediction;
    prediction.kernel = code.kernel;
    prediction.code = std::move(code);
    if (prediction.code.instructions.empty())
        throw InputError(fmt::format("{}: kernel '{}' has no instructions; expected at least one",
                                     prediction.code.origin, prediction.kernel));
    Predictor(prediction, machine, choices, machine_origin).predict();
    return prediction;
}

}  // namespace gputomo::predict
