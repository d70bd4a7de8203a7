// Reproduces a paper: runs the experiments that its entries need on its simulated GPUs, and compares published with
// reproduced values.
#pragma once

#include "device/device.hpp"
#include "reproduce/papers/paper.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gputomo::reproduce {

inline constexpr std::string_view kReproductionSchema = "gputomo-reproduction-1";

struct Options {
    /// Ids of entries, or their beginnings up to a point ("wong2010.table3"); empty for all entries.
    std::vector<std::string> only;
    std::uint64_t seed = 1;
    /// Opens a simulated GPU with these settings. The scan sees only the Device.
    std::function<std::unique_ptr<device::Device>(const std::string& name, const PaperGpu& gpu)> open;
    /// Gets the finished fraction of the whole and what is being done. Throws Interrupted to stop.
    std::function<void(double fraction, double seconds_left, std::string_view what)> progress;
};

/// One published value on one GPU.
struct Row {
    const Entry* entry = nullptr;
    std::string gpu;  ///< key of Paper::gpus
    Json reproduced;  ///< null where it was not measured
    bool agrees = false;
    std::string why;  ///< why the value was not measured
};

struct Reproduction {
    const Paper* paper = nullptr;
    std::vector<Row> rows;
    std::vector<const Entry*> not_reproducible;
    std::vector<std::string> warnings;  ///< experiments that failed
    bool interrupted = false;
    std::optional<results::Origin> origin;  ///< where and when it ran

    [[nodiscard]] std::size_t agreeing() const;
    /// The number of rows that compare a built-in model with the paper's equations and examples.
    [[nodiscard]] std::size_t model_rows() const;
    [[nodiscard]] bool all_agree() const { return agreeing() == rows.size(); }
};

/// `paper` must outlive the result. Throws InputError for an element of `only` that fits no entry.
[[nodiscard]] Reproduction run(const Paper& paper, const Options& options);

/// The rows of the entries, one for each GPU that an entry is evaluated for.
[[nodiscard]] std::vector<Row> rows_of(const std::vector<const Entry*>& entries, const Scans& scans);

/// Ids of the experiments that provide what the entries' recipes read of `gpu`.
[[nodiscard]] std::vector<std::string> experiments_for(const std::vector<const Entry*>& entries,
                                                       const std::string& gpu);

/// The mixes that the entries' recipes read of `gpu`.
[[nodiscard]] std::set<Mix> mixes_for(const std::vector<const Entry*>& entries, const std::string& gpu);

/// Ids of the kernels of kernels/ whose measurements the entries' recipes read of `gpu`.
[[nodiscard]] std::set<std::string> kernels_for(const std::vector<const Entry*>& entries, const std::string& gpu);

/// Writes {schema, paper, results: [{id, gpu, published, reproduced, unit, agrees, ...}], not_reproducible: [{id, ...,
/// reason}]}.
[[nodiscard]] std::string results_json(const Reproduction& reproduction);
/// Writes a table for the terminal.
[[nodiscard]] std::string results_table(const Reproduction& reproduction);
/// Writes one self-contained HTML page.
[[nodiscard]] std::string results_page(const Reproduction& reproduction);

}  // namespace gputomo::reproduce
