// The levels of translation that a window of addresses shows, on any path.
#pragma once

#include "deduce/cache/geometry.hpp"
#include "experiments/experiment.hpp"
#include "measure/chase/translation_chase.hpp"
#include "measure/chase/unfiltered_tlb_chase.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// Distance of the loads of the sweep in a plain array: no more than an entry of the first TLB spans. Pages of plain
/// arrays.
inline constexpr std::uint64_t kPlainStride = std::uint64_t{64} << 10, kPlainPage = 4096;

/// A level of translation as one window shows it.
struct FoundTlb {
    deduce::CacheFindings findings;
    double penalty = 0;
    double spread = 0;  ///< of what single loads take
    [[nodiscard]] bool confirmed() const { return findings.capacity.confidence > 0; }
    [[nodiscard]] bool has_geometry() const { return findings.ways.confidence > 0 && findings.line.confidence > 0; }
};

struct TlbQuestion {
    std::uint64_t stride = 0;  ///< bytes; of the sweep that looks for levels
    std::string trace;         ///< name, "EXPERIMENT/..."
    DataCaches caches;         ///< of the path
    LoadHint hint = LoadHint::l2_only;
    PageWindows page_windows;
};

/// The last cache of a path as found before, the first of whose caches is caches.PREFIX1: of a size left open, the most
/// it can be.
[[nodiscard]] DataCaches data_caches(const Findings& findings, const std::string& path, const std::string& prefix);

/// Nearest first.
[[nodiscard]] std::vector<FoundTlb> find_tlbs(Context& context, const MappedWindow& mapped, const TlbQuestion& question,
                                              Outcome& outcome);

/// Adds tlbs.PATH_l1.* and so on, and paths.PATH.tlbs. `range`: bytes of addresses that were tried.
void report_tlbs(const std::vector<FoundTlb>& found, const std::string& path, std::uint64_t range,
                 const std::string& experiment, Outcome& outcome);

}  // namespace gputomo::experiments
