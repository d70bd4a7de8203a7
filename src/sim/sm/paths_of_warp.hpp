// The paths of a warp whose threads diverged: a SIMT stack, or independently scheduled splits.
#pragma once

#include <cstdint>
#include <vector>

namespace gputomo::sim {

/// Threads that share a program counter.
struct WarpPath {
    std::uint32_t pc = 0;
    std::uint32_t reconverge = 0;  ///< where it waits for (stack) or meets (independent) its siblings
    std::vector<std::uint32_t>
        outer;  ///< independent: points further out where it still has to meet others, the next one last
    std::uint32_t mask = 0;
    std::uint32_t turns = 0;      ///< backward branches taken; independent scheduling favours paths that are behind
    int barrier = -1;             ///< block barrier it waits at (its pc is the instruction behind)
    std::uint32_t arrived = 0;    ///< threads of it that take part in that barrier
    bool awaits_members = false;  ///< at an instruction that other threads of the warp must reach as well

    [[nodiscard]] bool waits() const { return barrier >= 0 || awaits_members; }
};

enum class Divergence : std::uint8_t { stack, independent };

/// Where the two sides of a branch go.
struct BranchTargets {
    std::uint32_t taken = 0;
    std::uint32_t not_taken = 0;
    std::uint32_t reconverge = 0;
};

class WarpPaths {
public:
    WarpPaths(Divergence kind, bool taken_first) : kind_(kind), taken_first_(taken_first) {}

    void start(std::uint32_t mask, std::uint32_t body_size);

    /// No thread is left.
    [[nodiscard]] bool finished() const { return paths_.empty(); }
    [[nodiscard]] bool independent() const { return kind_ == Divergence::independent; }
    [[nodiscard]] WarpPath& current() { return paths_[current_]; }
    [[nodiscard]] const WarpPath& current() const { return paths_[current_]; }
    [[nodiscard]] std::vector<WarpPath>& all() { return paths_; }
    [[nodiscard]] const std::vector<WarpPath>& all() const { return paths_; }
    [[nodiscard]] std::uint32_t live() const;

    /// The current path goes on at `pc`.
    void advance(std::uint32_t pc);
    /// The threads in `taken` go one way, the others of the current path the other. Returns whether the paths diverged.
    bool branch(std::uint32_t taken, const BranchTargets& to);
    /// Threads end.
    void exit(std::uint32_t mask);
    /// `threads` of the current path wait at a barrier, and the rest of the path with them. Independent scheduling goes
    /// on with another path if there is one.
    void wait_at_barrier(int barrier, std::uint32_t threads);
    /// The barrier opened for all paths that wait there.
    void release_barrier(int barrier);
    /// The current path stays where it is until other threads arrive at the same instruction.
    void wait_for_members();
    /// The paths in `which` (by mask) arrived together and go on behind their instructions.
    void release_members(std::uint32_t threads);
    /// Every path waits.
    [[nodiscard]] bool blocked() const;

private:
    void settle();
    void merge_equal();
    void pick();
    /// The path goes on at `pc`; a meeting point that it stood at lies behind it then.
    static void step(WarpPath& path, std::uint32_t pc);
    static void leave_meeting(WarpPath& path);
    [[nodiscard]] bool others_come_to(std::uint32_t pc, const WarpPath& but) const;
    static void merge(WarpPath& into, const WarpPath& from);

    /// A split that reached the point where its siblings would join it waits for them as if it had gone round this
    /// often; the bound is what lets a thread that leaves a spin loop go on and release the others.
    static constexpr std::uint32_t kReconvergencePatience = 64;

    Divergence kind_;
    bool taken_first_;
    std::size_t current_ = 0;
    std::vector<WarpPath> paths_;
};

}  // namespace gputomo::sim
