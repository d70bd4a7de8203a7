// An array in device memory and the chases through it, as deduction asks for them.
#pragma once

#include "deduce/cache/chase.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "measure/run.hpp"

namespace gputomo::measure {

/// Where an array lies; the memory belongs to someone else.
struct ArrayPlace {
    device::Address base = 0;
    /// Moves an element within its page by a multiple of this, modulo the page; keeps elements that are a page apart in
    /// different lines, so that caches hold them, and gives each of several visits of a page its own word. 0: elements
    /// lie where deduction puts them.
    std::uint64_t spread = 0;
    std::uint64_t page = 1;
    bool by_page = true;          ///< pages are moved by their number; otherwise every page begins at the same place
    bool aliased = false;         ///< all pages are the same memory
    device::Texture texture = 0;  ///< over the array, for LoadHint::texture
    std::uint64_t ring_stride =
        256;  ///< distance of the lines that recording is calibrated on, of which any cache holds 16
};

/// Answers deduce::ChaseRequests with one load hint. Counts loads for progress.
class ChaseArray {
public:
    ChaseArray(const Run& run, ArrayPlace place, LoadHint hint);

    /// Address of offset 0.
    [[nodiscard]] device::Address base() const { return place_.base; }
    /// The chase for deduction; refers to this object.
    [[nodiscard]] deduce::Chase chase();
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);
    /// Latencies of `loads` loads after `warm` ones, on one SM if one is given; empty where no block came there.
    [[nodiscard]] std::vector<double> latencies(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                                std::uint64_t loads, std::optional<std::uint32_t> sm);
    /// The tour, written, for on_sm(); until another one is written.
    [[nodiscard]] std::vector<device::Address> write(const std::vector<std::uint64_t>& offsets);
    /// Latencies of `loads` loads of a written tour on one SM after `warm` ones, from the `first`-th element on; empty
    /// where no block came there.
    [[nodiscard]] std::vector<double> on_sm(const std::vector<device::Address>& written, std::uint64_t first,
                                            std::uint64_t warm, std::uint64_t loads, std::uint32_t sm);
    /// Mean latency of `loads` loads after `warm` ones from the `first`-th element on, timed together: free of the
    /// clock's step and of the recording of single loads. Nothing where no block came to the wanted SM.
    [[nodiscard]] std::optional<double> mean(const std::vector<std::uint64_t>& offsets, std::uint64_t first,
                                             std::uint64_t warm, std::uint64_t loads,
                                             std::optional<std::uint32_t> sm = std::nullopt);
    /// Adds the checks of the kernels that chase.
    void add_code_checks(results::Outcome& outcome) const;
    /// What progress() says while this array is walked.
    void describe(double fraction, std::string what);

private:
    std::vector<device::Address> place_elements(const std::vector<std::uint64_t>& offsets) const;
    /// Loads of an array of so many elements that a launch repeats before it records, after `warm` that the first
    /// launch walked.
    [[nodiscard]] std::uint32_t rewalk_for(std::size_t elements, std::uint64_t warm) const;
    /// As mean(), from single loads, of which accidents are left out.
    std::optional<double> disturbed_mean(std::vector<device::Address> order, std::uint64_t first, std::uint64_t warm,
                                         std::uint64_t loads, std::optional<std::uint32_t> sm);
    void find_out_whether_launches_empty_caches(const std::vector<device::Address>& ring);

    Run run_;
    ArrayPlace place_;
    PointerChase chase_;
    /// Whether a launch empties a cache on this path: then later launches of one trace walk a while before they record.
    bool launches_empty_caches_ = false;
    double fraction_ = 0;
    std::string what_ = "pointer chase";
};

}  // namespace gputomo::measure
