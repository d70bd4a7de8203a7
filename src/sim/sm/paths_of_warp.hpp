// The paths of a warp whose threads diverged: a SIMT stack, or independently scheduled splits.
#pragma once

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// Threads that share a program counter.
struct WarpPath {
    std::uint32_t pc = 0;
    std::uint32_t reconverge = 0;  ///< where it waits for (stack) or meets (independent) its siblings
    std::uint32_t mask = 0;
    std::uint32_t turns = 0;       ///< backward branches taken; independent scheduling favours paths that are behind
    bool at_barrier = false;
};

enum class Divergence : std::uint8_t { stack, independent };

class WarpPaths {
public:
    WarpPaths(Divergence kind, bool taken_first) : kind_(kind), taken_first_(taken_first) {}

    void start(std::uint32_t mask, std::uint32_t body_size);

    /// No thread is left.
    [[nodiscard]] bool finished() const { return paths_.empty(); }
    [[nodiscard]] WarpPath& current() { return paths_[current_]; }
    [[nodiscard]] const WarpPath& current() const { return paths_[current_]; }
    [[nodiscard]] const std::vector<WarpPath>& all() const { return paths_; }
    [[nodiscard]] std::uint32_t live() const;

    /// The current path goes on at `pc`.
    void advance(std::uint32_t pc);
    /// The threads in `taken` go to `target`, the others to the next instruction. Returns whether the paths diverged.
    bool branch(std::uint32_t taken, std::uint32_t target, std::uint32_t reconverge);
    /// Threads end.
    void exit(std::uint32_t mask);
    /// The current path waits at a barrier. Independent scheduling goes on with another path if there is one.
    void wait_at_barrier();
    /// The barrier opened for all waiting paths.
    void release_barrier();
    /// Every path waits at a barrier.
    [[nodiscard]] bool blocked() const;

private:
    void settle();
    void pick();

    /// A split that reached the point where its siblings would join it waits for them as if it had gone round this often; the
    /// bound is what lets a thread that leaves a spin loop go on and release the others.
    static constexpr std::uint32_t kReconvergencePatience = 64;

    Divergence kind_;
    bool taken_first_;
    std::size_t current_ = 0;
    std::vector<WarpPath> paths_;
};

}  // namespace gputomo::sim
