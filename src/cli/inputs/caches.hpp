// Reads --caches: what the caches hold when a launch begins.
#pragma once

#include "answer/caches.hpp"
#include "capture/capture.hpp"
#include "launch/launch.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace gputomo::cli {

inline constexpr const char* kSimulatedCachesHelp =
    "what the L2 holds when the launch begins: cold (nothing), warm (what the launch itself leaves), or, of a capture, "
    "after:N (what its launch N leaves)";
inline constexpr const char* kPredictedCachesHelp =
    "what the L2 holds when the launch begins: cold (nothing), dirty (data that go to DRAM first), warm (what it "
    "leaves "
    "itself), or, of a capture, after:N (what launch N leaves)";

/// What --caches asks for, with the launch that runs before.
class ChosenCaches {
public:
    /// A simulation has no dirty caches.
    enum class For : std::uint8_t { prediction, simulation };

    /// `captured` is nullptr where the launch is of a file; it must outlive this object. Throws InputError for another
    /// word, and where the launch before is not in the capture or has no memory.
    ChosenCaches(const std::string& text, const capture::Capture* captured, For use);

    [[nodiscard]] answer::CachesAtStart at_start() const {
        return {.caches = caches_, .earlier = earlier_ ? &*earlier_ : nullptr, .also_warm = false};
    }

private:
    answer::Caches caches_;
    std::optional<launch::Launch> earlier_;
};

}  // namespace gputomo::cli
