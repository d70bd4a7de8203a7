#include "scan/plan.hpp"

#include "units/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gputomo::scan {
namespace {

using experiments::Experiment;

/// A depth-first topological sort.
class Planner {
public:
    explicit Planner(std::span<const Experiment> catalogue) : catalogue_(catalogue) {}

    void add(std::string_view id) {
        const auto found =
            std::find_if(catalogue_.begin(), catalogue_.end(), [&](const Experiment& e) { return e.id == id; });
        if (found == catalogue_.end()) {
            std::vector<std::string_view> ids;
            for (const auto& e : catalogue_) ids.push_back(e.id);
            throw InputError(fmt::format("no experiment '{}'; expected one of {}", id, fmt::join(ids, ", ")));
        }
        auto& state = states_[found->id];
        if (state == State::done) return;
        if (state == State::open)
            throw std::logic_error(fmt::format(
                "experiment '{}' needs itself, directly or through others; expected no cycle of `needs` and `after`",
                id));
        state = State::open;
        for (const auto need : found->needs) add(need);
        for (const auto id_before : found->after) add(id_before);
        states_[found->id] = State::done;
        order_.push_back(&*found);
    }
    std::vector<const Experiment*> take() { return std::move(order_); }

private:
    enum class State { unseen, open, done };
    std::span<const Experiment> catalogue_;
    std::map<std::string_view, State> states_;
    std::vector<const Experiment*> order_;
};

}  // namespace

std::vector<const Experiment*> plan(std::span<const Experiment> catalogue, const std::vector<std::string>& only) {
    Planner planner(catalogue);
    for (const auto& id : only) planner.add(id);
    return planner.take();
}

std::vector<const Experiment*> plan_of_all(std::span<const Experiment> catalogue, measure::Budget budget) {
    using enum experiments::PartOfScan;
    Planner planner(catalogue);
    for (const auto& experiment : catalogue)
        if (experiment.part_of_scan == always ||
            (experiment.part_of_scan == with_full_budget && budget == measure::Budget::full))
            planner.add(experiment.id);
    return planner.take();
}

}  // namespace gputomo::scan
