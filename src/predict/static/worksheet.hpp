// Throughput bound: for how many cycles a warp occupies each resource of an SM (Volkov 2016, 3.6, Table 3.4).
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
    /// A lower bound on the total from other rules than the sum of uses; 0: none. An example: the CUDA cores take a
    /// pair of instructions every second cycle.
    double at_least = 0;
    [[nodiscard]] double total() const;
};

/// The uses of all resources; the largest total is the bound.
struct Worksheet {
    std::vector<ResourceUse> resources;

    /// Adds `count` uses of `cycles_each` cycles. Uses with the same name and cycles share a row.
    void add(const std::string& resource, const std::string& by, double cycles_each, double count);
    [[nodiscard]] ResourceUse& resource(const std::string& name);
    /// The resource with the largest total. Throws std::logic_error if there is no resource.
    [[nodiscard]] const ResourceUse& tightest() const;
};

}  // namespace gputomo::predict
