// Chases in which only address translation varies: what a load takes beyond what its data take.
#pragma once

#include "measure/chase/chase_array.hpp"

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace gputomo::measure {

/// A range of virtual addresses and the finest step in which it is walked.
struct Window {
    device::Address base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t word = 0;
    bool aliased = false;  ///< every word leads to the same physical memory
};

/// Memory behind a window: where the device can, one physical page at many virtual addresses, so that data stay in a
/// cache and only translation varies; else a plain array.
class MappedWindow {
public:
    /// One page every `word` bytes, `count` times. Throws DeviceError where the device cannot.
    static MappedWindow aliased(device::Device& device, std::uint64_t word, std::uint64_t count);
    static MappedWindow plain(device::Device& device, std::uint64_t bytes, std::uint64_t word,
                              std::uint64_t alignment = kPlainAlignment);
    MappedWindow(MappedWindow&& other) noexcept;
    MappedWindow(const MappedWindow&) = delete;
    MappedWindow& operator=(const MappedWindow&) = delete;
    MappedWindow& operator=(MappedWindow&&) = delete;
    ~MappedWindow();
    [[nodiscard]] const Window& window() const { return window_; }
    /// For textures, with one over the window.
    [[nodiscard]] ArrayPlace place(LoadHint hint) const;

private:
    static constexpr std::uint64_t kPlainAlignment = std::uint64_t{32} << 20;
    MappedWindow(device::Device& device, device::Address begin, Window window)
        : device_(&device), begin_(begin), window_(window) {}
    device::Device* device_;
    device::Address begin_;  ///< of the allocation
    Window window_;
};

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

/// A TLB in front of the one that is asked about.
struct UpperTlb {
    std::uint64_t span = 0, sets = 0;
    std::uint64_t evicting_entries =
        0;  ///< entries of a set that come between two lookups of one until it is surely gone
};

/// A chase that nearer TLBs hide no lookup from: where the tour comes back to an entry of a nearer TLB too soon, loads
/// of other entries of the same set come in between (Wong 2010 takes 20 elements instead of 10 for the same end). They
/// lie an odd number of that TLB's ways away, so that they share no set of the farther TLB with the load itself, whose
/// ways are longer by a power of two.
class UnfilteredTlbChase {
public:
    /// Stays within the first `room` bytes of the chase's window.
    UnfilteredTlbChase(TranslationChase& chase, std::vector<UpperTlb> upper, std::uint64_t span);
    /// Offsets below this are free for the level's own loads.
    [[nodiscard]] std::uint64_t end() const;
    [[nodiscard]] deduce::ChaseTrace operator()(const deduce::ChaseRequest& request);

private:
    using Places = std::vector<std::uint64_t>;
    /// How many further entries of the set of load `at` have to come before the tour is back at its entry; `between`
    /// gets those that do come.
    [[nodiscard]] std::uint64_t missing_fillers(const UpperTlb& upper, const Places& sequence,
                                                const std::vector<Places>& fillers, std::size_t at,
                                                std::unordered_set<std::uint64_t>& between) const;
    /// What comes after each load of the tour.
    [[nodiscard]] std::vector<Places> filler_loads(const Places& sequence) const;

    TranslationChase* chase_;
    std::vector<UpperTlb> upper_;
    std::uint64_t span_;
    std::uint64_t step_ = 1;  ///< bytes; a way of each nearer TLB
};

}  // namespace gputomo::measure
