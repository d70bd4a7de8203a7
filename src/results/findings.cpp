#include "results/findings.hpp"

#include <utility>

namespace gputomo::results {

void Findings::add(Estimate estimate) {
    auto path = estimate.path;
    by_path_.insert_or_assign(std::move(path), std::move(estimate));
}

const Estimate* Findings::find(std::string_view path) const {
    if (check_) check_(path);
    const auto found = by_path_.find(path);
    return found == by_path_.end() ? nullptr : &found->second;
}

std::optional<double> Findings::number(std::string_view path) const {
    const auto* estimate = find(path);
    return estimate != nullptr && estimate->known() ? as_number(estimate->value) : std::nullopt;
}

Findings Findings::checked(ReadCheck check) const {
    Findings handle = *this;
    handle.check_ = std::move(check);
    return handle;
}

}  // namespace gputomo::results
