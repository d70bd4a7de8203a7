// Builds options of Accel-Sim and GPGPU-Sim: each is a line below comments that say where its value comes from.
#pragma once

#include "exports/origins.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::exports::gpgpu {

using machine::Machine;

/// Cycles that the simulator adds to a latency on the way through a core: operands are collected, and results written
/// back. They are what chains of dependent instructions took beyond the option (docs/results/accel-sim.md).
struct AddedCycles {
    std::int64_t arithmetic = 5;  ///< units of arithmetic, from one instruction to the one that uses its result
    std::int64_t shared = 5;      ///< loads from shared memory
    std::int64_t first = 4;       ///< loads from the L1
    std::int64_t second = 5;      ///< loads from the L2, beyond those from the L1
    std::int64_t memory = 2;      ///< loads from DRAM, beyond those from the L2
};
inline constexpr AddedCycles kAdded;

/// Builds one option, and collects the leaves that it reads and those that are missing.
class Option {
public:
    Option(const Machine& machine, std::string_view key) : machine_(machine), key_(key) {}

    /// The number at `path`. Where it is not known, returns 0 and marks the option as incomplete.
    double number(const std::string& path) {
        const auto leaf = known(path);
        return leaf ? results::as_number(leaf->value).value() : 0;
    }
    std::int64_t integer(const std::string& path) { return std::llround(number(path)); }
    /// The number at `path`. Where it is not known, returns `otherwise` and says so.
    double number_or(const std::string& path, double otherwise, std::string_view why) {
        if (has(path)) return number(path);
        assume(fmt::format("{} is {:g}, {}", path, otherwise, why));
        return otherwise;
    }
    std::int64_t integer_or(const std::string& path, std::int64_t otherwise, std::string_view why) {
        return std::llround(number_or(path, static_cast<double>(otherwise), why));
    }
    /// The text at `path`. Where it is not known, returns `otherwise` and says so.
    std::string text(const std::string& path, std::string_view otherwise) {
        if (has(path)) return std::get<std::string>(known(path)->value);
        assume(fmt::format("{} is {}", path, otherwise));
        return std::string(otherwise);
    }
    [[nodiscard]] bool has(const std::string& path) const {
        const auto leaf = machine::get_leaf(machine_, path);
        return leaf && leaf->knowledge == machine::Knowledge::known;
    }
    /// The first of `paths` that is known, or paths[0] where none is.
    [[nodiscard]] std::string first_of(const std::vector<std::string>& paths) const {
        const auto found = std::ranges::find_if(paths, [this](const std::string& path) { return has(path); });
        return found == paths.end() ? paths.front() : *found;
    }
    void assume(std::string_view what) { comment(fmt::format("assumed: {}", what)); }
    void deduce(std::string_view how) { comment(fmt::format("deduced: {}", how)); }

    /// The option's line below its comments, or only a comment where a leaf is missing.
    [[nodiscard]] std::string line(const std::string& value) const {
        if (!missing_.empty())
            return fmt::format("\n# {} is left out, so that the simulator's own value holds: {} not known\n", key_,
                               fmt::join(missing_, ", "));
        std::string out = "\n";
        for (const auto& comment : comments_) out += fmt::format("# {}\n", comment);
        return out + fmt::format("{} {}\n", key_, value);
    }
    [[nodiscard]] std::string line(std::int64_t value) const { return line(fmt::format("{}", value)); }

private:
    /// Adds a comment above the option, unless it has that comment already.
    void comment(std::string text) {
        std::ranges::replace(text, '\n', ' ');
        if (std::ranges::find(comments_, text) == comments_.end()) comments_.push_back(std::move(text));
    }
    std::optional<machine::Leaf> known(const std::string& path) {
        auto leaf = machine::get_leaf(machine_, path);
        if (!leaf || leaf->knowledge != machine::Knowledge::known) {
            if (std::ranges::find(missing_, path) == missing_.end()) missing_.push_back(path);
            return std::nullopt;
        }
        comment(origin_text(path, *leaf));
        return leaf;
    }

    const Machine& machine_;
    std::string key_;
    std::vector<std::string> comments_, missing_;
};

inline std::string leaf_of(std::string_view section, std::string_view key, std::string_view leaf) {
    return machine::join_path(section, key, leaf);
}

/// An option whose value is that of one leaf.
inline std::string copied(const Machine& machine, std::string_view key, const std::string& path) {
    Option option(machine, key);
    return option.line(option.integer(path));
}

/// An option that no description knows.
inline std::string assumed(const Machine& machine, std::string_view key, std::string_view value, std::string_view why) {
    Option option(machine, key);
    option.assume(why);
    return option.line(std::string(value));
}

inline constexpr std::string_view kAsTested = "as in the simulator's own configurations";

/// A latency as the option of the simulator, which adds cycles of its own. No unit takes less than `least`.
inline std::int64_t less_added(Option& option, std::int64_t latency, std::int64_t added, std::int64_t least) {
    if (latency == 0) return 0;
    option.deduce(fmt::format("less the {} cycles that the simulator adds, but at least {}", added, least));
    return std::max(least, latency - added);
}

// ---- the options by subject; accel_sim_core.cpp

[[nodiscard]] std::string capability(const Machine& machine);
[[nodiscard]] std::string shader_core(const Machine& machine);
[[nodiscard]] std::string units(const Machine& machine);
/// Latencies and intervals of classes of opcodes: as GPGPU-Sim reads them, and those of Accel-Sim's traces.
[[nodiscard]] std::string opcode_lists(const Machine& machine);
[[nodiscard]] std::string trace_classes(const Machine& machine);

// ---- accel_sim_memory.cpp

[[nodiscard]] std::string clocks(const Machine& machine);
[[nodiscard]] std::string memory_latencies(const Machine& machine);
[[nodiscard]] std::string shared_memory(const Machine& machine);
[[nodiscard]] std::string l1(const Machine& machine);
[[nodiscard]] std::string l2(const Machine& machine);

}  // namespace gputomo::exports::gpgpu
