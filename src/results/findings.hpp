// The estimates of the experiments that ran earlier in a scan, by path.
#pragma once

#include "results/estimate.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace gputomo::results {

class Findings {
public:
    /// Is called with each path that is looked up, and throws to refuse it.
    using ReadCheck = std::function<void(std::string_view path)>;

    /// Adds an estimate; replaces an earlier one of the same path.
    void add(Estimate estimate);
    /// The estimate of this path; null where there is none.
    [[nodiscard]] const Estimate* find(std::string_view path) const;
    /// The number of a known leaf; nullopt when the leaf is missing, absent, undecided or no number.
    [[nodiscard]] std::optional<double> number(std::string_view path) const;
    [[nodiscard]] const std::map<std::string, Estimate, std::less<>>& all() const { return by_path_; }

    /// A handle on the same estimates that calls `check` before each look-up. The scan gives every experiment a handle
    /// that refuses what the experiment does not declare (scan/declared_findings.hpp).
    [[nodiscard]] Findings checked(ReadCheck check) const;

private:
    std::map<std::string, Estimate, std::less<>> by_path_;
    ReadCheck check_;
};

}  // namespace gputomo::results
