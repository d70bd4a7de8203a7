#include "launch/profile/watched_run.hpp"

#include "launch/profile/recorder.hpp"
#include "sim/machine_code/unknown_values.hpp"

namespace gputomo::launch {
namespace {

/// Shows an observer what a block does, and keeps what it overwrites.
class Watched final : public sim::machine_code::Observer {
public:
    /// `left` counts the instructions that may still be executed.
    Watched(sim::machine_code::Observer& observer, SavedMemory& saved, std::size_t& left)
        : observer_(observer), saved_(saved), left_(left) {}
    void execute(std::size_t step, std::uint32_t lanes, std::uint32_t mask) override {
        if (left_ == 0) throw Interruption{Interruption::Why::instructions};
        --left_;
        observer_.execute(step, lanes, mask);
    }
    void access(sim::machine_code::Space space, sim::machine_code::Access access, std::uint64_t offset,
                std::uint64_t bytes) override {
        using enum sim::machine_code::Access;
        if (space == sim::machine_code::Space::global && access != read) saved_.save(offset, bytes);
        observer_.access(space, access, offset, bytes);
    }
    bool end_block(std::uint64_t index) override { return observer_.end_block(index); }

private:
    sim::machine_code::Observer& observer_;
    SavedMemory& saved_;
    std::size_t& left_;
};

/// Gives memory back when a block has ended, in whatever way.
class GivenBack {
public:
    GivenBack(SavedMemory& saved, sim::machine_code::UnknownMemory* unknown) : saved_(saved), unknown_(unknown) {}
    GivenBack(const GivenBack&) = delete;
    GivenBack& operator=(const GivenBack&) = delete;
    ~GivenBack() {
        saved_.restore();
        if (unknown_ != nullptr) unknown_->clear();
    }

private:
    SavedMemory& saved_;
    sim::machine_code::UnknownMemory* unknown_;
};

}  // namespace

bool run_watched(const PreparedLaunch& prepared, sim::machine_code::FunctionalLaunch launch, std::uint64_t block,
                 sim::machine_code::Observer& observer, SavedMemory& saved, std::size_t& left) {
    Watched watched(observer, saved, left);
    launch.blocks = {block};
    launch.watches_waits = true;
    launch.observer = &watched;
    const GivenBack given_back(saved, launch.unknown);
    try {
        (void)sim::machine_code::run(prepared.program(), launch, prepared.memory());
        return true;
    } catch (const Interruption&) {
        return false;
    }
}

}  // namespace gputomo::launch
