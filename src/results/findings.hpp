// The estimates of experiments that ran earlier in a scan, by path.
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
    void add(Estimate estimate);
    [[nodiscard]] const Estimate* find(std::string_view path) const;
    /// The decided number at `path`; nullopt when missing, absent or undecided.
    [[nodiscard]] std::optional<double> number(std::string_view path) const;
    [[nodiscard]] const std::map<std::string, Estimate, std::less<>>& all() const { return by_path_; }

private:
    std::map<std::string, Estimate, std::less<>> by_path_;
};

}  // namespace gputomo::results
