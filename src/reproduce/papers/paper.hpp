// A paper's published values as data, each with an expression that reproduces it or the reason why none can. The files
// are papers/*.json; docs/papers.md explains them.
#pragma once

#include "machine/paths.hpp"
#include "reproduce/expression/expression.hpp"
#include "reproduce/expression/value_json.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::reproduce {

inline constexpr std::string_view kPaperSchema = "gputomo-paper-1";

/// A GPU that a paper measured, and how it is simulated.
struct PaperGpu {
    std::string machine;  ///< name of a built-in description: "gtx280"
    /// Leaves whose values the paper changed with the driver or by its choice of an example, such as an L1 of 48 KB.
    std::map<std::string, machine::Value> settings;
};

/// How one published value is reproduced from scans.
struct Recipe {
    Expression expression;
    /// The value that the expression must have where the paper publishes words instead of a number; null otherwise.
    Json expected;
    /// Relative difference that still agrees, for values that a paper gives as "about".
    double tolerance = 0;
    /// What the expression does not say: why it has a tolerance, or why it has these terms.
    std::string remark;
};

/// One published value.
struct Entry {
    std::string id;     ///< "wong2010.table2.sp.latency"
    std::string where;  ///< table, figure or section
    std::string gpu;    ///< the paper's name of the GPU
    std::string quantity;
    Json value;
    std::string unit;  ///< empty where it has none
    std::string kind;  ///< number, range, ratio, behaviour, formula or curve-feature
    std::string note;
    std::vector<std::string> on;  ///< keys of Paper::gpus: the GPUs that the recipe is evaluated for
    std::optional<Recipe> recipe;
    std::string not_reproducible;  ///< why there is no recipe
};

/// A contradiction or a misprint in the paper.
struct Discrepancy {
    std::string id;
    std::string where;
    std::string issue;
    Json readings;
    std::string suggestion;
};

struct Paper {
    std::string id;  ///< "wong2010"
    std::string title;
    std::vector<std::string> authors;
    std::int64_t year = 0;
    std::string venue;
    std::map<std::string, PaperGpu> gpus;
    Listings listings;
    std::vector<Entry> entries;
    std::vector<Discrepancy> discrepancies;
};

/// Throws InputError "ORIGIN: FIELD: ..." for a member that is missing, has the wrong type or contradicts another.
[[nodiscard]] Paper paper_from_json(std::string_view text, std::string_view origin);

}  // namespace gputomo::reproduce
