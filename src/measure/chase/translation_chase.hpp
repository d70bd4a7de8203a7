// Chases in which only address translation varies: what a load takes beyond what its data take.
#pragma once

#include "measure/chase/mapped_window.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::measure {

/// The data caches on the path, as measured before.
struct DataCaches {
    std::uint64_t capacity = 0;  ///< most bytes that the last cache may hold; 0: there is none
    double miss_cost = 0;        ///< cycles between the last cache's latency and memory's
};

/// A plain array may consist of windows of `bytes` bytes, of which only one is active at a time. A load in another
/// window than the previous load's takes `penalty` cycles longer. With 0 the whole array is active, or this is
/// unknown.
struct PageWindows {
    std::uint64_t bytes = 0;
    double penalty = 0;
};

/// Answers chases with the cost of translation in cycles: the latency less the latency of the same data without a
/// translation miss.
///
/// - Aliased windows: the same words are chased a second time through one page, and each load's latency there is
///   subtracted. So it does not matter in which cache slice a word lies.
///
/// - Plain arrays that fit the last cache: the latency of a few pages is subtracted.
///
/// - Larger plain arrays: enough lines of each page are visited for all of them to miss. Only the first load of each
///   page counts, and the latency of the others is subtracted.
///
/// - Plain arrays of both kinds: the cost of changing the page window is subtracted too. A single load that hits or
///   misses unlike the others is recognised by the cost of a miss.
///
/// - Textures: their first cache is looked up before translation. Each page is visited at several lines that lie close
///   together in that cache, and the mean latency of the page's other lines is subtracted.
class TranslationChase {
public:
    /// `mapped` must outlive this object.
    TranslationChase(const Run& run, const MappedWindow& mapped, DataCaches caches, LoadHint hint = LoadHint::l2_only,
                     PageWindows page_windows = {});
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);
    [[nodiscard]] deduce::Chase chase();
    [[nodiscard]] const Window& window() const { return window_; }
    void describe(double fraction, std::string what) { array_.describe(fraction, std::move(what)); }
    /// The chase's kernels, for their code checks.
    [[nodiscard]] std::array<const CompiledKernel*, 3> kernels() const { return array_.kernels(); }

private:
    /// Corrects single loads that hit or missed a data cache unlike the others of the sequence.
    void remove_data_outliers(deduce::ChaseTrace& trace) const;
    /// Replaces readings of an element in several passes by their median if they differ by jitter only.
    static void smooth_jitter(deduce::ChaseTrace& trace, std::size_t size);
    // The cases of the class comment, in its order:
    deduce::ChaseTrace less_single_page(const deduce::ChaseRequest& request);
    deduce::ChaseTrace less_constant(const deduce::ChaseRequest& request);
    deduce::ChaseTrace first_of_page(const deduce::ChaseRequest& request);
    deduce::ChaseTrace less_own_page(const deduce::ChaseRequest& request);

    /// The array's answer, less the cost of changing the page window.
    deduce::ChaseTrace in_one_page_window(const deduce::ChaseRequest& request);
    /// The latencies of the request with `lines` lines of each page.
    std::vector<double> all_of_pages(const deduce::ChaseRequest& request, std::uint64_t lines);

    Window window_;
    DataCaches caches_;
    LoadHint hint_;
    PageWindows page_windows_;
    double clock_step_ = 1;
    ChaseArray array_;
    double cached_ = 0;  ///< latency of a few pages of a plain array, cycles
};

}  // namespace gputomo::measure
