// A paper's published values as data, each with how it is reproduced or why it can't be (papers/*.json,
// docs/papers.md).
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

/// A GPU that a paper measured, as it is simulated here.
struct PaperGpu {
    std::string machine;  ///< a shipped description: "gtx280"
    /// Leaves that the paper set otherwise, with the driver or by choosing an example: L1 of 48 KB, L1 off.
    std::map<std::string, machine::Value> settings;
};

/// How one published value is got from a scan.
struct Recipe {
    Expression expression;
    /// The published value in the expression's terms, where the paper puts it in words; null otherwise.
    Json expected;
    /// Part of the published value by which the reproduced one may differ, for values that a paper gives as "about".
    double tolerance = 0;
    /// What the expression leaves unsaid: why a tolerance, why these terms.
    std::string remark;
};

/// One published value.
struct Entry {
    std::string id;     ///< "wong2010.table2.sp.latency"
    std::string where;  ///< table, figure or section
    std::string gpu;    ///< as the paper has it
    std::string quantity;
    Json value;
    std::string unit;  ///< empty where it has none
    std::string kind;  ///< number, range, ratio, behaviour, formula or curve-feature
    std::string note;
    std::vector<std::string> on;  ///< keys of Paper::gpus that a recipe is tried on
    std::optional<Recipe> recipe;
    std::string not_reproducible;  ///< why there is no recipe
};

/// A contradiction or a misprint of the paper.
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

/// Throws InputError "ORIGIN: FIELD: ..." for what is missing, of another kind or contradicts itself.
[[nodiscard]] Paper paper_from_json(std::string_view text, std::string_view origin);

}  // namespace gputomo::reproduce
