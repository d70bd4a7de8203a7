#include "predict/static/worksheet.hpp"

#include <algorithm>
#include <stdexcept>

namespace gputomo::predict {

double ResourceUse::total() const {
    double cycles = 0;
    for (const auto& use : uses) cycles += use.cycles();
    return std::max(cycles, at_least);
}

ResourceUse& Worksheet::resource(const std::string& name) {
    const auto found =
        std::find_if(resources.begin(), resources.end(), [&](const auto& r) { return r.resource == name; });
    if (found != resources.end()) return *found;
    return resources.emplace_back(ResourceUse{name, {}, 0});
}

void Worksheet::add(const std::string& resource_name, const std::string& by, double cycles_each, double count) {
    if (count <= 0) return;
    auto& uses = resource(resource_name).uses;
    const auto found = std::find_if(uses.begin(), uses.end(),
                                    [&](const Use& use) { return use.by == by && use.cycles_each == cycles_each; });
    if (found != uses.end())
        found->count += count;
    else
        uses.push_back({by, cycles_each, count});
}

const ResourceUse& Worksheet::tightest() const {
    if (resources.empty())
        throw std::logic_error("Worksheet::tightest: the worksheet has no rows; expected at least one resource");
    return *std::max_element(resources.begin(), resources.end(),
                             [](const auto& a, const auto& b) { return a.total() < b.total(); });
}

}  // namespace gputomo::predict
