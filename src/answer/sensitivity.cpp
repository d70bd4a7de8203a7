#include "answer/sensitivity.hpp"

#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <variant>

namespace gputomo::answer {
namespace {

using machine::NamedLeaf;

bool is_number(const NamedLeaf& leaf) {
    if (leaf.leaf.knowledge != machine::Knowledge::known) return false;
    const auto& value = leaf.leaf.value;
    if (std::holds_alternative<std::int64_t>(value))  // a small whole number cannot be changed by a tenth
        return std::abs(std::get<std::int64_t>(value)) * kSensitivityStep >= 0.5;
    if (const auto* const one = std::get_if<double>(&value)) return *one != 0;
    return std::holds_alternative<std::vector<double>>(value);
}

bool is_varied(const NamedLeaf& leaf) {
    if (!is_number(leaf) || leaf.path.starts_with("identity.")) return false;
    return machine::describes_time(leaf.info.unit) ||
           (leaf.path.starts_with("caches.") && leaf.path.ends_with(".capacity"));
}

machine::Value scaled(const machine::Value& value, double factor) {
    if (const auto* const whole = std::get_if<std::int64_t>(&value))
        return static_cast<std::int64_t>(std::llround(static_cast<double>(*whole) * factor));
    if (const auto* const real = std::get_if<double>(&value)) return *real * factor;
    auto list = std::get<std::vector<double>>(value);
    for (double& one : list) one *= factor;
    return list;
}

std::string evidence_of(const machine::Provenance& from) {
    if (from.method == sim::kAssumedMethod) return "assumed";
    if (!from.source.empty()) return from.source;
    return from.confidence ? fmt::format("measured, confidence {:.2g}", *from.confidence) : "measured";
}

class Search {
public:
    Search(const machine::Machine& machine, const CyclesOn& cycles,
           const std::function<void(std::size_t, std::size_t)>& progress)
        : machine_(machine), cycles_(cycles), progress_(progress) {}

    std::vector<Sensitivity> run() {
        for (auto& leaf : machine::all_leaves(machine_))
            if (is_varied(leaf)) leaves_.push_back(std::move(leaf));
        for (std::size_t i = 0; i < leaves_.size(); ++i) signs_.push_back(random_() % 2 == 0 ? 1 : -1);
        base_ = cycles_(machine_);
        divide(0, leaves_.size());
        std::ranges::stable_sort(found_, std::ranges::greater(),
                                 [](const Sensitivity& one) { return std::abs(one.elasticity); });
        return std::move(found_);
    }

private:
    /// Cycles with the numbers from `first` on changed, by their signs or against them. nullopt where the description
    /// cannot be used with these changes.
    std::optional<double> changed(std::size_t first, std::size_t count, double direction) {
        progress_(first, leaves_.size());
        auto machine = machine_;
        for (std::size_t i = first; i < first + count; ++i) {
            auto leaf = leaves_[i].leaf;
            leaf.value = scaled(leaf.value, 1 + direction * signs_[i] * kSensitivityStep);
            machine::set_leaf(machine, leaves_[i].path, leaf);
        }
        try {
            return cycles_(machine);
        } catch (const InputError&) {
            return {};
        }
    }

    [[nodiscard]] bool matters(const std::optional<double>& cycles) const {
        return !cycles || std::abs(*cycles - base_) > kLeastChange * base_;
    }

    void divide(std::size_t first, std::size_t count) {
        if (count == 0) return;
        const auto one = changed(first, count, 1);
        if (count == 1) return add(first, one, changed(first, count, -1));
        if (!matters(one) && !matters(changed(first, count, -1))) return;
        divide(first, count / 2);
        divide(first + count / 2, count - count / 2);
    }

    void add(std::size_t index, const std::optional<double>& with, const std::optional<double>& against) {
        if (!with || !against || (!matters(with) && !matters(against))) return;
        const auto& leaf = leaves_[index];
        Sensitivity found{.path = leaf.path,
                          .value = machine::value_text(leaf.leaf),
                          .evidence = evidence_of(leaf.leaf.provenance),
                          .larger_cycles = signs_[index] > 0 ? *with : *against,
                          .smaller_cycles = signs_[index] > 0 ? *against : *with};
        if (const auto unit = machine::unit_name(leaf.info.unit); !unit.empty())
            found.value += fmt::format(" {}", unit);
        found.elasticity = (found.larger_cycles - found.smaller_cycles) / (2 * kSensitivityStep * base_);
        found_.push_back(std::move(found));
    }

    const machine::Machine& machine_;
    const CyclesOn& cycles_;
    const std::function<void(std::size_t, std::size_t)>& progress_;
    std::mt19937 random_;  // the same numbers in every run
    std::vector<NamedLeaf> leaves_;
    std::vector<double> signs_;
    double base_ = 0;
    std::vector<Sensitivity> found_;
};

}  // namespace

std::vector<Sensitivity> sensitivities(const machine::Machine& machine, const CyclesOn& cycles,
                                       const std::function<void(std::size_t, std::size_t)>& progress) {
    return Search(machine, cycles, progress).run();
}

}  // namespace gputomo::answer
