#include "deduce/cache/geometry/geometry_policy.hpp"

#include "deduce/cache/geometry/geometry_findings.hpp"
#include "deduce/cache/policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

/// More loads than the policy's traces take (kMaxLoads in policy.cpp), with a margin for the outlier measurement.
constexpr std::uint64_t kPolicyLoads = std::uint64_t{4} << 20;

}  // namespace

Offsets lines_of_largest_set(const Index& index, const std::vector<std::uint64_t>& ways, CacheFindings& findings) {
    const auto largest = std::ranges::max_element(ways);
    Offsets lines;
    if (index.lines_in_span() <= *largest) {
        add_remark(findings,
                   fmt::format("the policy is not determined: the buffer holds {} lines of a set, which has {} ways",
                               index.lines_in_span(), *largest));
        return lines;
    }
    for (std::uint64_t i = 0; i <= *largest; ++i)
        lines.push_back(index.line_of(static_cast<std::uint64_t>(largest - ways.begin()), i));
    return lines;
}

void write_policy(CacheFindings& findings, const Probe& probe, const PolicyLines& of) {
    const std::uint64_t piece = std::min(static_cast<std::uint64_t>(findings.line.value), of.sector);
    if (of.lines.size() < 3) return;
    const LoadBudget budget(probe, kPolicyLoads);
    if (piece / probe.question().word < 2) {
        add_remark(findings,
                   fmt::format("the policy is not determined: a line of {} bytes is too short to be loaded twice in an "
                               "access sequence",
                               piece));
        return;
    }
    findings.policy = find_policy(probe, of.lines, of.filler, piece);
    // Code lines are used with each load. This changes the victims of all policies but LRU, which never evicts them.
    if (static_cast<std::int64_t>(of.lines.size()) <= findings.ways.value && findings.policy.name != "lru") {
        findings.policy = {};
        add_remark(findings, "the policy is not determined: the chase's own code occupies a way of every set");
    }
    if (!findings.policy.evidence.empty()) add_remark(findings, findings.policy.evidence);
}

}  // namespace gputomo::deduce::cache
