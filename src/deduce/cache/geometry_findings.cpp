#include "deduce/cache/geometry_findings.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace gputomo::deduce::cache {
namespace {

/// A set with one line of code more than others shows one way less than they do.
std::vector<std::uint64_t> with_code_lines(std::vector<std::uint64_t> ways, std::uint64_t code_bytes,
                                           std::uint64_t line) {
    if (code_bytes == 0) return ways;
    const auto most = *std::max_element(ways.begin(), ways.end());
    for (auto& w : ways) w += (w + 1 == most ? 1 : 0) + (code_bytes + line - 1) / line / ways.size();
    return ways;
}

}  // namespace

void write_size(CacheFindings& findings, const CacheQuestion& question, std::uint64_t line,
                const std::vector<std::uint64_t>& ways, double confidence) {
    const auto exact = [&](std::uint64_t v) {
        const auto value = static_cast<std::int64_t>(v);
        return Finding{value, confidence, {value, value}, {}};
    };
    const auto all_ways = with_code_lines(ways, question.code_bytes, line);
    const auto [least, most] = std::ranges::minmax_element(all_ways);
    findings.line = exact(line);
    findings.sets = exact(all_ways.size());
    findings.ways = exact(*most);
    findings.capacity = exact(std::accumulate(all_ways.begin(), all_ways.end(), std::uint64_t{0}) * line);
    if (*least != *most) findings.set_ways.assign(all_ways.begin(), all_ways.end());
}

void write_index(CacheFindings& findings, const Index& index) {
    findings.index = index.name();
    for (const auto mask : index.masks()) {
        if (findings.index == "bits") findings.index_bits.push_back(std::countr_zero(mask));
        if (findings.index == "hash") findings.index_hash.push_back(static_cast<std::int64_t>(mask));
    }
}

}  // namespace gputomo::deduce::cache
