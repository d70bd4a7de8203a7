// Finds which functional unit executes an operation, from how much pairs of operations slow each other down.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::deduce {

/// Times in cycles of a loop that interleaves independent instructions of two operations.
struct PairTiming {
    double first = 0;     ///< the first operation's instructions alone
    double second = 0;    ///< the second operation's instructions alone
    double together = 0;  ///< the instructions of both
    double issue = 0;     ///< fewest known cycles in which the instructions of both can be issued
};

/// The share of the first operation's throughput that comes from the unit of the second: 0 if they overlap fully, 1 if
/// one waits for the other.
/// If both take equally long alone, an operation that either of two units executes, at rates a and b, shows a / (a + b)
/// and b / (a + b). One that needs several units at once shows the share of its time for which it occupies each of
/// them, and 1 for the unit that limits it.
struct Interference {
    double share = 0;
    bool measurable = true;  ///< false if the issue limit hides whether the two overlap
};
[[nodiscard]] Interference interference(const PairTiming& timing);

/// How an operation uses its units.
enum class UnitUse {
    single,         ///< one unit executes it
    alternatives,   ///< any of several
    all,            ///< all of several units: a sequence of machine instructions
    issue_limited,  ///< overlaps with all units but those for which the issue limit hides interference
    unexplained,    ///< a share of its throughput comes from no known unit
    none,           ///< overlaps fully with every known unit
};

struct UnitVerdict {
    UnitUse use = UnitUse::none;
    std::vector<std::size_t> units;  ///< most important first
    double total = 0;                ///< sum of the shares
};

/// Classifies an operation by its interference with the representative of each unit; the key is the unit's index.
[[nodiscard]] UnitVerdict classify_unit_use(const std::map<std::size_t, Interference>& by_unit);

/// Collects the units of an SM. Each is represented by the first operation that overlaps with all units known before.
class UnitMap {
public:
    struct Unit {
        std::string name;
        std::size_t representative = 0;  ///< index of an operation
    };
    /// The unit whose representative the operation should be paired with next; nullopt once all units were tried.
    [[nodiscard]] std::optional<std::size_t> next(std::size_t operation) const;
    void add(std::size_t operation, std::size_t unit, const Interference& found);
    /// Adds a unit and returns its index. A name that is taken gets a number.
    std::size_t add_unit(const std::string& name, std::size_t representative);
    [[nodiscard]] UnitVerdict verdict(std::size_t operation) const;
    [[nodiscard]] const std::vector<Unit>& units() const { return units_; }
    [[nodiscard]] const std::map<std::size_t, Interference>& pairs(std::size_t operation) const;

private:
    std::vector<Unit> units_;
    std::map<std::size_t, std::map<std::size_t, Interference>> found_;
};

}  // namespace gputomo::deduce
