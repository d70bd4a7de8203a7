// What an experiment deduces: one leaf of the machine description with its uncertainty.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gputomo::results {

using Value = std::variant<std::int64_t, double, bool, std::string, std::vector<std::int64_t>, std::vector<double>,
                           std::vector<std::string>>;

enum class Verdict {
    decided,    ///< `value` explains the data and nothing else does nearly as well
    absent,     ///< looked for and not there
    undecided,  ///< `candidates` explain the data equally well
};

struct Estimate {
    /// Leaf of the machine description, as machine/machine.hpp spells paths: "caches.l1.capacity".
    std::string path;
    Verdict verdict = Verdict::decided;
    Value value;
    std::vector<Value> candidates;
    /// In words: which experiment, which rule.
    std::string method;
    /// 0..1: how sure.
    double confidence = 0;
    std::optional<std::array<double, 2>> interval;
    std::string note;
};

/// A measured series kept as evidence: named columns of equal length.
struct Trace {
    std::string name;        ///< unique within a scan: "global_chase/levels"
    std::string experiment;  ///< id
    struct Column {
        std::string name;
        std::string unit;
        std::vector<double> values;
    };
    std::vector<Column> columns;
    /// How to plot it: x column, y columns, log scales; empty x for none. The columns below make other forms of it;
    /// empty for points and lines.
    struct Plot {
        std::string title;
        std::string x;
        std::vector<std::string> y;
        bool log_x = false;
        bool log_y = false;
        std::string split;  ///< its values tell series apart: one line for each
        std::string shade;  ///< shown as colour: a map of squares at x and y
        std::string until;  ///< where a bar ends that begins at x, in the row y: a timeline
    } plot;
};

}  // namespace gputomo::results
