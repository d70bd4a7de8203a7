#include "measure/code_fetch/instruction_chase.hpp"

#include "measure/code_fetch/fetch_steps.hpp"
#include "measure/kernel/device_facts.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace gputomo::measure {

using namespace code_chase;

namespace {

/// Shared memory that GPUs allow a block without opting in, and what the system takes of it.
constexpr std::int64_t kMostShared = 48 * 1024, kSharedLeftFree = 1024;
/// Largest grid in blocks for each SM that is tried until a block reaches the wanted SM.
constexpr std::uint32_t kMostBlocksPerSm = 16;
/// Size of the first constant cache if it is unknown. It holds the jump table; the rest is for kernel parameters.
constexpr std::uint64_t kUsualConstants = 2048;
/// Share of that cache for the jump table.
constexpr double kTableShare = 0.875;
/// Fewest records that shared memory must hold beside the access sequence.
constexpr std::uint32_t kLeastRecords = 256;
/// Visits of the calibration run: an error of two cycles in reading the clock then adds less than a hundredth to
/// each.
constexpr std::uint32_t kCalibrationVisits = 256;

/// The step of a dense sequence, one that goes on in equal steps of at most a line. A dense sequence is visited in
/// another order, so that instruction prefetching does not hide misses. Other sequences have step 0.
std::uint64_t dense_step(const std::vector<std::uint64_t>& offsets) {
    if (offsets.size() < 2 || offsets.front() != 0) return 0;
    const std::uint64_t step = offsets[1];
    if (step > kAlignment) return 0;
    for (std::size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] != offsets[i - 1] + step) return 0;
    return step;
}

}  // namespace

InstructionChase::InstructionChase(const Run& run, std::uint32_t slots, std::optional<double> constant_cache)
    : InstructionChase(run, slots, constant_cache, kernel_of(run.device, slots)) {}

void InstructionChase::compile_ahead(device::Device& device, std::uint32_t slots) {
    device.compile_ahead(kernel_of(device, slots).text());
}

InstructionChase::InstructionChase(const Run& run, std::uint32_t slots, std::optional<double> constant_cache,
                                   const ptx::KernelBuilder& kernel)
    : run_(run),
      slots_(slots),
      constant_cache_(constant_cache),
      instruction_bytes_(bytes_of_instruction(run.device)),
      kernel_(run.device, kernel),
      sms_(sms_of(run.device)) {
    const auto layout = layout_in(kernel_, kernel, slots);
    contiguous_ = layout && !layout->apart() && layout->first_slot - layout->dispatcher == kHead / instruction_bytes_;
    if (layout) {
        const std::size_t begin = layout->dispatcher / kSlotInstructions,
                          end = (layout->dispatcher + layout->length - 1) / kSlotInstructions + 1;
        dispatcher_bytes_ = (end - begin) * slot_bytes();
    }
    const auto shared =
        std::min(kMostShared, run.device.attribute(device::Attribute::max_shared_memory_per_block).value_or(16384)) -
        kSharedLeftFree;
    words_ = static_cast<std::uint32_t>(shared / 4);
    order_ = device::Buffer(run.device, Bytes{std::int64_t{4} * words_});
    results_ = device::Buffer(
        run.device, Bytes{kHeaderBytes + 4 * std::int64_t{words_}});  // of one block, or of two with half of it each
    calibrate();
}

void InstructionChase::calibrate() {
    const auto readings = run({0, 1}, kCalibrationVisits, kCalibrationVisits, std::nullopt);
    base_ = mean_near_median(readings, std::max(1.0, run_.clock_step));
}

std::vector<double> InstructionChase::run(const std::vector<std::uint32_t>& order, std::uint64_t warm,
                                          std::uint64_t visits, std::optional<std::uint32_t> sm) {
    std::vector<double> cycles;
    const auto count = static_cast<std::uint32_t>(order.size());
    if (count + kLeastRecords > words_)
        throw DeviceError(fmt::format("{}: a sequence of {} visits does not fit shared memory of {} words",
                                      kernel_.name(), count, words_));
    const std::uint32_t most = words_ - count - 2;
    order_.write(order);
    while (cycles.size() < visits) {
        // Every launch begins a pass: the loads before its records leave the caches as they were.
        const std::uint64_t phase = cycles.size() % count;
        const auto before = static_cast<std::uint32_t>((warm + count - 1) / count * count + phase);
        const auto recorded = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, visits - cycles.size()));
        device::Arguments arguments;
        arguments.add(order_.address())
            .add(count)
            .add(before)
            .add(recorded)
            .add(sm.value_or(kAnySm))
            .add(results_.address())
            .add(constants_)
            .add(kNoSm);
        arguments.add(std::uint32_t{0});
        run_.device.fill_u32(results_.address(), 0, 1);
        for (std::uint32_t blocks = sm ? sms_ : 1;
             results_.read<std::uint32_t>(1).front() == 0 && blocks <= kMostBlocksPerSm * sms_; blocks *= 4)
            kernel_.launch({blocks}, {1}, arguments, Bytes{4 * std::int64_t{words_}});
        const auto words = results_.read<std::uint32_t>(kHeaderBytes / 4 + recorded + 1);
        if (words.front() == 0) return {};
        for (std::uint32_t i = 0; i < recorded; ++i)
            cycles.push_back(words[kHeaderBytes / 4 + i + 1] - words[kHeaderBytes / 4 + i]);
    }
    return cycles;
}

InstructionChase::Sequence InstructionChase::sequence_of(const std::vector<std::uint64_t>& offsets,
                                                         std::uint64_t head) const {
    const std::uint64_t step = dense_step(offsets);
    // The dispatcher takes part in a run through all of the code. Other sequences are moved out of its way.
    const std::uint64_t shift = step != 0 ? 0 : head;
    Sequence sequence{.size = offsets.size()};
    for (std::size_t i = 0; i < offsets.size(); ++i)
        if (offsets[i] + shift >= head) sequence.positions.push_back(i);
    std::mt19937 random(1);
    if (step != 0) std::shuffle(sequence.positions.begin(), sequence.positions.end(), random);
    for (const auto position : sequence.positions)
        sequence.order.push_back(
            entry_of(static_cast<std::uint32_t>((offsets[position] + shift - head) / slot_bytes()) % slots_, slots_));
    return sequence;
}

std::vector<double> InstructionChase::latencies(const Sequence& sequence, std::uint64_t warm, std::uint64_t loads,
                                                std::optional<std::uint32_t> sm) {
    run_.progress(fraction_, what_);
    const std::uint64_t passes = (loads + sequence.size - 1) / sequence.size,
                        warm_passes = (warm + sequence.size - 1) / sequence.size, length = sequence.order.size();
    std::vector<double> latencies(passes * sequence.size, 0.0);
    if (sequence.order.empty()) return latencies;
    const auto cycles = run(sequence.order, warm_passes * length, passes * length, sm);
    if (cycles.empty()) return {};
    for (std::size_t i = 0; i < cycles.size(); ++i)
        if (i % length < sequence.positions.size())
            latencies[i / length * sequence.size + sequence.positions[i % length]] = cycles[i] - base_;
    return latencies;
}

std::vector<double> InstructionChase::latencies(const std::vector<std::uint64_t>& offsets, std::uint64_t warm,
                                                std::uint64_t loads, std::optional<std::uint32_t> sm) {
    return latencies(sequence_of(offsets, 0), warm, loads, sm);
}

std::vector<double> InstructionChase::latencies_beside_constants(const std::vector<std::uint64_t>& offsets,
                                                                 std::uint32_t constants, std::uint64_t passes) {
    auto sequence = sequence_of(offsets, 0);
    sequence.order.push_back(entries_of(slots_) + kConstantsEntry);
    constants_ = constants;
    auto found = latencies(sequence, 2 * sequence.size, passes * sequence.size, std::nullopt);
    constants_ = 0;
    return found;
}

std::optional<InstructionChase::InterferedRun> InstructionChase::run_with_rival(const Interference& interference) {
    run_.progress(fraction_, what_);
    const auto mine = sequence_of(interference.own, 0).order, theirs = sequence_of(interference.rivals, 0).order;
    const std::uint32_t meeting = entries_of(slots_) + kMeetingEntry;
    const auto append = [](std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    std::vector<std::uint32_t> own, rivals{meeting};
    for (int pass = 0; pass < 2; ++pass) append(own, mine);
    append(own, {meeting, meeting});
    const std::size_t first = own.size();
    append(own, mine);
    for (std::uint32_t pass = 0; pass < interference.passes; ++pass) append(rivals, theirs);
    rivals.push_back(meeting);
    // The shorter one continues by visiting one slot again and again.
    const auto longest = std::max(own.size(), rivals.size());
    own.resize(longest, mine.back());
    rivals.resize(longest, theirs.back());
    auto competed = run_both(own, rivals, interference);
    if (!competed) return std::nullopt;
    std::vector<double> cycles;
    for (std::size_t i = first; i < first + mine.size(); ++i) cycles.push_back(competed->latencies[i] - base_);
    competed->latencies = std::move(cycles);
    return competed;
}

std::optional<InstructionChase::InterferedRun> InstructionChase::run_both(const std::vector<std::uint32_t>& own,
                                                                          const std::vector<std::uint32_t>& rivals,
                                                                          const Interference& interference) {
    const auto count = static_cast<std::uint32_t>(own.size());
    if (count > most_interfering_visits()) return std::nullopt;  // two blocks of an SM do not fit that
    auto both = own;
    both.insert(both.end(), rivals.begin(), rivals.end());
    order_.write(both);
    device::Arguments arguments;
    arguments.add(order_.address())
        .add(count)
        .add(std::uint32_t{0})
        .add(count)
        .add(interference.sm)
        .add(results_.address())
        .add(std::uint32_t{0});
    arguments.add(interference.rival).add(interference.rival_warp * kWarp);
    const std::uint32_t threads = (interference.warps - 1) * kWarp + 1;
    for (const std::uint32_t blocks : {2U, 8U, kMostBlocksPerSm}) {
        run_.device.fill_u32(results_.address(), 0, kHeaderBytes / 4);
        kernel_.launch({blocks * sms_}, {threads}, arguments, Bytes{4 * std::int64_t{2 * count + 2}});
        const auto words = results_.read<std::uint32_t>(kHeaderBytes / 4 + count + 1);
        if (words[0] == 0 || words[kRivalClaim / 4] == 0) continue;
        InterferedRun competed{.slot = words[kWarpSlot / 4], .rivals_slot = words[kRivalsSlot / 4]};
        for (std::uint32_t i = 0; i < count; ++i)
            competed.latencies.push_back(words[kHeaderBytes / 4 + i + 1] - words[kHeaderBytes / 4 + i]);
        return competed;
    }
    return std::nullopt;
}

std::uint64_t InstructionChase::most_visits() const {
    const double constants = constant_cache_.value_or(kUsualConstants);
    return visits_of_lines(static_cast<std::uint64_t>(kTableShare * constants) / kTableLine);
}

deduce::ChaseTrace InstructionChase::answer(const deduce::ChaseRequest& request, std::uint64_t head) {
    return {latencies(sequence_of(request.offsets, head), request.warm_passes * request.offsets.size(),
                      request.recorded_passes * request.offsets.size(), std::nullopt)};
}

deduce::Chase InstructionChase::chase() {
    return [this](const deduce::ChaseRequest& request) { return answer(request, contiguous_ ? kHead : 0); };
}

deduce::Chase InstructionChase::chase_beyond_first() {
    return [this](const deduce::ChaseRequest& request) { return answer(request, 0); };
}

}  // namespace gputomo::measure
