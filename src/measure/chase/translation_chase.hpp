// Chases in which only address translation varies: what a load takes beyond what its data take.
#pragma once

#include "measure/chase/mapped_window.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::measure {

/// What caches measured before do to data.
struct DataCaches {
    std::uint64_t capacity = 0;  ///< bytes of the last cache, at most; 0: there is none
    double miss_cost = 0;        ///< cycles from the last cache's latency to memory's
};

/// Bytes, from the start of a plain array on, whose pages are active at once, and cycles that a load of another such
/// window than the last one's takes longer; 0: all of them, or not known.
struct PageWindows {
    std::uint64_t bytes = 0;
    double penalty = 0;
};

/// Answers chases with efforts of translation: latency less that of the same data without the translation, in cycles.
///
/// Aliased windows: the same words are chased a second time through one page, and each load's latency there is taken
/// off, so that it does not matter in which slice of a cache a word lies. Plain arrays: as long as the data fit the
/// last cache, the latency of a few pages is taken off; where they do not, so many lines of each page are visited that
/// they all miss, only the first load of each page counts, and the latency of the others is taken off; so is what it
/// costs to come from another page window. A load that misses the cache where the others hit, or the other way round,
/// is known by what that costs. On the path of textures, whose first cache is looked up before translation, so many
/// lines of each page are always visited, close together in that cache, and what is taken off is what the page's own
/// others take.
class TranslationChase {
public:
    TranslationChase(const Run& run, const MappedWindow& mapped, DataCaches caches, LoadHint hint = LoadHint::l2_only,
                     PageWindows page_windows = {});
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);
    [[nodiscard]] deduce::Chase chase();
    [[nodiscard]] const Window& window() const { return window_; }
    void describe(double fraction, std::string what) { array_.describe(fraction, std::move(what)); }
    void add_code_checks(results::Outcome& outcome) const { array_.add_code_checks(outcome); }

private:
    /// Takes off what a cache made single loads faster or slower than the others of the tour.
    void remove_data_outliers(deduce::ChaseTrace& trace) const;
    /// Readings of an element in several laps that differ only by jitter become their median.
    static void smooth_jitter(deduce::ChaseTrace& trace, std::size_t size);
    deduce::ChaseTrace less_single_page(const deduce::ChaseRequest& request);
    deduce::ChaseTrace less_constant(const deduce::ChaseRequest& request);
    deduce::ChaseTrace first_of_page(const deduce::ChaseRequest& request);
    /// What the array answers, less what it costs to come from another page window.
    deduce::ChaseTrace in_one_page_window(const deduce::ChaseRequest& request);
    /// The request with several lines of each page, and what it answers.
    std::vector<double> all_of_pages(const deduce::ChaseRequest& request, std::uint64_t lines);
    deduce::ChaseTrace less_own_page(const deduce::ChaseRequest& request);

    Window window_;
    DataCaches caches_;
    LoadHint hint_;
    PageWindows page_windows_;
    double clock_step_ = 1;
    ChaseArray array_;
    double cached_ = 0;  ///< latency of a few pages of a plain array
};

}  // namespace gputomo::measure
