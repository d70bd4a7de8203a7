// Which unit executes an operation: from how pairs of operations get in each other's way.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::deduce {

/// Two operations, each of which alone would take some time for its part of the work, and both together.
struct PairTiming {
    double first = 0;  ///< cycles for the first one's part alone
    double second = 0;
    double together = 0;  ///< cycles for both, interleaved and independent
    double issue = 0;     ///< fewest cycles in which the instructions of both can be issued, as far as is known
};

/// How much of the first operation's rate comes from the unit that the second one occupies: 0 they run beside each
/// other, 1 they take turns. With parts of equal length, an operation that can go to units A and B at rates a and b
/// shows a / (a + b) and b / (a + b); one that needs several units for each time shows the part of its time that it
/// keeps each of them busy, and 1 at the one that limits it.
struct Interference {
    double share = 0;
    bool measurable = true;  ///< false where issuing both takes as long as executing them one after the other
};
[[nodiscard]] Interference interference(const PairTiming& timing);

/// How an operation uses its units.
enum class UnitUse {
    single,         ///< one unit executes it
    alternatives,   ///< any of several
    all,            ///< each time all of them: several machine instructions
    issue_limited,  ///< one that the issue limit hides; no other is in its way
    unexplained,    ///< part of its rate comes from none of the known units
    none,           ///< none of the known units is in its way
};

struct UnitVerdict {
    UnitUse use = UnitUse::none;
    std::vector<std::size_t> units;  ///< most important first
    double total = 0;                ///< sum of the shares
};

/// From the interference with the representative of each unit, by the unit's number.
[[nodiscard]] UnitVerdict classify_unit_use(const std::map<std::size_t, Interference>& by_unit);

/// Builds up the units of an SM: each new one is represented by the first operation that no known unit is in the way
/// of.
class UnitMap {
public:
    struct Unit {
        std::string name;
        std::size_t representative = 0;  ///< operation
    };
    /// The unit with whose representative an operation should be paired next; nothing when all were tried.
    [[nodiscard]] std::optional<std::size_t> next(std::size_t operation) const;
    void add(std::size_t operation, std::size_t unit, const Interference& found);
    /// A name that is taken gets a number.
    std::size_t add_unit(const std::string& name, std::size_t representative);
    [[nodiscard]] UnitVerdict verdict(std::size_t operation) const;
    [[nodiscard]] const std::vector<Unit>& units() const { return units_; }
    [[nodiscard]] const std::map<std::size_t, Interference>& pairs(std::size_t operation) const;

private:
    std::vector<Unit> units_;
    std::map<std::size_t, std::map<std::size_t, Interference>> found_;
};

}  // namespace gputomo::deduce
