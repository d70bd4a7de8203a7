// The TLBs that a window of addresses shows, on any path: their geometry and what a miss costs.
#pragma once

#include "deduce/cache/geometry/geometry.hpp"
#include "experiments/experiment.hpp"
#include "measure/chase/translation_chase.hpp"
#include "measure/chase/unfiltered_tlb_chase.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// `kPlainStride`: bytes between the loads of the sweep over a plain array, at most what an entry of the first TLB
/// spans. `kPlainPage`: bytes of the pages of plain arrays.
inline constexpr std::uint64_t kPlainStride = std::uint64_t{64} << 10, kPlainPage = 4096;

/// A TLB as one window shows it.
struct FoundTlb {
    deduce::CacheFindings findings;
    double penalty = 0;  ///< cycles of a miss that the next level serves
    double spread = 0;   ///< cycles by which single loads differ
    [[nodiscard]] bool confirmed() const { return findings.capacity.confidence > 0; }
    [[nodiscard]] bool has_geometry() const { return findings.ways.confidence > 0 && findings.line.confidence > 0; }
};

struct TlbQuestion {
    std::uint64_t stride = 0;  ///< bytes between the loads of the sweep that looks for levels
    std::string trace;         ///< name, "EXPERIMENT/..."
    DataCaches caches;         ///< of the path
    LoadHint hint = LoadHint::l2_only;
    PageWindows page_windows;
};

/// The last cache of a path as earlier experiments found it; the first cache of the path is caches.PREFIX1. If its
/// capacity is undecided, the largest candidate counts.
[[nodiscard]] DataCaches data_caches(const Findings& findings, const std::string& path, const std::string& prefix);

/// The TLBs of the path, nearest first.
[[nodiscard]] std::vector<FoundTlb> find_tlbs(Context& context, const MappedWindow& mapped, const TlbQuestion& question,
                                              Outcome& outcome);

/// Adds tlbs.PATH_l1.* and so on, and paths.PATH.tlbs. `range`: bytes of addresses that were tried.
void report_tlbs(const std::vector<FoundTlb>& found, const std::string& path, std::uint64_t range,
                 const std::string& experiment, Outcome& outcome);

}  // namespace gputomo::experiments
