// What was found out about one cache or TLB: numbers and their confidence, the policy, and remarks for the user.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::deduce {

/// Confidence of a number that is only known to lie in an interval. A number of this confidence or less is undecided.
inline constexpr double kBracketedConfidence = 0.5;

/// A number and how sure it is. Confidence 0: it is not determined.
struct Finding {
    std::int64_t value = 0;
    double confidence = 0;
    std::array<std::int64_t, 2> bracket{};  ///< smallest and largest possible value
    std::vector<std::int64_t> candidates;   ///< the values left where more than one explains the data
};

/// What speaks against a policy that was rejected.
struct PolicyRejection {
    std::string policy;
    /// The shortest recorded access sequence that the policy cannot have produced from any state: "A* B A*". Letters
    /// name lines of one set by order of appearance; * follows a line that missed. Empty: none was found.
    std::string sequence;
    std::string reason;  ///< in words
};

struct PolicyFinding {
    std::string name;  ///< empty: not determined
    double confidence = 0;
    std::vector<std::string> candidates;                    ///< policies left where several explain the traces equally
    std::vector<double> odds;                               ///< of each way to be the victim, largest first, if unequal
    std::string evidence;                                   ///< why the victims are random or follow no candidate
    std::vector<std::pair<std::string, double>> agreement;  ///< share of the victims that each candidate explains
    std::vector<PolicyRejection> rejections;
};

struct CacheFindings {
    Finding sector, line, capacity, ways, sets;  ///< sector, line and capacity in bytes
    std::vector<std::int64_t> set_ways;          ///< ways of each set where sets are unequal
    std::string index;                           ///< "modulo", "bits", "hash" or empty
    std::vector<std::int64_t> index_bits;        ///< index "bits": the address bits
    /// Index "hash": one mask of address bits for each bit of the set number. Its lowest bit is in no other mask.
    std::vector<std::int64_t> index_hash;
    PolicyFinding policy;
    std::vector<std::string> remarks;  ///< for the user: what was tried without result
};

}  // namespace gputomo::deduce
