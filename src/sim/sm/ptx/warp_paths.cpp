#include "sim/sm/ptx/warp_paths.hpp"

#include <algorithm>
#include <tuple>

namespace gputomo::sim {

void WarpPaths::start(std::uint32_t mask, std::uint32_t body_size) {
    paths_.assign(1, {.pc = 0, .reconverge = body_size, .mask = mask});
    current_ = 0;
}

std::uint32_t WarpPaths::live() const {
    std::uint32_t mask = 0;
    for (const auto& path : paths_) mask |= path.mask;
    return mask;
}

bool WarpPaths::branch(std::uint32_t taken, const BranchTargets& to) {
    WarpPath& path = paths_[current_];
    const std::uint32_t staying = path.mask & ~taken;
    if (taken == 0 || staying == 0) {
        advance(taken != 0 ? to.taken : to.not_taken);
        return false;
    }
    leave_meeting(path);
    const bool further_in = kind_ == Divergence::independent && path.reconverge != to.reconverge;
    const auto split = [&](std::uint32_t mask, std::uint32_t pc) {
        WarpPath side{.pc = pc,
                      .reconverge = to.reconverge,
                      .outer = path.outer,
                      .mask = mask,
                      .iterations = path.iterations + (pc <= path.pc ? 1 : 0)};
        if (further_in) side.outer.push_back(path.reconverge);
        return side;
    };
    const WarpPath taken_path = split(taken, to.taken), staying_path = split(staying, to.not_taken);
    if (kind_ == Divergence::stack) {
        path.pc = to.reconverge;
        paths_.push_back(taken_first_ ? staying_path : taken_path);
        paths_.push_back(taken_first_ ? taken_path : staying_path);
    } else {
        path = staying_path;
        paths_.push_back(taken_path);
        if (taken_first_) current_ = paths_.size() - 1;
    }
    settle();
    return true;
}

void WarpPaths::exit(std::uint32_t mask) {
    for (auto& path : paths_) {
        path.mask &= ~mask;
        path.awaits_members = false;  // it may have waited for a thread that ended, and issues again
    }
    settle();
}

void WarpPaths::wait_at_barrier(int barrier, std::uint32_t threads) {
    WarpPath& path = paths_[current_];
    path.barrier = barrier;
    path.arrived = threads;
    step(path, path.pc + 1);
    if (kind_ == Divergence::independent) pick();
}

void WarpPaths::release_barrier(int barrier) {
    for (auto& path : paths_)
        if (path.barrier == barrier) path.barrier = -1;
    settle();
}

void WarpPaths::wait_for_members() {
    paths_[current_].awaits_members = true;
    settle();
}

void WarpPaths::release_members(std::uint32_t threads) {
    for (auto& path : paths_)
        if ((path.mask & threads) != 0) {
            path.awaits_members = false;
            step(path, path.pc + 1);
        }
    settle();
}

bool WarpPaths::blocked() const {
    if (paths_.empty()) return false;
    return kind_ == Divergence::stack
               ? paths_[current_].waits()
               : std::all_of(paths_.begin(), paths_.end(), [](const WarpPath& p) { return p.waits(); });
}

void WarpPaths::settle() {
    if (kind_ == Divergence::stack) {
        while (!paths_.empty()) {
            const WarpPath& top = paths_.back();
            const bool joined = paths_.size() > 1 && top.pc == top.reconverge && !top.waits();
            if (top.mask != 0 && !joined) break;
            paths_.pop_back();
        }
        current_ = paths_.empty() ? 0 : paths_.size() - 1;
        return;
    }
    const std::uint32_t running = current_ < paths_.size() ? paths_[current_].mask : 0;
    std::erase_if(paths_, [](const WarpPath& p) { return p.mask == 0; });
    if (paths_.size() > 1) merge_equal();
    const auto still =
        std::find_if(paths_.begin(), paths_.end(), [&](const WarpPath& p) { return (p.mask & running) != 0; });
    current_ = still == paths_.end() ? 0 : static_cast<std::size_t>(still - paths_.begin());
    pick();
}

/// Two paths that meet keep the outer points that both still have to meet others at.
void WarpPaths::merge(WarpPath& into, const WarpPath& from) {
    const auto all = [](const WarpPath& path) {
        auto points = path.outer;
        points.push_back(path.reconverge);
        return points;
    };
    auto points = all(into);
    const auto others = all(from);
    points.erase(std::mismatch(points.begin(), points.end(), others.begin(), others.end()).first, points.end());
    into.reconverge = points.empty() ? std::max(into.reconverge, from.reconverge) : points.back();
    if (!points.empty()) points.pop_back();
    into.outer = std::move(points);
    into.mask |= from.mask;
    into.iterations = std::min(into.iterations, from.iterations);
    into.awaits_members = false;  // more members may be there now, and it issues again
}

void WarpPaths::merge_equal() {
    for (std::size_t i = 0; i < paths_.size(); ++i)
        for (std::size_t j = paths_.size(); j-- > i + 1;) {
            WarpPath &a = paths_[i], &b = paths_[j];
            if (a.pc != b.pc || a.barrier >= 0 || b.barrier >= 0) continue;
            merge(a, b);
            paths_.erase(paths_.begin() + static_cast<std::ptrdiff_t>(j));
        }
}

bool WarpPaths::others_come_to(std::uint32_t pc, const WarpPath& but) const {
    return std::any_of(paths_.begin(), paths_.end(), [&](const WarpPath& p) {
        return &p != &but && (p.reconverge == pc || std::find(p.outer.begin(), p.outer.end(), pc) != p.outer.end());
    });
}

/// A path runs until it waits, reaches a point where others join it, or has more loop iterations than another path.
void WarpPaths::pick() {
    const auto order = [this](const WarpPath& p) {
        const std::uint32_t patience = p.pc == p.reconverge && others_come_to(p.pc, p) ? kReconvergencePatience : 0;
        return std::pair(p.waits(), p.iterations + patience);
    };
    std::size_t best = current_;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
        const bool sooner =
            best != current_ && order(paths_[i]) == order(paths_[best]) && paths_[i].pc < paths_[best].pc;
        if (order(paths_[i]) < order(paths_[best]) || sooner) best = i;
    }
    current_ = best;
}

}  // namespace gputomo::sim
