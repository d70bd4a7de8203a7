#include "deduce/cache/geometry/geometry_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

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

bool add_remark(CacheFindings& findings, std::string text) {
    if (std::ranges::find(findings.remarks, text) == findings.remarks.end())
        findings.remarks.push_back(std::move(text));
    return false;
}

bool write_sector(CacheFindings& findings, const CacheQuestion& question, const SectorSize& sector) {
    if (sector.bytes == 0)
        return add_remark(findings,
                          "no load missed after an access sequence larger than the level: its sector is not found");
    const auto bytes = static_cast<std::int64_t>(sector.bytes);
    findings.sector = {sector.agreement > 0 ? bytes : 0,
                       sector.agreement,
                       {bytes, sector.agreement > 0 ? bytes : static_cast<std::int64_t>(question.overflows)},
                       {}};
    return true;
}

void write_bracket(CacheFindings& findings, const Bracket& capacity) {
    const auto least = static_cast<std::int64_t>(capacity.fits);
    findings.capacity = {
        least, least == 0 ? 0 : kBracketedConfidence, {least, static_cast<std::int64_t>(capacity.overflows)}, {}};
}

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

void write_data(CacheFindings& findings, const Bracket& array, const std::string& sets, double confidence) {
    const auto fits = static_cast<std::int64_t>(array.fits);
    findings.capacity = {fits, confidence, {fits, static_cast<std::int64_t>(array.overflow) - 1}, {}};
    add_remark(findings, fmt::format("{} have more tags than data: an array of {} bytes fits, one of {} does not", sets,
                                     fits, array.overflow));
}

void write_index(CacheFindings& findings, const Index& index) {
    findings.index = index.name();
    for (const auto mask : index.masks()) {
        if (findings.index == "bits") findings.index_bits.push_back(std::countr_zero(mask));
        if (findings.index == "hash") findings.index_hash.push_back(static_cast<std::int64_t>(mask));
    }
}

}  // namespace gputomo::deduce::cache
