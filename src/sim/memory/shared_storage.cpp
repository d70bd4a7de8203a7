#include "sim/memory/shared_storage.hpp"

#include "sim/memory/description.hpp"

#include <algorithm>
#include <memory>

namespace gputomo::sim {

SharedStorage::SharedStorage(const machine::Machine& machine, Levels& levels, std::uint64_t seed) : seeds_(seed) {
    const auto& shared = machine.shared;
    if (!shared.unified_cache || !shared.capacity_options) return;
    const auto described = machine.caches.find(*shared.unified_cache);
    const auto level = levels.caches.find(*shared.unified_cache);
    if (described == machine.caches.end() || level == levels.caches.end()) return;
    const auto& capacities = described->second.capacity_options;
    if (!capacities || capacities.value.size() != shared.capacity_options.value.size()) return;
    where_ = key_path("caches", *shared.unified_cache);
    if (!std::ranges::is_sorted(*shared.capacity_options))
        reject("shared.capacity_options", "not in rising order", "rising order");
    const auto larger = std::ranges::find_if(
        *capacities, [&](std::int64_t bytes) { return bytes > described->second.capacity.value_or(bytes); });
    if (larger != capacities.value.end())
        reject(where_ + ".capacity_options", fmt::format("found {}", *larger),
               fmt::format("{} at most, its capacity", *described->second.capacity));
    description_ = described->second;
    cache_ = &level->second;
    options_ = *shared.capacity_options;
    capacities_ = *capacities;
}

void SharedStorage::set_aside(std::uint64_t bytes) {
    if (cache_ == nullptr) return;
    const auto fits = std::ranges::lower_bound(options_, static_cast<std::int64_t>(bytes));
    const auto choice = static_cast<std::size_t>(std::min(fits, options_.end() - 1) - options_.begin());
    if (choice == chosen_) return;
    chosen_ = choice;
    description_.capacity.value = capacities_[choice];
    const auto geometry = std::make_shared<const Geometry>(geometry_of(description_, where_));
    for (auto& instance : cache_->instances) instance = TagArray(geometry, seeds_());
}

}  // namespace gputomo::sim
