#include "experiments/caches/known_caches.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::experiments {

std::vector<std::string> names_of(const Findings& findings, const std::string& path) {
    const auto* list = findings.find(path);
    const auto* names = list == nullptr ? nullptr : std::get_if<std::vector<std::string>>(&list->value);
    return names == nullptr ? std::vector<std::string>{} : *names;
}

std::optional<double> least_of(const Findings& findings, const std::string& path) {
    const auto* found = findings.find(path);
    return found != nullptr && found->interval ? std::optional((*found->interval)[0]) : findings.number(path);
}

std::optional<double> most_of(const Findings& findings, const std::string& path) {
    const auto* found = findings.find(path);
    return found != nullptr && found->interval ? std::optional((*found->interval)[1]) : findings.number(path);
}

std::int64_t most_capacity(const Findings& findings, const std::string& key) {
    return static_cast<std::int64_t>(most_of(findings, fmt::format("caches.{}.capacity", key)).value_or(0));
}

std::int64_t largest_cache(const Context& context) {
    // No GPU so far has more cache levels on the path of global loads.
    constexpr int kMostLevels = 3;
    auto largest = context.device.attribute(device::Attribute::l2_cache_bytes).value_or(0);
    for (int level = 1; level <= kMostLevels; ++level)
        largest = std::max(largest, most_capacity(context.findings, fmt::format("l{}", level)));
    return largest;
}

std::string last_cache(const Findings& findings) {
    const auto* list = findings.find("paths.global.caches");
    if (list == nullptr || list->knowledge != results::Knowledge::known) return "l2";
    const auto& names = std::get<std::vector<std::string>>(list->value);
    return names.empty() ? "l2" : names.back();
}

}  // namespace gputomo::experiments
