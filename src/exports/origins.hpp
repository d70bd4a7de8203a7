// Collects from where the fields of an export are, for forms that have no comments.
#pragma once

#include "machine/machine.hpp"
#include "machine/paths.hpp"

#include <nlohmann/json_fwd.hpp>

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::exports {

class Origins {
public:
    explicit Origins(const machine::Machine& machine) : machine_(machine) {}

    /// The number at `path`, which the field `field` uses. Where it is not known, returns `otherwise` and notes that.
    /// NaN becomes null in JSON, and what is computed from it does too.
    double number(const std::string& field, const std::string& path,
                  double otherwise = std::numeric_limits<double>::quiet_NaN());
    /// "caches.l2.LEAF" of the last cache of global memory; empty where there is none.
    [[nodiscard]] std::string cache_leaf(std::string_view leaf) const;
    void note(const std::string& field, std::string text);

    /// field -> texts
    [[nodiscard]] nlohmann::ordered_json json() const;

private:
    const machine::Machine& machine_;
    std::map<std::string, std::vector<std::string>> notes_;
};

/// A whole number of JSON; null for NaN.
[[nodiscard]] nlohmann::ordered_json whole(double number);

/// "measured: clock.sm_mhz = 1980: METHOD (confidence 0.99)", "cited: ..." or "assumed: ...", in one line.
[[nodiscard]] std::string origin_text(const std::string& path, const machine::Leaf& leaf);

}  // namespace gputomo::exports
