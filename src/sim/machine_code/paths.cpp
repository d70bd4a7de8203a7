#include "sim/machine_code/paths.hpp"

#include "sim/exec/lanes.hpp"

#include <algorithm>

namespace gputomo::sim::machine_code {

Path* Paths::another() {
    const auto found = std::ranges::find(all_, Path::State::ready, &Path::state);
    if (found == all_.end()) return nullptr;
    current_ = static_cast<std::size_t>(found - all_.begin());
    return &*found;
}

void Paths::split(std::uint32_t lanes, std::size_t step) {
    Path& path = all_[current_];
    if (path.mask == lanes) {
        path.step = step;
        return;
    }
    path.mask &= ~lanes;
    all_.push_back({.step = step, .mask = lanes});
}

void Paths::exit(std::uint32_t lanes) {
    exited_ |= lanes;
    all_[current_].mask &= ~lanes;
    if (all_[current_].mask == 0) all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(current_));
}

void Paths::wait(Path::State state, std::uint8_t barrier, std::uint32_t expected, std::size_t step) {
    Path& path = all_[current_];
    path.state = state;
    path.barrier = barrier;
    path.expected = expected;
    path.step = step;
}

void Paths::rotate() {
    if (all_.size() < 2) return;
    for (std::size_t i = 1; i <= all_.size(); ++i) {
        const std::size_t next = (current_ + i) % all_.size();
        if (all_[next].state != Path::State::ready) continue;
        current_ = next;
        return;
    }
}

bool Paths::satisfied(const Path& path, const std::array<Warp::Row, 16>& convergence) const {
    std::uint32_t there = exited_;
    if (path.state == Path::State::warp_barrier) {
        // Threads may wait for one another at different WARPSYNC instructions with the same members.
        for (const Path& other : all_)
            if (other.state == path.state && other.expected == path.expected) there |= other.mask;
        return (path.expected & ~there) == 0;
    }
    for (const Path& other : all_)
        if (other.state == path.state && other.barrier == path.barrier) there |= other.mask;
    std::uint32_t missing = 0;
    for_lanes(path.mask, [&](int l) { missing |= convergence[path.barrier][static_cast<std::size_t>(l)] & ~there; });
    return missing == 0;
}

void Paths::release(const std::array<Warp::Row, 16>& convergence) {
    std::vector<std::size_t> released;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        const Path& path = all_[i];
        if ((path.state == Path::State::converging || path.state == Path::State::warp_barrier) &&
            satisfied(path, convergence))
            released.push_back(i);
    }
    join(released);
}

void Paths::release_block_barrier(std::uint8_t barrier) {
    std::vector<std::size_t> released;
    for (std::size_t i = 0; i < all_.size(); ++i)
        if (all_[i].state == Path::State::block_barrier && all_[i].barrier == barrier) released.push_back(i);
    join(released);
}

void Paths::join(const std::vector<std::size_t>& released) {
    if (released.empty()) return;
    std::vector<Path> kept, joined;
    for (std::size_t i = 0; i < all_.size(); ++i) {
        if (std::ranges::find(released, i) == released.end()) {
            kept.push_back(all_[i]);
            continue;
        }
        // Threads that waited for other members go on by themselves.
        const auto same = std::ranges::find_if(joined, [&](const Path& other) {
            return other.step == all_[i].step && other.expected == all_[i].expected;
        });
        if (same == joined.end())
            joined.push_back({.step = all_[i].step, .mask = all_[i].mask, .expected = all_[i].expected});
        else
            same->mask |= all_[i].mask;
    }
    kept.insert(kept.end(), joined.begin(), joined.end());
    all_ = std::move(kept);
    current_ = 0;
}

}  // namespace gputomo::sim::machine_code
