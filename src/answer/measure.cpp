#include "answer/measure.hpp"

#include "answer/measure_kernels.hpp"
#include "launch/waiting.hpp"
#include "sass/cubin.hpp"
#include "units/error.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

namespace gputomo::answer {
namespace {

/// Cycles of the kernel that waits until all launches of a repetition are in the queue. The host needs about 5 us for
/// each; with fewer cycles the launch would wait for the host, and its time would contain that.
constexpr std::uint64_t kDelayCycles = 100'000;
/// Bytes read to empty the L2, over its capacity. With fewer, lines stay where not the oldest is replaced, or where
/// parts of the L2 hold copies of each other's lines.
constexpr std::uint64_t kFlushFactor = 4;
/// Where the driver does not tell the capacity of the L2, in bytes.
constexpr std::uint64_t kAssumedL2 = std::uint64_t{64} << 20;
constexpr std::uint32_t kFlushThreads = 512, kFlushBlocksOfSm = 4;
/// Repetitions that are not counted: the first launch of a kernel also loads its code.
constexpr int kDropped = 1;
/// A second run on what the first one left executes the same if its time differs by less than this.
constexpr double kSameTime = 0.05, kSameCycles = 1000;
constexpr int kTrials = 3;
/// A run on what an earlier one left is taken for endless after this many times what the first run took, and a second
/// more. With less, a busy host would end runs that do end.
constexpr int kLongestRepeat = 20;
constexpr std::chrono::milliseconds kShortestLimit{1000};
/// Restored bytes over those of the L2 from which on they displace what a launch would find there.
constexpr double kManyRestored = 0.25;
/// Bytes of memory that are compared and restored together: smaller pieces take more copies, larger ones more bytes.
constexpr std::size_t kPiece = std::size_t{64} << 10;

template <class Sample>
double median_of(const std::vector<Sample>& samples, double Sample::*member) {
    std::vector<double> values;
    for (const auto& sample : samples) values.push_back(sample.*member);
    return median(std::move(values));
}

/// Returns the launch with buffers that keep their contents, because reading a capture again takes longer.
launch::Launch read_once(launch::Launch launch) {
    for (auto& buffer : launch.buffers) {
        if (!buffer.fill) continue;
        const auto content = std::make_shared<std::vector<std::byte>>();
        buffer.fill = [content, read = buffer.fill](std::span<std::byte> to) {
            if (content->empty()) {
                content->resize(to.size());
                read(*content);
            }
            std::ranges::copy(*content, to.begin());
        };
    }
    return launch;
}

std::size_t hash_of(std::span<const std::byte> bytes) {
    return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

/// The measuring kernels, with their launches and memory.
class Measurer::Kernels {
public:
    explicit Kernels(device::Device& gpu)
        : module_(gpu.load(measure_ptx(gpu.ptx_target()))),
          stamps_(gpu, Bytes{kStampBytes}),
          l2_bytes_(static_cast<std::uint64_t>(gpu.attribute(device::Attribute::l2_cache_bytes).value_or(0))),
          sms_(static_cast<std::uint32_t>(gpu.attribute(device::Attribute::multiprocessor_count).value_or(1))) {
        if (l2_bytes_ == 0) l2_bytes_ = kAssumedL2;
        delay_.arguments.add(stamps_.address()).add(kDelayCycles);
        first_.arguments.add(stamps_.address() + 2 * sizeof(Stamp));
        second_.arguments.add(stamps_.address() + 3 * sizeof(Stamp));
        code_.grid = {sms_};
        code_.arguments.add(stamps_.address() + 4 * sizeof(Stamp));
    }

    [[nodiscard]] std::uint64_t l2_bytes() const { return l2_bytes_; }
    [[nodiscard]] device::QueuedLaunch delay() { return queued("delay", delay_); }
    [[nodiscard]] device::QueuedLaunch first_stamp() { return queued("stamp", first_); }
    [[nodiscard]] device::QueuedLaunch second_stamp() { return queued("stamp", second_); }
    [[nodiscard]] device::QueuedLaunch code() { return queued("code", code_); }
    [[nodiscard]] device::QueuedLaunch empty() { return queued("empty", empty_); }
    [[nodiscard]] device::QueuedLaunch flush(device::Device& gpu) {
        if (flushed_.size() == Bytes{0}) {
            const std::uint64_t bytes = kFlushFactor * l2_bytes_;
            flushed_ = device::Buffer(gpu, Bytes(static_cast<std::int64_t>(bytes)));
            gpu.fill_u32(flushed_.address(), 0, bytes / sizeof(std::uint32_t));
            const std::uint64_t step = kFlushLoad * kFlushThreads * kFlushBlocksOfSm * sms_;
            flush_.grid = {sms_ * kFlushBlocksOfSm};
            flush_.block = {kFlushThreads};
            flush_.arguments.add(flushed_.address()).add(flushed_.address() + bytes);
            flush_.arguments.add(stamps_.address() + 4 * sizeof(Stamp)).add(step);
        }
        return queued("flush", flush_);
    }
    /// Start and end of the delay, then the two stamps.
    [[nodiscard]] std::array<Stamp, 4> stamps() const {
        const auto words = stamps_.read<std::uint64_t>(4 * sizeof(Stamp) / sizeof(std::uint64_t));
        std::array<Stamp, 4> stamps{};
        for (std::size_t i = 0; i < stamps.size(); ++i) stamps[i] = {words[3 * i], words[3 * i + 1], words[3 * i + 2]};
        return stamps;
    }

private:
    static constexpr std::int64_t kStampBytes = 5 * sizeof(Stamp);
    device::QueuedLaunch queued(std::string_view name, const device::Launch& launch) {
        return {.kernel = &module_->kernel(name), .launch = &launch};
    }

    std::unique_ptr<device::Module> module_;
    device::Buffer stamps_, flushed_;
    std::uint64_t l2_bytes_;
    std::uint32_t sms_;
    device::Launch delay_, first_, second_, code_, empty_, flush_;
};

Measurer::Measurer(device::Device& gpu, const MeasureRequest& request)
    : gpu_(gpu), request_(request), kernels_(std::make_unique<Kernels>(gpu)), limit_(request.time_limit) {
    if (request_.cold) cold_overhead_ = overhead_of(State::cold);
    if (request_.warm) warm_overhead_ = overhead_of(State::warm);
}

Measurer::~Measurer() = default;

Measurer::Sample Measurer::sample(State state, const device::QueuedLaunch& kernel, bool fills_caches) {
    std::vector<device::QueuedLaunch> sequence;
    if (state == State::cold) {
        sequence.push_back(kernels_->flush(gpu_));
        sequence.push_back(kernels_->code());
    }
    sequence.push_back(kernels_->delay());
    if (fills_caches && kernel.kernel != nullptr) sequence.push_back(kernel);
    sequence.push_back(kernels_->first_stamp());
    if (kernel.kernel != nullptr) {
        sequence.push_back(kernel);
        sequence.back().timed = false;
    }
    sequence.push_back(kernels_->second_stamp());
    (void)gpu_.run(sequence, limit_);
    const auto [start, end, before, after] = kernels_->stamps();
    Sample sample;
    const auto elapsed = [](std::uint64_t from, std::uint64_t to) { return static_cast<double>(to - from); };
    if (end.nanoseconds > start.nanoseconds)
        sample.sm_mhz = 1e3 * elapsed(start.cycles, end.cycles) / elapsed(start.nanoseconds, end.nanoseconds);
    sample.nanoseconds = elapsed(before.nanoseconds, after.nanoseconds);
    sample.cycles =
        before.sm == after.sm ? elapsed(before.cycles, after.cycles) : sample.nanoseconds * sample.sm_mhz / 1e3;
    return sample;
}

MeasuredOverhead Measurer::overhead_of(State state) {
    std::vector<double> with, without, events;
    for (int i = -kDropped; i < std::max(request_.repetitions, kTrials); ++i) {
        const auto empty = sample(state, kernels_->empty(), state == State::warm);
        const auto nothing = sample(state, {}, false);
        auto timed = kernels_->empty();
        timed.timed = true;
        const std::array sequence{kernels_->delay(), timed};
        const auto event = gpu_.run(sequence, limit_);
        if (i < 0) continue;
        with.push_back(empty.cycles);
        without.push_back(nothing.cycles);
        events.push_back(event.front().count() / 1e3);
    }
    return {.cycles = median(with), .nothing_cycles = median(without), .event_microseconds = median(events)};
}

void Measurer::restore() {
    for (const Change& change : changes_) placed_->write(change.buffer, change.offset, change.before);
}

std::vector<Measurer::Sample> Measurer::samples(State state, const launch::PlacedLaunch& placed, bool restores,
                                                int count) {
    std::vector<Sample> all;
    for (int i = -kDropped; i < count; ++i) {
        if (restores) restore();
        if (state == State::warm && restores) {
            (void)gpu_.run(std::array{placed.queued()}, limit_);
            restore();
        }
        auto one = sample(state, placed.queued(), state == State::warm && !restores);
        if (restores) restore();
        auto timed = placed.queued();
        timed.timed = true;
        std::vector<device::QueuedLaunch> sequence;
        if (state == State::cold) sequence = {kernels_->flush(gpu_), kernels_->code()};
        sequence.push_back(kernels_->delay());
        sequence.push_back(timed);
        one.event_nanoseconds = gpu_.run(sequence, limit_).front().count();
        if (i >= 0) all.push_back(one);
    }
    return all;
}

MeasuredTime Measurer::time_of(const std::vector<Sample>& samples, const MeasuredOverhead& overhead) const {
    const auto beyond = [&](double cycles) { return std::max(0.0, cycles - overhead.cycles); };
    MeasuredTime time{.repetitions = static_cast<int>(samples.size()),
                      .cycles = beyond(median_of(samples, &Sample::cycles)),
                      .event_microseconds = median_of(samples, &Sample::event_nanoseconds) / 1e3,
                      .sm_mhz = median_of(samples, &Sample::sm_mhz)};
    const auto [lowest, highest] = std::ranges::minmax(samples, {}, &Sample::cycles);
    time.lowest_cycles = beyond(lowest.cycles);
    time.highest_cycles = beyond(highest.cycles);
    if (time.sm_mhz > 0) time.microseconds = time.cycles / time.sm_mhz;
    return time;
}

void Measurer::run_once() { (void)gpu_.run(std::array{placed_->queued()}, limit_); }

bool Measurer::reads_what_it_changes(const launch::Launch& launch) {
    if (changed_.empty()) return false;
    const auto hashes = [&] {
        std::vector<std::size_t> all;
        for (const std::size_t buffer : changed_) all.push_back(hash_of(placed_->content(buffer)));
        return all;
    };
    const auto first = hashes();
    double again = 0;
    try {
        run_once();
        // A second run that changes what the first one left as it was does something else, too.
        const std::size_t known = changed_pieces_.size();
        const bool differs = hashes() != first;
        find_changes(launch);
        if (differs || changed_pieces_.size() > known) return true;
        again = median_of(samples(State::warm, *placed_, false, kTrials), &Sample::cycles);
    } catch (const TimeLimitError& e) {
        throw RepeatedRunError(e.what());
    }
    limit_ = request_.time_limit;
    // The results may be the same although less was done, as where work is marked as done.
    const double anew = median_of(samples(State::warm, *placed_, true, kTrials), &Sample::cycles);
    return std::abs(again - anew) > std::max(kSameCycles, kSameTime * anew);
}

void Measurer::check(const launch::Launch& launch) const {
    if (gpu_.simulated()) return;
    if (sass::is_cubin(launch.code)) {
        const auto code = sass::Cubin(std::as_bytes(std::span(launch.code))).sm();
        const int sm = gpu_.ptx_target().sm;
        if (code && (*code / 10 != sm / 10 || *code > sm))
            throw InputError(
                fmt::format("kernel '{}' has machine code for sm_{}, and {} executes that of sm_{}; "
                            "expected a capture that was made on such a GPU",
                            launch.kernel, *code, gpu_.name(), sm));
    }
    for (const auto& texture : launch.textures)
        for (const auto& argument : launch.arguments)
            for (std::size_t at = 0; at + sizeof texture.handle <= argument.bytes.size(); at += sizeof texture.handle)
                if (std::memcmp(argument.bytes.data() + at, &texture.handle, sizeof texture.handle) == 0)
                    throw InputError(fmt::format(
                        "kernel '{}' reads the texture object {:#x}, and texture objects are not restored on a GPU; "
                        "use `gputomo simulate`",
                        launch.kernel, texture.handle));
}

void Measurer::find_changes(const launch::Launch& launch) {
    changes_.clear();
    changed_.clear();
    for (std::size_t i = 0; i < launch.buffers.size(); ++i) {
        if (!placed_->is_there(i)) continue;
        std::vector<std::byte> before(launch.buffers[i].bytes);
        placed_->read(launch.buffers[i], before);
        const auto after = placed_->content(i);
        const std::size_t known = changes_.size();
        for (std::size_t at = 0; at < before.size(); at += kPiece) {
            const auto piece = std::span(before).subspan(at, std::min(kPiece, before.size() - at));
            if (std::memcmp(piece.data(), after.data() + at, piece.size()) != 0) changed_pieces_.emplace(i, at);
            if (!changed_pieces_.contains({i, at})) continue;
            if (changes_.size() > known && changes_.back().offset + changes_.back().before.size() == at)
                changes_.back().before.insert(changes_.back().before.end(), piece.begin(), piece.end());
            else
                changes_.push_back({i, at, {piece.begin(), piece.end()}});
        }
        if (changes_.size() > known) changed_.push_back(i);
    }
}

Measurement Measurer::measure(const launch::Launch& given, Restoring restoring) {
    const launch::Launch launch = read_once(given);
    if (request_.compares_results && !launch.results)
        throw InputError(
            fmt::format("the launch of '{}' has no results to compare with; capture it with --results", launch.kernel));
    check(launch);
    launch::PlacedLaunch placed(gpu_, launch);
    placed_ = &placed;
    Measurement made;
    made.launch = {launch.kernel, launch.grid, launch.block, launch.dynamic_shared};
    made.moved_buffers = placed.moved().buffers;
    made.moved_pointers = placed.moved().pointers;
    limit_ = request_.time_limit;
    const auto begin = std::chrono::steady_clock::now();
    run_once();
    const auto first = std::chrono::steady_clock::now() - begin;
    if (request_.compares_results) made.differences = placed.compare(*launch.results);
    changed_pieces_.clear();
    find_changes(launch);
    if (restoring == Restoring::always || launch::may_wait_for_memory(launch)) {
        made.restored = !changed_.empty();
    } else {
        limit_ =
            std::min(limit_, std::chrono::ceil<std::chrono::milliseconds>(first * kLongestRepeat) + kShortestLimit);
        made.restored = reads_what_it_changes(launch);
        limit_ = request_.time_limit;
    }
    double changed_bytes = 0;
    for (const Change& change : changes_) changed_bytes += static_cast<double>(change.before.size());
    made.changed_buffers = changed_.size();
    if (made.restored && request_.warm && changed_bytes > kManyRestored * static_cast<double>(kernels_->l2_bytes()))
        made.warnings.push_back(
            fmt::format("{:.3g} bytes that the launch changes and reads are restored before each repetition, which "
                        "displaces other data in the L2: the warm time may be too long",
                        changed_bytes));
    if (!launch.not_proven.empty())
        made.warnings.push_back("the reduction of the capture may have changed the launch: " + launch.not_proven);
    if (request_.cold)
        made.cold = time_of(samples(State::cold, placed, made.restored, request_.repetitions), *cold_overhead_);
    if (request_.warm)
        made.warm = time_of(samples(State::warm, placed, made.restored, request_.repetitions), *warm_overhead_);
    made.state = gpu_.clock_state();
    for (const auto& reason : made.state.throttle_reasons.value_or(std::vector<std::string>{}))
        if (reason != "idle")
            made.warnings.push_back(fmt::format("the clocks were held down while the launch ran: {}", reason));
    placed_ = nullptr;
    return made;
}

}  // namespace gputomo::answer
