#include "sim/memory/placement.hpp"

#include "machine/gpc_size.hpp"
#include "sim/memory/description.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::sim {
namespace {

/// Catches typing errors; no GPU comes near it.
constexpr std::int64_t kMaxSms = 4096;
constexpr std::pair<std::string_view, Scope> kScopes[] = {{"scheduler", Scope::scheduler},
                                                          {"sm", Scope::sm},
                                                          {"tpc", Scope::tpc},
                                                          {"cpc", Scope::cpc},
                                                          {"gpc", Scope::gpc},
                                                          {"gpu", Scope::gpu}};

std::uint32_t count_or_0(const machine::Integer& field, std::string_view path) {
    return field ? static_cast<std::uint32_t>(need_count(field, path, kMaxSms)) : 0;
}

}  // namespace

Placement::Placement(const machine::Machine& machine)
    : sms_(static_cast<std::uint32_t>(need_count(machine.topology.sms, "topology.sms", kMaxSms))),
      schedulers_(count_or_0(machine.issue.schedulers_per_sm, "issue.schedulers_per_sm")),
      sms_per_tpc_(count_or_0(machine.topology.sms_per_tpc, "topology.sms_per_tpc")),
      sms_per_cpc_(count_or_0(machine.topology.sms_per_cpc, "topology.sms_per_cpc")),
      sms_per_gpc_(count_or_0(machine.topology.sms_per_gpc, "topology.sms_per_gpc")),
      gpcs_(machine::gpcs_of_sms(machine.topology)) {
    for (std::uint32_t sm = 0; sm < sms_; ++sm) {
        of_sm_[static_cast<std::size_t>(Scope::sm)].push_back(sm);
        of_sm_[static_cast<std::size_t>(Scope::tpc)].push_back(sm / std::max(1U, sms_per_tpc_));
        of_sm_[static_cast<std::size_t>(Scope::cpc)].push_back(sm / std::max(1U, sms_per_cpc_));
        of_sm_[static_cast<std::size_t>(Scope::gpc)].push_back(sm / std::max(1U, sms_per_gpc_));
        of_sm_[static_cast<std::size_t>(Scope::gpu)].push_back(0);
    }
}

Scope Placement::scope_of(const machine::Text& scope, const std::string& path) const {
    constexpr std::string_view kExpected = "scheduler, sm, tpc, cpc, gpc or gpu";
    const auto& name = need(scope, path, kExpected);
    for (const auto& [text, value] : kScopes) {
        if (text != name) continue;
        const auto demand = [&](std::uint32_t count, std::string_view leaf) {
            if (count == 0) reject(leaf, "missing", fmt::format("a whole number, because {} is \"{}\"", path, name));
        };
        if (value == Scope::scheduler) demand(schedulers_, "issue.schedulers_per_sm");
        if (value == Scope::tpc) demand(sms_per_tpc_, "topology.sms_per_tpc");
        if (value == Scope::cpc) demand(sms_per_cpc_, "topology.sms_per_cpc");
        if (value == Scope::gpc) demand(sms_per_gpc_, "topology.sms_per_gpc");
        return value;
    }
    reject(path, fmt::format("found \"{}\"", name), kExpected);
}

std::size_t Placement::instances(Scope scope) const {
    return scope == Scope::scheduler ? std::size_t{sms_} * schedulers_
                                     : of_sm_[static_cast<std::size_t>(scope)].back() + 1;
}

std::vector<double> Placement::spread(std::int64_t mean, const machine::Integers& range,
                                      const std::string& path) const {
    if (!range) return std::vector<double>(sms_, static_cast<double>(mean));
    const auto& ends = *range;
    if (ends.size() != 2 || ends[0] < 0 || ends[0] > mean || mean > ends[1])
        reject(path, fmt::format("found [{}]", fmt::join(ends, ", ")),
               fmt::format("[smallest, largest] around {}", mean));
    const auto low = ends[0], high = ends[1];
    const auto& unit_of = of_sm_[static_cast<std::size_t>(Scope::tpc)];
    const std::size_t units = unit_of.back() + 1;
    std::vector<std::int64_t> weight(units, 0), value(units, low);
    for (const auto unit : unit_of) ++weight[unit];
    std::int64_t excess = 0;  // sum over SMs of latency - mean
    for (std::size_t u = 0; u < units; ++u) {
        if (units > 1)
            value[u] = low + static_cast<std::int64_t>(
                                 std::llround(static_cast<double>((high - low) * static_cast<std::int64_t>(u)) /
                                              static_cast<double>(units - 1)));
        excess += (value[u] - mean) * weight[u];
    }
    // Moves all units but the two ends by equal shares until the mean is right. The last steps are single cycles.
    for (bool moved = true; moved;) {
        moved = false;
        const std::int64_t share = std::max<std::int64_t>(1, std::abs(excess) / static_cast<std::int64_t>(sms_));
        for (std::size_t u = 1; u + 1 < units; ++u) {
            const std::int64_t room = excess > 0 ? value[u] - low : high - value[u];
            const std::int64_t step = (excess > 0 ? -1 : 1) * std::min(room, share);
            if (2 * std::abs(excess) <= weight[u] || step == 0) continue;
            value[u] += step;
            excess += step * weight[u];
            moved = true;
        }
    }
    if (std::llround(static_cast<double>(mean) + static_cast<double>(excess) / sms_) != mean ||
        (units == 1 && low != high))
        reject(path, fmt::format("found [{}, {}]", low, high),
               fmt::format("a range whose rounded mean over {} places can be {}", units, mean));
    std::vector<double> latency;
    for (const auto unit : unit_of) latency.push_back(static_cast<double>(value[unit]));
    return latency;
}

}  // namespace gputomo::sim
