// Which caches of a description are one storage: the description lists a cache by the path that leads to it.
#pragma once

#include "report/parts/text.hpp"
#include "results/trace.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// The key of the cache that this one is drawn as: its own, unless another path leads to the same storage.
///
/// A first cache is that of global loads if capacity, line, ways and sets are the same. A last cache without an upper
/// bound of its size is the one of global loads that all SMs share, if it is at least as far away.
[[nodiscard]] std::string storage_of(const machine::Machine& machine, const std::string& key);

/// Keys of the other caches that are the same storage as `key`.
[[nodiscard]] std::vector<std::string> also_seen_as(const machine::Machine& machine, const std::string& key);

/// Where a cache is: "scheduler", "sm", "tpc", "cpc", "gpc", "gpu", or empty where that is undecided. `sure` is false
/// where a single candidate is left or the cache's place on its path says it.
struct Scope {
    std::string where;
    bool sure = false;
};
[[nodiscard]] Scope scope_of(const machine::Machine& machine, const std::string& key);

/// Bytes that a cache with partitions holds in all, at least and at most. In the trace caches/KEY_overfill, the lines
/// that an SM's own partition lacks come from another one until the array exceeds all. nullopt without such a trace.
[[nodiscard]] std::optional<std::array<double, 2>> bytes_in_all(const std::vector<results::Trace>& traces,
                                                                const std::string& key);
[[nodiscard]] std::optional<std::array<double, 2>> bytes_in_all(const results::Trace& overfill);

/// The least that a cache with partitions holds in all, because each partition keeps at least what one SM's loads find.
/// nullopt without partitions or capacity.
[[nodiscard]] std::optional<double> least_in_all(const Facts& facts, const std::string& key);

/// Ways times sets times the line of the cache with this path, "caches.l1.". Caches may have more tags than data.
[[nodiscard]] std::optional<double> bytes_of_tags(const Facts& facts, std::string_view path);

}  // namespace gputomo::report
