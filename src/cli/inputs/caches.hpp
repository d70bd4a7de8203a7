// Reads --caches: what the caches hold when a launch begins.
#pragma once

#include "answer/caches.hpp"
#include "capture/capture.hpp"
#include "launch/launch.hpp"

#include <optional>
#include <string>

namespace gputomo::cli {

inline constexpr const char* kCachesHelp =
    "what the L2 holds when the launch begins: cold (nothing), warm (what the launch itself leaves), or, of a capture, "
    "after:N (what its launch N leaves)";

/// What --caches asks for, with the launch that runs before.
class ChosenCaches {
public:
    /// `captured` is nullptr where the launch is of a file; it must outlive this object. Throws InputError for another
    /// word, and where the launch before is not in the capture or has no memory.
    ChosenCaches(const std::string& text, const capture::Capture* captured);

    [[nodiscard]] answer::CachesAtStart at_start() const {
        return {.caches = caches_, .earlier = earlier_ ? &*earlier_ : nullptr, .also_warm = false};
    }

private:
    answer::Caches caches_;
    std::optional<launch::Launch> earlier_;
};

}  // namespace gputomo::cli
