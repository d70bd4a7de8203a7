// Throughput bound: for how many cycles a warp keeps each resource of an SM to itself (Volkov 2016, 3.6, Table 3.4).
#pragma once

#include <string>
#include <vector>

namespace gputomo::predict {

struct Use {
    std::string by;
    double cycles_each = 0;  ///< per instruction or issue
    double count = 0;        ///< per warp
    [[nodiscard]] double cycles() const { return cycles_each * count; }
};

struct ResourceUse {
    std::string resource;
    std::vector<Use> uses;
    /// A bound on the total that counting uses does not show, such as that cores take one instruction of a pair every
    /// second cycle; 0: none.
    double at_least = 0;
    [[nodiscard]] double total() const;
};

/// Rows by resource; the largest total is the bound.
struct Worksheet {
    std::vector<ResourceUse> resources;

    /// Adds `count` uses of `cycles_each`; uses of one name and cost are one row.
    void add(const std::string& resource, const std::string& by, double cycles_each, double count);
    [[nodiscard]] ResourceUse& resource(const std::string& name);
    /// Throws std::logic_error where there is none.
    [[nodiscard]] const ResourceUse& tightest() const;
};

}  // namespace gputomo::predict
