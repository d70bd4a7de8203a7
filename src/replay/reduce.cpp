#include "replay/reduce.hpp"

#include "capture/decompress.hpp"
#include "capture/folder.hpp"
#include "replay/footprint.hpp"
#include "replay/prune.hpp"
#include "replay/replayed_launch.hpp"
#include "units/error.hpp"
#include "units/sha256.hpp"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>

namespace gputomo::replay {
namespace {

namespace machine_code = sim::machine_code;
using capture::Buffer;
using capture::Content;
using Digests = std::vector<std::uint64_t>;

/// Blocks that are tried for each part of memory before all blocks are: the first, the last, and others.
constexpr std::uint64_t kTried = 6;
/// Groups of a buffer that are tried apart. More find smaller parts of a buffer that matter, and take longer.
constexpr std::size_t kGroups = 12;
/// How often blocks are added to those that are tried, because they executed something else in the end.
constexpr int kRounds = 4;
/// Bytes of memory in a capture, beyond which parts that repeat may take the place of the whole.
constexpr std::uint64_t kMost = std::uint64_t{3} << 19;
/// By how much what is executed and touched may then differ.
constexpr double kTolerance = 0.005;
/// More parts than this repeat shorter pieces, so that all of them together stay below kMost.
constexpr std::size_t kWideTiles = 2;
/// Smaller buffers are kept where nothing proves what matters: they often hold sizes, pointers and indices.
constexpr std::uint64_t kSmall = std::uint64_t{64} << 10;
/// The code of other kernels is left out of larger modules.
constexpr std::size_t kLargeModule = std::size_t{256} << 10;
/// Contents that lie this close are stored as one, since each takes a line of the index.
constexpr std::uint64_t kGap = 1024;

/// Units of a region that the same instructions read.
struct Part {
    Region* region = nullptr;
    std::vector<std::uint64_t> units;
};

std::uint64_t bytes_of(const Part& part) { return part.units.size() * kUnit; }

void mark_dirty(const Part& part) {
    for (const auto unit : part.units) part.region->dirty[unit * kUnit / kPage] = true;
}

void hold(const Part& part, Held held) {
    for (const auto unit : part.units) part.region->held[unit] = held;
    mark_dirty(part);
}

class LaunchReducer {
public:
    LaunchReducer(const capture::Capture& capture, const capture::Launch& launch, Watch::Clock::time_point deadline)
        : replayed_(capture, launch), deadline_(deadline), regions_(regions_of(replayed_, *launch.buffers)) {}

    /// Chooses what each unit holds. The launch then executes the same as before.
    void choose() {
        Watch first(regions_, Watch::Keeps::loads, deadline_);
        instructions_ = run({}, first);
        const Digests whole = first.digests();
        std::vector<Part> parts = parts_of_regions();
        // What is not read cannot matter.
        std::erase_if(parts, [](const Part& part) {
            if (part.region->loads[part.units.front()] != 0) return false;
            hold(part, Held::generated);
            return true;
        });
        std::ranges::stable_sort(parts, std::ranges::greater(), bytes_of);
        bool found = false;
        try {
            found = leave_out(parts, whole);
        } catch (const TimeLimitError&) {  // what is not read is left out all the same
        }
        if (!found)
            for (const Part& part : parts) hold(part, Held::own);
        approximate({}, parts, first.totals());
    }

    /// How far what is executed now differs from what was; empty where it does not.
    [[nodiscard]] const std::string& difference() const { return difference_; }

    /// Leaves out large buffers without a proof. Where the launch only takes too long, some of its blocks have to
    /// execute the same as before, until the deadline. Returns what was tried.
    std::string guess(bool executable, Watch::Clock::time_point deadline) {
        deadline_ = deadline;
        std::vector<Part> parts;
        for (Region& region : regions_) {
            Part part{&region, {}};
            for (std::uint64_t unit = 0; unit < region.held.size(); ++unit)
                if (region.from_file[unit]) part.units.push_back(unit);
            if (bytes_of(part) > kSmall) parts.push_back(std::move(part));
        }
        std::ranges::stable_sort(parts, std::ranges::greater(), bytes_of);
        if (executable) {
            try {
                const auto blocks = first_blocks();
                leave_out_for(blocks, parts);
                approximate(blocks, parts, totals_for(blocks, parts));
                if (!difference_.empty())
                    return fmt::format("{} of {} blocks were compared", blocks.size(), replayed_.launch().grid.count());
                return fmt::format("{} of {} blocks execute the same", blocks.size(), replayed_.launch().grid.count());
            } catch (const DeviceError&) {  // these blocks take too long too
            }
        }
        for (const Part& part : parts) hold(part, Held::generated);
        return fmt::format("buffers of more than {} bytes are left out", kSmall);
    }

    /// For contents that were not captured: a few blocks have to execute the same with other numbers. Throws InputError
    /// where they do not.
    std::string try_other_contents() {
        std::vector<Part> parts;
        for (Region& region : regions_) {
            Part part{&region, {}};
            for (const auto& content : region.buffer->content)
                if (content.generated)
                    for (auto unit = (content.offset + kUnit - 1) / kUnit;
                         unit < (content.offset + content.bytes) / kUnit; ++unit)
                        part.units.push_back(unit);
            if (!part.units.empty()) parts.push_back(std::move(part));
        }
        const auto blocks = first_blocks();
        Watch watch(regions_, Watch::Keeps::digests, deadline_);
        const std::uint64_t instructions = run(blocks, watch);
        const Digests digests = watch.digests();
        const Expected expected{digests, instructions};
        const auto same_with = [&](Held held) {
            for (const Part& part : parts) hold(part, held);
            const bool same = !compare(blocks, expected);
            for (const Part& part : parts) hold(part, Held::own);
            return same;
        };
        if (!same_with(Held::other))
            throw InputError(
                "what is executed depends on contents that were not captured; capture the launch again "
                "with a larger --max-memory");
        return fmt::format("{} of {} blocks execute the same with other numbers{}", blocks.size(),
                           replayed_.launch().grid.count(),
                           same_with(Held::zero) ? " and with zeros" : ", not with zeros");
    }

    [[nodiscard]] std::uint64_t instructions() const { return instructions_; }
    [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }

private:
    /// Leaves out all parts without which the launch executes the same. False: with other contents, its blocks depend
    /// on one another otherwise.
    bool leave_out(const std::vector<Part>& parts, const Digests& whole) {
        std::vector<std::uint64_t> blocks = first_blocks();
        for (int round = 0; round < kRounds; ++round) {
            leave_out_for(blocks, parts);
            const auto different = compare({}, {whole, instructions_});
            if (!different) return true;
            if (std::ranges::find(blocks, *different) != blocks.end()) break;
            blocks.push_back(*different);
        }
        return false;
    }

    /// What a run has to execute.
    struct Expected {
        const Digests& digests;
        std::uint64_t instructions = 0;
    };

    std::uint64_t run(const std::vector<std::uint64_t>& blocks, Watch& watch, std::uint64_t limit = ~std::uint64_t{0}) {
        restore(regions_);
        auto launch = replayed_.launch();
        launch.instruction_limit = limit;
        launch.blocks = blocks;
        launch.observer = &watch;
        return machine_code::run(replayed_.program(), launch, replayed_.memory()).total;
    }

    /// How much the blocks execute with all of their memory.
    Totals totals_for(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts) {
        std::vector<std::vector<Held>> held;
        for (const Region& region : regions_) held.push_back(region.held);
        for (const Part& part : parts) hold(part, Held::own);
        Watch watch(regions_, Watch::Keeps::totals, deadline_);
        run(blocks, watch);
        for (std::size_t i = 0; i < regions_.size(); ++i) regions_[i].held = std::move(held[i]);
        for (const Part& part : parts) mark_dirty(part);
        return watch.totals();
    }

    /// Where too much is kept, tries parts of it that repeat. They may take the place of the whole if what is executed
    /// and touched stays nearly the same.
    void approximate(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts, const Totals& before) {
        if (kept_size() <= kMost) return;
        std::vector<const Part*> changed;
        for (const Part& part : parts)
            if (bytes_of(part) > kSmall && part.region->held[part.units.front()] == Held::own &&
                part.region->has_tile(period_of(Held::wide_tile)))
                changed.push_back(&part);
        if (changed.empty()) return;
        for (const Part* const part : changed)
            hold(*part, changed.size() > kWideTiles ? Held::long_tile : Held::wide_tile);
        try {
            Watch watch(regions_, Watch::Keeps::totals, deadline_);
            run(blocks, watch, 2 * before.warp_instructions);
            const Totals after = watch.totals();
            if (is_close(before, after)) {
                difference_ = fmt::format(
                    "{} instead of {} warp instructions, {} instead of {} thread instructions, {} instead of {} "
                    "sectors, {} instead of {} different lines",
                    after.warp_instructions, before.warp_instructions, after.thread_instructions,
                    before.thread_instructions, after.sectors, before.sectors, after.units, before.units);
                return;
            }
        } catch (const DeviceError&) {  // something else is executed
        }
        for (const Part* const part : changed) hold(*part, Held::own);
    }

    static bool is_close(const Totals& a, const Totals& b) {
        const auto close = [](std::uint64_t x, std::uint64_t y) {
            return std::abs(static_cast<double>(x) - static_cast<double>(y)) <=
                   kTolerance * static_cast<double>(std::max(x, y));
        };
        return close(a.warp_instructions, b.warp_instructions) && close(a.thread_instructions, b.thread_instructions) &&
               close(a.sectors, b.sectors) && close(a.units, b.units);
    }

    /// Bytes that what is kept takes in a capture.
    [[nodiscard]] std::uint64_t kept_size() const {
        std::string kept;
        for (const Region& region : regions_)
            for (std::uint64_t unit = 0; unit < region.held.size(); ++unit)
                if (region.from_file[unit] && region.held[unit] == Held::own)
                    kept.append(reinterpret_cast<const char*>(region.original.data()) + unit * kUnit,
                                std::min(kUnit, region.bytes - unit * kUnit));
        return capture::deflated(kept).size();
    }

    /// The first block that executes something else than before.
    std::optional<std::uint64_t> compare(const std::vector<std::uint64_t>& blocks, const Expected& expected) {
        Watch watch(regions_, Watch::Keeps::digests, deadline_);
        watch.expect(expected.digests);
        try {
            run(blocks, watch, expected.instructions);
        } catch (const DeviceError&) {  // an illegal address, a loop without an end, or threads that wait for ever
            if (Watch::Clock::now() > deadline_) throw;
            return blocks.empty() ? watch.digests().size() : blocks[watch.digests().size()];
        }
        return watch.different_block();
    }

    /// Leaves out all parts without which these blocks execute the same.
    void leave_out_for(const std::vector<std::uint64_t>& blocks, const std::vector<Part>& parts) {
        for (const Part& part : parts) hold(part, Held::own);
        Watch watch(regions_, Watch::Keeps::digests, deadline_);
        const std::uint64_t instructions = run(blocks, watch);
        const Digests digests = watch.digests();
        const Expected expected{digests, instructions};
        const auto without = [&](const Part& part, Held held) {
            if (const auto period = period_of(held); period != 0)
                if (bytes_of(part) < 2 * period || !part.region->has_tile(period)) return false;
            hold(part, held);
            return true;
        };
        for (const Held held : {Held::generated, Held::short_tile}) {
            for (const Part& part : parts) without(part, held);
            if (!compare(blocks, expected)) return;
        }
        for (const Part& part : parts) hold(part, Held::own);
        for (const Part& part : parts) {
            bool fits = false;
            for (const Held held : {Held::generated, Held::short_tile, Held::zero, Held::long_tile})
                if (!fits) fits = without(part, held) && !compare(blocks, expected);
            if (!fits) hold(part, Held::own);
        }
    }

    [[nodiscard]] std::vector<std::uint64_t> first_blocks() const {
        const std::uint64_t count = replayed_.launch().grid.count();
        std::vector<std::uint64_t> blocks;
        for (std::uint64_t i = 0; i < std::min(count, kTried); ++i)
            blocks.push_back(count <= kTried ? i : i * (count - 1) / (kTried - 1));
        return blocks;
    }

    std::vector<Part> parts_of_regions() {
        std::vector<Part> all;
        for (Region& region : regions_) {
            std::map<std::uint64_t, Part> by_loads;
            for (std::uint64_t unit = 0; unit < region.held.size(); ++unit) {
                if (!region.from_file[unit]) continue;
                Part& part = by_loads[region.loads[unit]];
                part.region = &region;
                part.units.push_back(unit);
            }
            std::vector<Part> parts;
            for (auto& [loads, part] : by_loads) {
                if (loads == 0)
                    all.push_back(std::move(part));
                else
                    parts.push_back(std::move(part));
            }
            std::ranges::stable_sort(parts, std::ranges::greater(), bytes_of);
            while (parts.size() > kGroups) {
                auto& last = parts[kGroups - 1].units;
                last.insert(last.end(), parts.back().units.begin(), parts.back().units.end());
                parts.pop_back();
            }
            std::ranges::move(parts, std::back_inserter(all));
        }
        return all;
    }

    ReplayedLaunch replayed_;
    Watch::Clock::time_point deadline_;
    std::vector<Region> regions_;
    std::uint64_t instructions_ = 0;
    std::string difference_;
};

/// A run of bytes of a buffer with one kind of content.
struct Run {
    std::uint64_t offset = 0, bytes = 0;
    Held held = Held::own;
    bool operator==(const Run&) const = default;
};

/// The parts of a buffer's old content by what is now in their place. Fills stay as they are.
std::vector<Run> runs_of(const Region& region) {
    std::vector<Run> runs;
    for (std::uint64_t unit = 0; unit < region.held.size(); ++unit) {
        const std::uint64_t offset = unit * kUnit, bytes = std::min(kUnit, region.bytes - offset);
        if (!runs.empty() && runs.back().held == region.held[unit])
            runs.back().bytes += bytes;
        else
            runs.push_back({offset, bytes, region.held[unit]});
    }
    // A short run between two that are kept is kept too.
    for (std::size_t i = 1; i + 1 < runs.size(); ++i)
        if (runs[i].held != Held::own && runs[i].bytes <= kGap && runs[i - 1].held == Held::own &&
            runs[i + 1].held == Held::own)
            runs[i].held = Held::own;
    std::vector<Run> joined;
    for (const Run& run : runs) {
        if (!joined.empty() && joined.back().held == run.held)
            joined.back().bytes += run.bytes;
        else
            joined.push_back(run);
    }
    return joined;
}

/// Bytes of memory in one file, before compression.
constexpr std::uint64_t kFile = std::uint64_t{4} << 20;

/// Gathers what is kept of memory, each content once, and writes it.
class Kept {
public:
    Content add(std::uint64_t offset, std::string_view bytes) {
        const auto [at, is_new] = places_.try_emplace(sha256(bytes), all_.size());
        if (is_new) {
            // Contents that fit into a file lie in one.
            if (bytes.size() <= kFile && all_.size() % kFile + bytes.size() > kFile)
                all_.resize((all_.size() + kFile - 1) / kFile * kFile);
            at->second = all_.size();
            all_ += bytes;
        }
        return {.offset = offset, .bytes = bytes.size(), .at = at->second};
    }

    /// Writes the contents, and names their files in the launches.
    void write(const std::filesystem::path& folder, capture::Capture& capture) const {
        std::vector<capture::MemoryFile> files;
        for (std::uint64_t at = 0; at < all_.size(); at += kFile)
            files.push_back(capture::add_memory(folder, capture.memory, std::string_view(all_).substr(at, kFile),
                                                capture::Compression::best));
        for (auto& launch : capture.launches)
            for (auto* buffers : {&launch.buffers, &launch.results})
                if (*buffers)
                    for (auto& buffer : **buffers) place(buffer, files);
    }

private:
    static void place(Buffer& buffer, const std::vector<capture::MemoryFile>& files) {
        std::vector<Content> placed;
        for (const auto& part : buffer.content) {
            if (part.fill || part.generated) {
                placed.push_back(part);
                continue;
            }
            if (part.period != 0) {
                // Kept::add() puts no tile across the end of a file.
                placed.push_back(part);
                placed.back().file = files[part.at / kFile].file;
                placed.back().at = part.at % kFile;
                continue;
            }
            for (std::uint64_t done = 0; done < part.bytes;) {
                const std::uint64_t at = part.at + done, bytes = std::min(part.bytes - done, kFile - at % kFile);
                placed.push_back(
                    {.offset = part.offset + done, .bytes = bytes, .file = files[at / kFile].file, .at = at % kFile});
                done += bytes;
            }
        }
        buffer.content = std::move(placed);
    }

    std::string all_;
    std::map<std::string, std::uint64_t> places_;
};

/// The content of a buffer, as it is.
void keep_whole(Buffer& buffer, capture::MemoryReader& reader, Kept& kept, std::uint64_t& bytes) {
    if (!buffer.omitted.empty()) return;
    const std::string content = reader.read(buffer);
    for (auto& part : buffer.content) {
        if (part.fill || part.generated) continue;
        part = kept.add(part.offset, std::string_view(content).substr(part.offset, part.bytes));
        bytes += part.bytes;
    }
}

/// The bytes that begin to repeat at `offset`.
std::string tile(const Region& region, std::uint64_t offset, std::uint64_t period_or_less) {
    const std::uint64_t period = period_of(region.held[offset / kUnit]);
    std::string bytes(period_or_less, '\0');
    for (std::uint64_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<char>(region.original[region.tile_source(offset + i, period)]);
    return bytes;
}

/// Parts with neighbours of their kind as one: a capture cuts contents into pieces.
std::vector<Content> joined(const std::vector<Content>& parts) {
    std::vector<Content> all;
    for (const auto& part : parts) {
        const bool is_stored = !part.fill && !part.generated;
        if (is_stored && !all.empty() && !all.back().fill && !all.back().generated)
            all.back().bytes += part.bytes;
        else
            all.push_back(part);
    }
    return all;
}

/// The new content of a buffer.
void write_content(Buffer& buffer, const Region& region, Kept& kept, std::uint64_t& bytes) {
    const std::vector<Content> old = joined(buffer.content);
    buffer.content.clear();
    const auto add = [&](Content part) {
        auto& list = buffer.content;
        if (!list.empty() && part.generated && list.back().generated)
            list.back().bytes += part.bytes;
        else if (!list.empty() && part.fill && list.back().fill == part.fill && list.back().bytes % 8 == 0)
            list.back().bytes += part.bytes;
        else
            list.push_back(std::move(part));
    };
    const auto runs = runs_of(region);
    for (const auto& part : old) {
        if (part.fill || part.generated) {
            add(part);
            continue;
        }
        auto run = std::ranges::upper_bound(runs, part.offset, {}, &Run::offset) - 1;
        for (std::uint64_t at = part.offset; at < part.offset + part.bytes; ++run) {
            const std::uint64_t length = std::min(part.offset + part.bytes, run->offset + run->bytes) - at;
            if (run->held == Held::own) {
                add(kept.add(at, {reinterpret_cast<const char*>(region.original.data()) + at, length}));
                bytes += length;
            } else if (run->held == Held::generated) {
                add({.offset = at, .bytes = length, .generated = true});
            } else if (const auto period = period_of(run->held); period != 0) {
                Content part = kept.add(at, tile(region, at, std::min(length, period)));
                bytes += part.bytes;
                if (part.bytes < length) part.period = period;
                part.bytes = length;
                add(std::move(part));
            } else {
                add({.offset = at, .bytes = length, .fill = 0});
            }
            at += length;
        }
    }
}

std::uint64_t stored_bytes(const capture::Launch& launch) {
    std::uint64_t bytes = 0;
    for (const auto& buffer : *launch.buffers) bytes += buffer.omitted.empty() ? buffer.bytes : 0;
    return bytes;
}

/// Whether a name matches a regular expression; an empty one matches all.
class NameFilter {
public:
    explicit NameFilter(const std::string& text) : all_(text.empty()) {
        if (all_) return;
        const int result = regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB);
        if (result == 0) return;
        std::array<char, 200> reason{};
        regerror(result, &compiled_, reason.data(), reason.size());
        throw InputError(
            fmt::format("--kernel {}: {}; expected a POSIX extended regular expression", text, reason.data()));
    }
    ~NameFilter() {
        if (!all_) regfree(&compiled_);
    }
    NameFilter(const NameFilter&) = delete;
    NameFilter& operator=(const NameFilter&) = delete;
    [[nodiscard]] bool matches(const std::string& name) const {
        return all_ || regexec(&compiled_, name.c_str(), 0, nullptr, 0) == 0;
    }

private:
    bool all_;
    regex_t compiled_{};
};

class Reducer {
public:
    explicit Reducer(const ReduceOptions& options)
        : options_(options), filter_(options.kernels), from_(capture::load(options.in)), reader_(from_) {}

    [[nodiscard]] bool wants(std::uint64_t number) const {
        const auto& launch = from_.launches[number];
        if (!launch.kernel || !launch.buffers) return false;
        const bool listed =
            options_.launches.empty() || std::ranges::find(options_.launches, number) != options_.launches.end();
        return listed && filter_.matches(from_.kernels[static_cast<std::size_t>(launch.kernel->kernel)].name);
    }

    capture::Capture reduce(const std::filesystem::path& folder) {
        check_numbers();
        capture::make_folders(folder);
        capture::Capture to;
        to.version = options_.version;
        to.commit = options_.commit;
        to.date = options_.date;
        to.command = from_.command;
        to.exit_code = from_.exit_code;
        to.wall_seconds = from_.wall_seconds;
        to.gpus = from_.gpus;
        to.processes = from_.processes;
        for (std::uint64_t i = 0; i < from_.launches.size(); ++i) {
            if (!wants(i)) continue;
            capture::Launch launch = from_.launches[i];
            launch.after.clear();
            launch.kernel->kernel = kernel(launch.kernel->kernel, folder, to);
            reduce(from_.launches[i], launch);
            to.launches.push_back(std::move(launch));
        }
        if (to.launches.empty())
            throw InputError(
                fmt::format("{}: no launch of a kernel that was asked for has memory; expected one that "
                            "`capture --launches` chose",
                            options_.in.string()));
        kept_.write(folder, to);
        capture::write_index(folder, to);
        return to;
    }

private:
    void check_numbers() const {
        for (const auto number : options_.launches)
            if (number >= from_.launches.size())
                throw InputError(fmt::format("--launch {}: {} has {} launches, counted from 0", number,
                                             options_.in.string(), from_.launches.size()));
    }

    void reduce(const capture::Launch& incomplete, capture::Launch& to) {
        capture::Reduction& reduction = to.reduction.emplace();
        reduction.bytes = stored_bytes(incomplete);
        std::size_t missing = 0;
        const capture::Launch from = completed(incomplete, missing);
        try {
            LaunchReducer reducer(from_, from, Watch::Clock::now() + options_.time_limit);
            if (missing != 0) {
                const auto tried = reducer.try_other_contents();
                reduction.unproven = fmt::format("the contents of {} buffers were not captured; {}", missing, tried);
            }
            choose(reducer, reduction);
            to.buffers = from.buffers;
            for (const Region& region : reducer.regions()) {
                auto& buffer = (*to.buffers)[static_cast<std::size_t>(region.buffer - from.buffers->data())];
                write_content(buffer, region, kept_, reduction.kept);
            }
            for (auto& buffer : *to.buffers)
                if (buffer.space == "variable") keep_whole(buffer, reader_, kept_, reduction.kept);
            to.results.reset();
        } catch (const Error& error) {
            reduction.whole = error.what();
            reduction.kept = 0;
            reduction.unproven.clear();
            to.buffers = incomplete.buffers;
            for (auto* buffers : {&to.buffers, &to.results})
                if (*buffers)
                    for (auto& buffer : **buffers) keep_whole(buffer, reader_, kept_, reduction.kept);
        }
    }

    /// What a reduction of a launch starts from. Where contents are missing and that is allowed, generated numbers take
    /// their place.
    capture::Launch completed(const capture::Launch& from, std::size_t& missing) const {
        capture::Launch launch = from;
        if (!options_.unproven) return launch;
        for (auto& buffer : *launch.buffers) {
            if (buffer.omitted.empty() || buffer.space == "variable") continue;
            ++missing;
            buffer.omitted.clear();
            buffer.content = {{.bytes = buffer.bytes, .generated = true}};
        }
        return launch;
    }

    void choose(LaunchReducer& reducer, capture::Reduction& reduction) {
        try {
            reducer.choose();
            reduction.instructions = reducer.instructions();
            reduction.approximate = reducer.difference();
        } catch (const DeviceError& error) {
            if (!options_.unproven) throw;
            const bool executable = dynamic_cast<const TimeLimitError*>(&error) != nullptr;
            const auto tried = reducer.guess(executable, Watch::Clock::now() + options_.time_limit / 4);
            reduction.unproven += fmt::format("{}{}; {}", reduction.unproven.empty() ? "" : "; ", error.what(), tried);
            reduction.approximate = reducer.difference();
        }
    }

    /// The number in the new capture of a kernel of the old one.
    int kernel(int number, const std::filesystem::path& folder, capture::Capture& to) {
        const auto known = kernels_.find(number);
        if (known != kernels_.end()) return known->second;
        capture::Kernel kernel = from_.kernels[static_cast<std::size_t>(number)];
        if (kernel.module) {
            const auto& module = from_.modules[static_cast<std::size_t>(*kernel.module)];
            std::string code = capture::read_module(from_, module);
            if (module.format == "cubin" && code.size() > kLargeModule) code = pruned(code, kernel.name);
            kernel.module = capture::add_module(folder, to.modules, code, module.format);
        }
        to.kernels.push_back(std::move(kernel));
        return kernels_[number] = static_cast<int>(to.kernels.size()) - 1;
    }

    const ReduceOptions& options_;
    NameFilter filter_;
    capture::Capture from_;
    capture::MemoryReader reader_;
    Kept kept_;
    std::map<int, int> kernels_;
};

}  // namespace

capture::Capture reduce(const ReduceOptions& options) {
    Reducer reducer(options);
    capture::check_folder(options.out);
    const auto absolute = std::filesystem::absolute(options.out);
    const capture::TemporaryFolder fresh((absolute / ".new-XXXXXX").string());
    capture::Capture made = reducer.reduce(fresh.path());
    capture::replace_capture(fresh.path(), absolute);
    made.folder = absolute;
    return made;
}

}  // namespace gputomo::replay
