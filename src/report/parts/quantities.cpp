#include "report/parts/quantities.hpp"

#include <algorithm>

namespace gputomo::report {
namespace {

constexpr double kWordBytes = 4;

constexpr Headline kHeadlines[] = {
    {kGlobalCaches, "caches of global loads"},
    {"caches.l1.capacity", "L1 capacity"},
    {"caches.l1.latency", "L1 latency"},
    {"caches.l2.capacity", "L2 capacity"},
    {"caches.l2.latency", "L2 latency"},
    {"paths.global.memory_latency", "DRAM latency"},
    {"memory.read_bandwidth", "DRAM read bandwidth"},
    {"topology.sms", "SMs"},
    {"clock.sm_mhz", "SM clock"},
    {"operations[add.f32].latency", "FP32 add latency"},
    {"operations[add.f32].throughput", "FP32 adds per SM"},
    {"shared.latency", "shared memory latency"},
    {"shared.bytes_per_cycle", "shared memory per SM"},
};

/// Cycles per nanosecond.
std::optional<double> gigahertz(const Facts& facts) {
    const auto clock = facts.number("clock.sm_mhz");
    return clock && *clock > 0 ? std::optional(*clock / 1000) : std::nullopt;
}

std::optional<double> positive(const Facts& facts, std::string_view path) {
    const auto number = facts.number(path);
    return number && *number > 0 ? number : std::nullopt;
}

}  // namespace

std::span<const Headline> headlines() { return kHeadlines; }

std::optional<double> warps_for_memory(const Facts& facts) {
    const auto latency = facts.number("paths.global.memory_latency"), bandwidth = facts.number("memory.read_bandwidth"),
               clock = gigahertz(facts);
    const auto sms = positive(facts, "topology.sms"), warp = positive(facts, "topology.warp_size");
    if (!latency || !bandwidth || !clock || !sms || !warp) return std::nullopt;
    return *latency * *bandwidth / *clock / *sms / (kWordBytes * *warp);
}

std::optional<double> warps_for_arithmetic(const Facts& facts) {
    const auto latency = facts.number("operations[add.f32].latency"), warp = positive(facts, "topology.warp_size");
    auto rate = facts.number("operations[add.f32].throughput");
    if (!latency || !rate || !warp) return std::nullopt;
    const auto width = facts.number("issue.dual_issue"), schedulers = facts.number("issue.schedulers_per_sm"),
               interval = positive(facts, "issue.issue_interval");
    if (width && *width > 1 && schedulers && interval) rate = std::min(*rate, *schedulers * *warp / *interval);
    return *latency * *rate / *warp;
}

std::optional<double> bytes_per_add(const Facts& facts) {
    auto bandwidth = facts.number("memory.peak_bandwidth");
    if (!bandwidth) bandwidth = facts.number("memory.read_bandwidth");
    const auto rate = positive(facts, "operations[add.f32].throughput"), sms = positive(facts, "topology.sms"),
               clock = gigahertz(facts);
    if (!bandwidth || !rate || !sms || !clock) return std::nullopt;
    return *bandwidth / (*rate * *sms * *clock);
}

std::optional<double> memory_nanoseconds(const Facts& facts) {
    const auto latency = facts.number("paths.global.memory_latency"), clock = gigahertz(facts);
    return latency && clock ? std::optional(*latency / *clock) : std::nullopt;
}

}  // namespace gputomo::report
