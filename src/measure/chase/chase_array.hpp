// An array in device memory and the pointer chases through it that deduction asks for.
#pragma once

#include "deduce/cache/chase/chase.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "measure/run.hpp"

#include <array>

namespace gputomo::measure {

/// Where an array lies. The memory belongs to the caller.
struct ArrayPlace {
    device::Address base = 0;
    /// Displaces each element within its page by a multiple of this many bytes, modulo the page. Elements that are a
    /// page apart then lie in different lines, so that caches hold them. Each visit of a page gets a word of its own.
    /// With 0 elements lie where deduction puts them.
    std::uint64_t spread = 0;
    std::uint64_t page = 1;
    bool by_page = true;   ///< the displacement depends on the page number; if false, it is the same for every page
    bool aliased = false;  ///< all virtual pages map to the same physical memory
    device::Texture texture = 0;      ///< texture over the array, for LoadHint::texture
    std::uint64_t ring_stride = 256;  ///< bytes between the 16 lines of the calibration ring, which fit any cache
};

/// Answers deduce::ChaseRequests with one load hint.
class ChaseArray {
public:
    ChaseArray(const Run& run, ArrayPlace place, LoadHint hint);

    /// Address of offset 0.
    [[nodiscard]] device::Address base() const { return place_.base; }
    /// The chase as a function for deduction. It refers to this object.
    [[nodiscard]] deduce::Chase chase();
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);
    /// Latencies in cycles of `loads` loads after `warm` untimed ones, on SM `sm` if one is given. Empty if no block
    /// reached that SM.
    [[nodiscard]] std::vector<double> latencies(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                                std::uint64_t loads, std::optional<std::uint32_t> sm);
    /// Writes the access sequence and returns its addresses, for on_sm(). The next call of any chase overwrites it.
    [[nodiscard]] std::vector<device::Address> write(const std::vector<std::uint64_t>& offsets);
    /// Latencies in cycles of `loads` loads of a written sequence on one SM, after `warm` untimed ones, from element
    /// `first` on. Empty if no block reached that SM.
    [[nodiscard]] std::vector<double> on_sm(const std::vector<device::Address>& written, std::uint64_t first,
                                            std::uint64_t warm, std::uint64_t loads, std::uint32_t sm);
    /// Mean latency in cycles of `loads` loads after `warm` untimed ones, from element `first` on. The loads are timed
    /// together, so neither the clock's step nor the recording of single loads affects the result. nullopt if no block
    /// reached the wanted SM.
    [[nodiscard]] std::optional<double> mean(const std::vector<std::uint64_t>& offsets, std::uint64_t first,
                                             std::uint64_t warm, std::uint64_t loads,
                                             std::optional<std::uint32_t> sm = std::nullopt);
    /// The chase's kernels, for their code checks.
    [[nodiscard]] std::array<const CompiledKernel*, 3> kernels() const { return chase_.kernels(); }
    /// Sets what progress() reports while this array is chased.
    void describe(double fraction, std::string what);

private:
    std::vector<device::Address> place_elements(const std::vector<std::uint64_t>& offsets) const;
    /// Number of loads that a later launch repeats before it records, for an array of `elements` whose first launch
    /// made `warm` loads.
    [[nodiscard]] std::uint32_t replayed_for(std::size_t elements, std::uint64_t warm) const;
    /// As mean(), but from the latencies of single loads, without outliers.
    std::optional<double> disturbed_mean(std::vector<device::Address> order, std::uint64_t first, std::uint64_t warm,
                                         std::uint64_t loads, std::optional<std::uint32_t> sm);
    void detect_emptied_caches(const std::vector<device::Address>& ring);

    Run run_;
    ArrayPlace place_;
    PointerChase chase_;
    /// Whether a launch empties a cache on this path. If so, later launches of one trace replay some loads before they
    /// record.
    bool launches_empty_caches_ = false;
    double fraction_ = 0;
    std::string what_ = "pointer chase";
};

}  // namespace gputomo::measure
