#include "results/findings.hpp"

namespace gputomo::results {

void Findings::add(Estimate estimate) {
    auto path = estimate.path;
    by_path_.insert_or_assign(std::move(path), std::move(estimate));
}

const Estimate* Findings::find(std::string_view path) const {
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : &found->second;
}

std::optional<double> Findings::number(std::string_view path) const {
    const auto* estimate = find(path);
    if (estimate == nullptr || estimate->verdict != Verdict::decided) return std::nullopt;
    if (const auto* integer = std::get_if<std::int64_t>(&estimate->value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&estimate->value)) return *real;
    return std::nullopt;
}

}  // namespace gputomo::results
