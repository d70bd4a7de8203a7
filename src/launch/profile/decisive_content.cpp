#include "launch/profile/decisive_content.hpp"

#include "capture/capture.hpp"
#include "launch/prepared_launch.hpp"
#include "launch/profile/saved_memory.hpp"
#include "sass/cubin.hpp"
#include "sim/machine_code/run.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace gputomo::launch {
namespace {

/// Warp instructions of a block that are compared: some 0.1 s of a host's time. What differs later is not seen.
constexpr std::uint64_t kMostOfBlock = 200'000;
/// Bytes of a buffer that get other numbers. More of them take time and memory, and few blocks are executed.
constexpr std::size_t kMostOther = std::size_t{64} << 20;
/// Differences of executed instructions below this share change no answer by what matters.
constexpr double kNotableDifference = 0.01;

/// Counts instructions and makes one number of all addresses in global and shared memory. Keeps what is overwritten.
class ContentTrace : public sim::machine_code::Observer {
public:
    ContentTrace(std::uint64_t most, SavedMemory& saved) : most_(most), saved_(saved) {}

    void execute(std::size_t /*step*/, std::uint32_t /*lanes*/, std::uint32_t /*mask*/) override {
        if (instructions == most_) throw Interruption{};
        ++instructions;
    }
    void access(sim::machine_code::Space space, sim::machine_code::Access access, std::uint64_t offset,
                std::uint64_t bytes) override {
        using sim::machine_code::Space;
        if (space == Space::global && access != sim::machine_code::Access::read) saved_.save(offset, bytes);
        if (space != Space::global && space != Space::shared) return;
        // A sum, because warps may take turns in another order.
        addresses += (offset + 1) * 0x9E3779B97F4A7C15ULL;
    }
    bool end_block(std::uint64_t /*index*/) override { return true; }

    struct Interruption {};
    std::uint64_t instructions = 0, addresses = 0;

private:
    std::uint64_t most_;
    SavedMemory& saved_;
};

struct ExecutedBlock {
    std::uint64_t instructions = 0, addresses = 0;
    bool whole = false;   ///< the block ended within the limit
    std::string failure;  ///< what ended it otherwise
};

/// Memory is afterwards as it was before, so that a block can be executed again.
ExecutedBlock execute_block(const PreparedLaunch& prepared, const machine::Machine& machine, std::uint64_t block,
                            std::uint64_t most, sim::machine_code::UnknownMemory* unknown) {
    SavedMemory saved(prepared.memory());
    ContentTrace trace(most, saved);
    auto launch = prepared.launch_on(machine);
    launch.blocks = {block};
    launch.observer = &trace;
    launch.watches_waits = true;
    launch.unknown = unknown;
    ExecutedBlock executed;
    try {
        (void)sim::machine_code::run(prepared.program(), launch, prepared.memory());
        executed.whole = true;
    } catch (const ContentTrace::Interruption&) {
    } catch (const sim::machine_code::NeedsProducts&) {
        saved.restore();
        throw;
    } catch (const DeviceError& error) {
        executed.failure = error.what();
    }
    saved.restore();
    executed.instructions = trace.instructions;
    executed.addresses = trace.addresses;
    return executed;
}

/// With products of matrices where something other than data depends on them.
ExecutedBlock execute_block(const PreparedLaunch& prepared, const machine::Machine& machine, std::uint64_t block,
                            std::uint64_t most) {
    sim::machine_code::UnknownMemory unknown;
    try {
        return execute_block(prepared, machine, block, most, &unknown);
    } catch (const sim::machine_code::NeedsProducts&) {
        return execute_block(prepared, machine, block, most, nullptr);
    }
}

/// Where zeros stand in, numbers from 1 to 2 do now; where such numbers do, zeros.
Launch with_other_content(const Launch& launch) {
    Launch other = launch;
    std::uint64_t from = 0;
    for (Buffer& buffer : other.buffers) {
        if (!buffer.made_up) continue;
        buffer.fill_part = {};
        if (buffer.fill)
            buffer.fill = {};
        else
            buffer.fill = [from](std::span<std::byte> to) {
                capture::generate(from, to.first(std::min(to.size(), kMostOther)));
            };
        from += buffer.bytes;
    }
    return other;
}

std::string names_of_made_up(const Launch& launch) {
    std::string names;
    for (const Buffer& buffer : launch.buffers)
        if (buffer.made_up) names += (names.empty() ? "" : ", ") + buffer.name;
    return names;
}

}  // namespace

std::optional<std::string> decisive_content(const Launch& launch, const machine::Machine& machine) {
    if (std::ranges::none_of(launch.buffers, &Buffer::made_up) || !sass::is_cubin(launch.code)) return {};
    const PreparedLaunch given(launch), other(with_other_content(launch));
    if (given.has_clusters() || given.program().uses_grid_barrier) return {};
    for (const std::uint64_t block : {std::uint64_t{0}, launch.grid.count() / 2}) {
        const ExecutedBlock first = execute_block(given, machine, block, kMostOfBlock);
        if (!first.failure.empty()) return {};
        // A block that ended may take twice as long before it counts as one without an end.
        const std::uint64_t most = first.whole ? 2 * first.instructions : kMostOfBlock;
        const ExecutedBlock second = execute_block(other, machine, block, most);
        std::string what;
        if (!second.failure.empty())
            what = "fails (" + second.failure + ")";
        else if (first.whole && !second.whole)
            what = fmt::format("executes more than {} warp instructions instead of {}", second.instructions,
                               first.instructions);
        else if (std::abs(static_cast<double>(second.instructions) - static_cast<double>(first.instructions)) >
                 kNotableDifference * static_cast<double>(first.instructions))
            what = fmt::format("executes {} warp instructions instead of {}", second.instructions, first.instructions);
        else if (first.whole && second.addresses != first.addresses)
            what = "accesses other addresses";
        if (what.empty()) continue;
        return fmt::format(
            "the content of {} is made up, and decides what is executed: with other numbers there, block {} {}",
            names_of_made_up(launch), block, what);
    }
    return {};
}

}  // namespace gputomo::launch
