#include "deduce/series/cluster_groups.hpp"

#include <algorithm>
#include <functional>

namespace gputomo::deduce {

std::uint32_t ClusterGroups::root(std::uint32_t sm) const {
    while (parent_[sm] != sm) sm = parent_[sm];
    return sm;
}

void ClusterGroups::add(std::uint32_t launch, std::uint32_t cluster, std::uint32_t sm) {
    if (sm >= parent_.size()) return;
    seen_[sm] = true;
    const auto [first, is_new] = first_.try_emplace({launch, cluster}, sm);
    if (!is_new) parent_[root(sm)] = root(first->second);
}

std::vector<std::int64_t> ClusterGroups::sizes() const {
    std::map<std::uint32_t, std::int64_t> count;
    for (std::uint32_t sm = 0; sm < parent_.size(); ++sm) ++count[root(sm)];
    std::vector<std::int64_t> found;
    for (const auto& [sm, sms] : count)
        if (sms > 1) found.push_back(sms);
    std::ranges::sort(found, std::greater<>());
    return found;
}

std::uint32_t ClusterGroups::seen() const { return static_cast<std::uint32_t>(std::ranges::count(seen_, true)); }

}  // namespace gputomo::deduce
