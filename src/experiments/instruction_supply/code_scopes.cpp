#include "experiments/instruction_supply/code_scopes.hpp"

#include "experiments/caches/scope_report.hpp"
#include "measure/kernel/device_facts.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gputomo::experiments {
namespace {

/// A cache that the rival does not share loses at most this share of its lines, by outliers.
constexpr double kUnshared = 0.1;

/// The share of SM 0's code that code of another block evicts.
class CodeLosses {
public:
    /// A visit that takes more than `border` cycles misses in the cache.
    CodeLosses(InstructionChase& chase, std::uint32_t sms, std::uint32_t schedulers, double border)
        : chase_(chase), sms_(sms), schedulers_(schedulers), border_(border) {}
    /// Chooses the code of both blocks. The rival passes over its code several times, because a cache without LRU
    /// replacement gives up old lines one by one.
    void set(std::vector<std::uint64_t> own, std::vector<std::uint64_t> rivals) {
        // One pass may leave lines of a cache without LRU replacement. With a random policy, each pass over as
        // many lines as the cache has keeps 1/e of the old ones: a hundred-thousandth after twelve passes.
        constexpr std::size_t kFewestPasses = 2, kMostPasses = 12;
        passes_ = static_cast<std::uint32_t>(
            std::clamp(chase_.most_interfering_visits() / (rivals.size() + 1), kFewestPasses, kMostPasses));
        code_ = {.own = std::move(own), .rivals = std::move(rivals), .warps = schedulers_};
        // A rival that only waits also runs code, which lies far away.
        const auto competed = beside(sms_ - 1, 0, 0);
        alone_ = competed ? std::optional(share_above(competed->latencies, border_)) : std::nullopt;
    }
    /// Losses to the warps of a block on SM 0, one warp for each scheduler. The rival of each loss is the number of
    /// schedulers from that of the first block's warp to its own. A warp of a block may have another scheduler in the
    /// next run, because schedulers are assigned as blocks arrive.
    [[nodiscard]] Sharing to_warps() {
        std::map<std::uint32_t, double> least;
        for (std::uint32_t run = 0; run < kRuns * schedulers_ && alone_; ++run) {
            const auto competed = beside(0, run % schedulers_, passes_);
            if (!competed) continue;
            const std::uint32_t behind =
                (competed->rivals_slot + schedulers_ - competed->slot % schedulers_) % schedulers_;
            const double lost = share_above(competed->latencies, border_) - *alone_;
            const auto [at, added] = least.emplace(behind, lost);
            if (!added) at->second = std::min(at->second, lost);
        }
        Sharing sharing;
        for (const auto& [behind, lost] : least) sharing.losses.push_back({behind, lost});
        return sharing;
    }
    [[nodiscard]] Sharing to_sms() {
        Sharing sharing;
        for (std::uint32_t rival = 0; rival < sms_; ++rival)
            if (const auto lost = to(rival)) sharing.losses.push_back({rival, *lost});
        return sharing;
    }

private:
    /// Runs of which the smallest loss counts. Blocks that come and leave at once run code too, perhaps on the first
    /// block's scheduler. More runs take longer; fewer count such losses.
    static constexpr std::uint32_t kRuns = 3;

    [[nodiscard]] std::optional<double> to(std::uint32_t rival) {
        std::optional<double> least;
        for (std::uint32_t i = 0; alone_ && i < kRuns && (!least || *least > kUnshared); ++i) {
            const auto competed = beside(rival, 0, passes_);
            if (!competed) break;
            least = std::min(least.value_or(1), share_above(competed->latencies, border_) - *alone_);
        }
        return least;
    }
    std::optional<InstructionChase::InterferedRun> beside(std::uint32_t rival, std::uint32_t warp,
                                                          std::uint32_t passes) {
        code_.rival = rival, code_.rival_warp = warp, code_.passes = passes;
        return chase_.run_with_rival(code_);
    }
    InstructionChase& chase_;
    std::uint32_t sms_, schedulers_;
    double border_;
    InstructionChase::Interference code_;
    std::uint32_t passes_ = 0;
    std::optional<double> alone_;
};

}  // namespace

std::uint64_t step_through(const PathLevel& cache, const PathQuestion& question) {
    const auto& line = cache.findings.line;
    if (!line.candidates.empty()) return static_cast<std::uint64_t>(line.candidates.back());
    return line.confidence > 0 ? static_cast<std::uint64_t>(line.value) : 2 * question.stride;
}

void find_code_scopes(Context& context, InstructionChase& chase, const PathQuestion& question,
                      const PathFindings& findings, Outcome& outcome) {
    const auto schedulers = static_cast<std::uint32_t>(context.findings.number("issue.schedulers_per_sm").value_or(1));
    for (std::size_t i = 0; i < findings.caches.size(); ++i) {
        const auto& cache = findings.caches[i];
        if (cache.elsewhere) continue;
        const Footprints bytes(cache.least_capacity(), cache.most_capacity());
        // Half of the visits each, because both blocks write theirs into one cache of constants.
        const std::uint64_t most_visits = question.most_loads / 2;
        const std::uint64_t step = step_through(cache, question);
        // Lines that a miss prefetches are left out, because their loss would not show.
        const auto own = deduce::strided(bytes.own, step + cache.ahead, most_visits);
        // The rival's code begins at the next power of two, so that it covers the same sets. If the buffer is too small
        // for that, it begins right after the first block's code.
        const std::uint64_t rest = bytes.together - bytes.own,
                            behind = (bytes.own / code_chase::kAlignment + 1) * code_chase::kAlignment;
        const std::uint64_t begin =
            std::bit_ceil(bytes.own) + rest <= question.buffer_bytes ? std::bit_ceil(bytes.own) : behind;
        const auto rivals = [&](std::uint64_t length) {
            auto offsets = deduce::strided(length, step, most_visits);
            for (auto& offset : offsets) offset += begin;
            return offsets;
        };
        if (begin + rest > question.buffer_bytes) continue;
        CodeLosses losses(chase, sms_of(context.device), schedulers, findings.borders_of(i)[1]);
        losses.set(own, rivals(rest));
        auto warps = losses.to_warps();
        if (!warps.any_takes()) {  // without LRU replacement, a cache that slightly overflows keeps most of its lines
            losses.set(own,
                       rivals(std::min(question.buffer_bytes - begin, std::max(bytes.together, most_visits * step))));
            warps = losses.to_warps();
        }
        const auto leaf = fmt::format("caches.{}.scope", cache.name);
        if (report_scheduler(leaf, warps,
                             question.experiment + ": code of another block's warps on SM 0 competes with one warp's",
                             outcome))
            continue;
        report_scope(context, leaf, losses.to_sms(),
                     question.experiment + ": code on the other SMs competes with code on SM 0", outcome);
    }
}

}  // namespace gputomo::experiments
