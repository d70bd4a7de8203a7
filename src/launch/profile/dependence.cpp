#include "launch/profile/dependence.hpp"

#include "launch/profile/launch_profile.hpp"
#include "sim/machine_code/wait_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

namespace gputomo::launch {
namespace {

using sim::machine_code::Access;
using sim::machine_code::Space;
using sim::machine_code::Visible;

constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};
/// Sectors that are kept: enough for several blocks of a usual kernel, and 256 MiB.
constexpr std::size_t kMostShared = std::size_t{1} << 22;
/// Blocks that are executed again to compare bytes. More would find dependences of rarer pairs, and take longer.
constexpr std::size_t kBlocksOfPairs = 24;

/// Sectors whose bytes are compared. More would take longer than the blocks themselves.
constexpr std::size_t kMostCompared = 4096;

/// Readers of a sector that are kept behind the first two. A sector has eight words, so that of nine blocks which count
/// in one of its words each, two count in the same word.
constexpr std::size_t kFurtherReaders = kTouchedSectorBytes / 4 - 1;

/// Bytes of a sector that a block reads before it writes them, and those that it writes.
struct BytesOfSector {
    std::uint32_t read = 0, written = 0;
    std::size_t step = 0;  ///< of the first read
};

class BytesOfBlock final : public sim::machine_code::Observer {
public:
    BytesOfBlock(const sim::machine_code::VisibleAccesses& accesses, const std::set<std::uint64_t>& sectors)
        : accesses_(accesses), sectors_(sectors) {}

    void execute(std::size_t step, std::uint32_t /*lanes*/, std::uint32_t /*mask*/) override { step_ = step; }
    void access(Space space, Access access, std::uint64_t offset, std::uint64_t bytes) override {
        if (space != Space::global) return;
        const std::uint64_t sector = offset / kTouchedSectorBytes;
        if (!sectors_.contains(sector)) return;
        const std::uint32_t mask = static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1)
                                   << (offset % kTouchedSectorBytes);
        BytesOfSector& of = bytes_[sector];
        const bool reads =
            access == Access::read || (access == Access::atomic && accesses_.kind[step_] == Visible::read_and_write);
        if (reads && (mask & ~of.written) != 0) {
            if (of.read == 0) of.step = step_;
            of.read |= mask & ~of.written;
        }
        if (access != Access::read) of.written |= mask;
    }
    bool end_block(std::uint64_t /*index*/) override { return true; }

    [[nodiscard]] const BytesOfSector* find(std::uint64_t sector) const {
        const auto found = bytes_.find(sector);
        return found == bytes_.end() ? nullptr : &found->second;
    }

private:
    const sim::machine_code::VisibleAccesses& accesses_;
    const std::set<std::uint64_t>& sectors_;
    std::size_t step_ = 0;
    std::unordered_map<std::uint64_t, BytesOfSector> bytes_;
};

/// The sectors that most blocks use, such as counters, and others that are spread over all.
std::vector<SharedSector> chosen_sectors(std::span<const SharedSector> sectors) {
    const std::size_t first = std::min(sectors.size(), kMostCompared / 2);
    std::vector<SharedSector> chosen(sectors.begin(), sectors.begin() + static_cast<std::ptrdiff_t>(first));
    const auto others = sectors.subspan(first);
    const std::size_t step = std::max<std::size_t>(1, others.size() / (kMostCompared / 2));
    for (std::size_t i = 0; i < others.size(); i += step) chosen.push_back(others[i]);
    return chosen;
}

using BytesOfBlocks = std::map<std::uint64_t, BytesOfBlock>;

/// Bytes of the sector that `reader` reads and another block writes.
std::optional<Dependence> dependence_at(std::uint64_t sector, const BytesOfBlocks& bytes) {
    for (const auto& [reader, read] : bytes) {
        const BytesOfSector* const of_reader = read.find(sector);
        if (of_reader == nullptr || of_reader->read == 0) continue;
        for (const auto& [writer, written] : bytes) {
            const BytesOfSector* const of_writer = written.find(sector);
            if (writer == reader || of_writer == nullptr) continue;
            const std::uint32_t both = of_reader->read & of_writer->written;
            if (both == 0) continue;
            return Dependence{
                .reader = reader,
                .writer = writer,
                .address = sector * kTouchedSectorBytes + static_cast<std::uint64_t>(std::countr_zero(both)),
                .step = of_reader->step};
        }
    }
    return {};
}

}  // namespace

bool returns_counters(const sim::machine_code::MachineProgram& program) {
    const auto accesses = sim::machine_code::visible_accesses(program);
    for (std::size_t at = 0; at < accesses.kind.size(); ++at)
        if (accesses.reads_global[at] && accesses.kind[at] == sim::machine_code::Visible::read_and_write) return true;
    return false;
}

bool SharedSectors::note(BlocksOf& blocks, std::uint64_t sector, std::uint64_t block) {
    const std::size_t place = blocks.sectors.place(sector);
    if (place == blocks.of.size()) blocks.of.push_back({.first = {kNoBlock, kNoBlock}});
    Blocks& of = blocks.of[place];
    if (of.first[0] == kNoBlock)
        of.first[0] = block;
    else if (of.first[0] != block && of.first[1] == kNoBlock)
        of.first[1] = block;
    ++of.count;
    return of.first[1] != kNoBlock && of.first[1] != block && of.first[0] != block;
}

void SharedSectors::add(std::uint64_t block, std::span<const Sectors* const> read, const Sectors& written) {
    if (readers_.sectors.size() + writers_.sectors.size() > kMostShared) return;
    for (const Sectors* const sectors : read)
        for (const auto sector : *sectors) {
            if (!note(readers_, sector, block)) continue;
            if (more_.size() >= kMostCompared && !more_.contains(sector)) continue;
            auto& more = more_[sector];
            if (more.size() < kFurtherReaders && (more.empty() || more.back() != block)) more.push_back(block);
        }
    for (const auto sector : written) (void)note(writers_, sector, block);
}

std::vector<SharedSector> SharedSectors::shared() const {
    std::vector<SharedSector> shared;
    std::size_t next = 0;
    for (const std::uint64_t sector : writers_.sectors) {
        const Blocks& writers = writers_.of[next++];
        const std::size_t found = readers_.sectors.find(sector);
        if (found == Sectors::kNone) continue;
        const Blocks& readers = readers_.of[found];
        const std::uint64_t writer = writers.first[0] != readers.first[0] ? writers.first[0] : writers.first[1];
        SharedSector sector_of{
            .sector = sector, .reader = readers.first[0], .writer = writer, .uses = readers.count + writers.count};
        if (writer == kNoBlock) {
            if (readers.first[1] == kNoBlock) continue;
            sector_of.reader = readers.first[1];
            sector_of.writer = writers.first[0];
        }
        if (const auto more = more_.find(sector); more != more_.end()) sector_of.more = more->second;
        shared.push_back(sector_of);
    }
    std::ranges::sort(shared, [](const SharedSector& a, const SharedSector& b) {
        return std::pair(b.uses, a.sector) < std::pair(a.uses, b.sector);
    });
    return shared;
}

std::string text_of(const sim::machine_code::MachineProgram& program, const Dependence& dependence) {
    return fmt::format("block {} reads what block {} writes at {:#x} ({})", dependence.reader, dependence.writer,
                       dependence.address, sim::machine_code::text_of(program, dependence.step));
}

std::optional<Dependence> find_dependence(const sim::machine_code::MachineProgram& program,
                                          std::span<const SharedSector> sectors, const ExecuteWatched& execute) {
    if (sectors.empty()) return {};
    const auto chosen = chosen_sectors(sectors);
    std::set<std::uint64_t> watched;
    for (const SharedSector& shared : chosen) watched.insert(shared.sector);
    const auto accesses = sim::machine_code::visible_accesses(program);
    BytesOfBlocks bytes;
    // Pairs of blocks that are spread over the sectors; the most used sector comes first.
    const std::size_t step = std::max<std::size_t>(1, chosen.size() / kBlocksOfPairs);
    for (std::size_t i = 0; i < chosen.size() && bytes.size() + 2 <= kBlocksOfPairs; i += step) {
        const auto watch = [&](std::uint64_t block) {
            const auto [place, is_new] = bytes.try_emplace(block, accesses, watched);
            if (is_new) (void)execute(block, place->second);
        };
        watch(chosen[i].reader);
        watch(chosen[i].writer);
        if (const auto found = dependence_at(chosen[i].sector, bytes)) return found;
        for (const auto block : chosen[i].more) {
            if (bytes.size() >= kBlocksOfPairs) break;
            watch(block);
            if (const auto found = dependence_at(chosen[i].sector, bytes)) return found;
        }
    }
    for (const auto sector : watched)
        if (const auto found = dependence_at(sector, bytes)) return found;
    return {};
}

}  // namespace gputomo::launch
