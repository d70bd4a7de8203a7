// Finds which memory of a launch can be left out, so that it still executes the same.
#pragma once

#include "capture/capture.hpp"
#include "capture/reduce/memory_watch.hpp"
#include "launch/captured/captured_launch.hpp"
#include "launch/prepared_launch.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::capture {

/// Smaller buffers are kept where nothing proves what matters: they often hold sizes, pointers and indices.
inline constexpr std::uint64_t kSmall = std::uint64_t{64} << 10;

/// Units of a region that the same instructions read.
struct Part {
    Region* region = nullptr;
    std::vector<std::uint64_t> units;
};

/// Executes a launch again and again with less of its memory.
class LaunchReducer {
public:
    LaunchReducer(const Capture& capture, const Launch& launch, Watch::Clock::time_point deadline)
        : prepared_(launch::captured_launch(capture, launch)),
          deadline_(deadline),
          sms_(launch.gpu
                   ? static_cast<std::uint32_t>(capture.gpus.at(static_cast<std::size_t>(*launch.gpu)).multiprocessors)
                   : 0),
          regions_(regions_of(prepared_, *launch.buffers)) {}

    /// Chooses what each unit holds. The launch then executes the same as before. Throws DeviceError for a launch that
    /// cannot be executed, and TimeLimitError for one that takes too long.
    void choose();
    /// How far what is executed now differs from what was; empty where it does not.
    [[nodiscard]] const std::string& difference() const { return difference_; }
    /// Leaves out large buffers without a proof. Where the launch only takes too long, some of its blocks have to
    /// execute the same as before, until the deadline. Where these take too long as well, buffers of up to 8 MiB in the
    /// capture are kept, because warps may wait for what they hold. Returns what was tried.
    std::string guess(bool executable, Watch::Clock::time_point deadline);
    /// For contents that were not captured: a few blocks have to execute the same with other numbers. Throws InputError
    /// where they do not.
    std::string try_other_contents();

    [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
    [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }

private:
    using Digests = std::vector<std::uint64_t>;
    /// What a run has to execute.
    struct Expected {
        const Digests& digests;
        std::uint64_t instructions = 0;
    };

    /// Leaves out all parts without which the launch executes the same. False: with other contents, its blocks depend
    /// on one another otherwise.
    bool leave_out(const std::vector<Part>& parts, const Digests& whole);
    /// Leaves out all parts without which these blocks execute the same.
    void leave_out_for(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts);
    /// Where too much is kept, tries parts of it that repeat. They may take the place of the whole if what is executed
    /// and touched stays nearly the same.
    void approximate(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts, const Totals& before);
    /// Executes these blocks, or all where there are none. Returns the number of warp instructions.
    std::uint64_t run(const std::vector<std::uint64_t>& blocks, Watch& watch, std::uint64_t limit = ~std::uint64_t{0});
    /// How much the blocks execute with all of their memory.
    Totals totals_for(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts);
    /// The first block that executes something else than before.
    std::optional<std::uint64_t> compare(const std::vector<std::uint64_t>& blocks, const Expected& expected);
    /// Bytes that what is kept takes in a capture.
    [[nodiscard]] std::uint64_t kept_size() const;
    [[nodiscard]] std::vector<std::uint64_t> first_blocks() const;
    std::vector<Part> parts_of_regions();

    launch::PreparedLaunch prepared_;
    Watch::Clock::time_point deadline_;
    std::uint32_t sms_;  ///< of the recorded GPU; 0: not recorded
    std::vector<Region> regions_;
    std::uint64_t instructions_ = 0;
    std::string difference_;
};

}  // namespace gputomo::capture
