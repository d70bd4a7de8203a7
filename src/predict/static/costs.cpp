#include "predict/static/costs.hpp"

#include "costs/dram_writes.hpp"
#include "costs/issue_slots.hpp"
#include "machine/cache_scope.hpp"
#include "machine/relatives.hpp"
#include "predict/static/lane_accesses.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>

namespace gputomo::predict {
namespace {

constexpr double kLineBytes = 128;   ///< the most that one transaction moves
constexpr double kSectorBytes = 32;  ///< the least, unless the description has transaction sizes

/// Prefixes of the mnemonics that special function units execute.
constexpr std::array<std::string_view, 8> kSpecial{"rsqrt", "rcp", "sqrt", "sin", "cos", "lg2", "ex2", "tanh"};

Resource resource_of(const std::string& operation) {
    if (operation.find("f64") != std::string::npos) return Resource::double_precision;
    const bool special =
        std::any_of(kSpecial.begin(), kSpecial.end(), [&](auto name) { return operation.starts_with(name); });
    return special ? Resource::sfu : Resource::cores;
}

/// Addresses of `lanes` threads, `stride` bytes apart in either direction.
std::vector<std::int64_t> strided(std::int64_t lanes, std::int64_t stride) {
    std::vector<std::int64_t> addresses;
    for (std::int64_t lane = 0; lane < lanes; ++lane) addresses.push_back(std::abs(stride) * lane);
    return addresses;
}

double slots_among_others(const machine::Machine& machine, double slots) {
    return costs::slots_beside_others(slots, costs::register_file_of(machine));
}

/// Hit latency of the first cache on the path that belongs to an SM, or to the whole GPU. nullptr if none is described.
const machine::Integer* hit(const machine::Machine& machine, bool whole_gpu) {
    const machine::Cache* const cache =
        whole_gpu ? machine::shared_cache(machine, "global") : machine::near_cache(machine, "global");
    return cache == nullptr || !cache->latency ? nullptr : &cache->latency;
}

double hit_latency(const machine::Machine& machine, bool whole_gpu) {
    const auto* latency = hit(machine, whole_gpu);
    return latency == nullptr ? 0 : static_cast<double>(**latency);
}

double hit_spread(const machine::Machine& machine, bool whole_gpu) {
    const auto* latency = hit(machine, whole_gpu);
    return latency == nullptr ? 0 : hit_latency(machine, whole_gpu) * models::spread_of_single_loads(*latency);
}

}  // namespace

std::string_view name_of(Resource resource) {
    constexpr std::string_view kNames[] = {"CUDA cores", "SFU units", "double precision units", "shared memory banks",
                                           "memory system"};
    return kNames[static_cast<std::size_t>(resource)];
}

Costs::Costs(const machine::Machine& machine, const AccessChoices& choices, std::string_view origin)
    : machine_(machine),
      choices_(choices),
      origin_(origin),
      parameters_(models::parameters_of(machine, models::Access::global, origin)) {
    const auto check = [](double rate, std::string_view option) {
        if (!(rate >= 0 && rate <= 1)) throw InputError(fmt::format("{} {}: expected 0 to 1", option, rate));
    };
    check(choices.l1_hit_rate, "--l1-hit");
    check(choices.l2_hit_rate, "--l2-hit");
    if (choices.l1_hit_rate > 0 && hit_latency(machine, false) == 0)
        throw InputError(
            fmt::format("--l1-hit {}: {} describes no cache of the SM with a latency on paths.global; expected 0",
                        choices.l1_hit_rate, origin));
    if (choices.l2_hit_rate > 0 && hit_latency(machine, true) == 0)
        throw InputError(
            fmt::format("--l2-hit {}: {} describes no cache of the GPU with a latency on paths.global; expected 0",
                        choices.l2_hit_rate, origin));
    if (choices.l1_hit_rate == 0 && choices.l2_hit_rate == 0)
        assumptions_.insert("no access hits in a cache (--l1-hit, --l2-hit)");
}

double Costs::barrier_latency() const { return static_cast<double>(machine_.issue.barrier_latency.value_or(0)); }

double Costs::branch_latency(bool taken) const {
    return static_cast<double>(
        (taken ? machine_.issue.branch_latency_taken : machine_.issue.branch_latency_untaken).value_or(0));
}

double Costs::block_replacement() const { return static_cast<double>(machine_.launch.block_replacement.value_or(0)); }
double Costs::start_cycles(int warps_of_block) const {
    const auto& launch = machine_.launch;
    const double by_blocks =
        warps_of_block > 0 ? launch.block_interval.value_or(0) * parameters_.sms / warps_of_block : 0;
    return std::max(by_blocks, launch.warp_interval.value_or(0));
}

std::int64_t Costs::shared_allocated(std::int64_t asked) const {
    const auto unit = std::max<std::int64_t>(1, machine_.shared.allocation_unit.value_or(1));
    return (asked + machine_.shared.block_overhead.value_or(0) + unit - 1) / unit * unit;
}

double Costs::write_delay() const { return machine_.memory.write_delay.value_or(0); }

bool Costs::dual_issue() const { return machine_.issue.dual_issue.value_or(1) > 1; }
std::int64_t Costs::max_outstanding_loads() const { return machine_.issue.scoreboard_loads.value_or(0); }

Cost Costs::of(const Instruction& instruction, double memory_latency) {
    if (instruction.kind == Kind::free) return {};
    if (!instruction.access || instruction.access->space == MemorySpace::constant) return arithmetic(instruction);
    return instruction.access->space == MemorySpace::shared ? shared(instruction) : global(instruction, memory_latency);
}

Cost Costs::arithmetic(const Instruction& instruction) {
    Resource resource = resource_of(instruction.operation);
    const auto* row = machine::nearest_operation(machine_, instruction.operation);
    // A scan may describe pipelines without operations.
    const auto latency = row == nullptr ? std::nullopt : models::middle(row->second.latency);
    if (!latency || !row->second.throughput) {
        const auto unit = machine_.pipelines.find(resource == Resource::sfu                ? "sfu"
                                                  : resource == Resource::double_precision ? "dpu"
                                                                                           : "sp");
        if (unit == machine_.pipelines.end() || !unit->second.latency || !unit->second.lanes)
            throw InputError(
                fmt::format("{}: operations[{}]: missing, and no relative or pipeline is described; expected latency "
                            "and throughput",
                            origin_, instruction.operation));
        return {.latency = static_cast<double>(*unit->second.latency),
                .resource = resource,
                .cycles = kWarpSize / *unit->second.lanes,
                .worksheet_row = instruction.operation};
    }
    if (resource_of(row->first) != resource) {
        assumptions_.insert(
            fmt::format("'{}' costs as much as {}, the most similar operation in the machine description",
                        instruction.operation, row->first));
        resource = resource_of(row->first);
    }
    // Each further machine instruction is issued once more, and a special function may take more than one slot.
    const double slots = resource == Resource::sfu ? unit_slots("sfu") : 1;
    const double reissues = models::middle(row->second.instructions).value_or(1) + slots - 2;
    return {.latency = *latency,
            .resource = resource,
            .cycles = kWarpSize / *row->second.throughput,
            .reissues = reissues,
            .worksheet_row = row->first};
}

double Costs::unit_slots(const std::string& unit) const {
    const auto found = machine_.pipelines.find(unit);
    return found == machine_.pipelines.end() ? 1 : slots_among_others(machine_, found->second.issue_slots.value_or(1));
}

/// Bytes that one miss of the last cache on the path fetches from memory, which may be more than a sector.
double Costs::filled_by_memory() const {
    const auto names = machine::caches_on(machine_, "global");
    if (names.empty()) return 0;
    const auto cache = machine_.caches.find(names.back());
    return cache == machine_.caches.end() ? 0
                                          : std::min(kLineBytes, static_cast<double>(cache->second.sector.value_or(0)));
}

Costs::Footprint Costs::footprint(const Instruction& instruction) {
    const Access& access = *instruction.access;
    double sector = std::max(kSectorBytes, filled_by_memory());
    if (machine_.memory.transaction_sizes && !machine_.memory.transaction_sizes.value.empty())
        sector = static_cast<double>(*std::min_element(machine_.memory.transaction_sizes.value.begin(),
                                                       machine_.memory.transaction_sizes.value.end()));
    if (const auto given = choices_.transactions.find(instruction.line); given != choices_.transactions.end()) {
        if (!(given->second >= 1 && given->second <= kWarpSize))
            throw InputError(fmt::format("--transactions {}={}: expected 1 to 32", given->first, given->second));
        // Without described transaction sizes, a scattered access takes as long as a whole DRAM fetch (Volkov
        // 2016, 6.7).
        const double read =
            machine_.memory.transaction_sizes ? 0 : models::middle(machine_.memory.fetch_bytes).value_or(0);
        const double least = std::min(kLineBytes, std::max(sector, read));
        return {given->second, given->second * std::clamp(access.bytes * kWarpSize / given->second, least, kLineBytes)};
    }
    if (!access.stride)
        assumptions_.insert(fmt::format("the access in line {} is coalesced (--transactions {}=N)", instruction.line,
                                        instruction.line));
    const std::int64_t stride = access.stride.value_or(access.bytes);
    const auto addresses = strided(kWarpSize, stride);
    const auto touched = [&](double block) {
        return static_cast<double>(blocks_touched(addresses, access.bytes, static_cast<std::int64_t>(block)).size());
    };
    return {touched(kLineBytes), sector * touched(sector)};
}

double Costs::served_latency(double memory_latency) const {
    const double far = choices_.l2_hit_rate * hit_latency(machine_, true) + (1 - choices_.l2_hit_rate) * memory_latency;
    return choices_.l1_hit_rate * hit_latency(machine_, false) + (1 - choices_.l1_hit_rate) * far;
}

double Costs::served_spread(double memory_latency) const {
    const double near = choices_.l2_hit_rate * hit_spread(machine_, true);
    return (1 - choices_.l1_hit_rate) *
           (near + (1 - choices_.l2_hit_rate) * memory_latency * parameters_.latency_spread);
}

Cost Costs::global(const Instruction& instruction, double memory_latency) {
    const Access& access = *instruction.access;
    const Footprint touched = footprint(instruction);
    const double missed = (access.load ? 1 - choices_.l1_hit_rate : 1) * (1 - choices_.l2_hit_rate);
    const double bytes_per_cycle = parameters_.memory.throughput * parameters_.access_bytes;
    const auto path = machine_.paths.find("global");
    const double further = path == machine_.paths.end() ? 0 : path->second.transaction_cost.value_or(0);
    // A wide coalesced access takes several transactions too, but they are no divergence.
    const double least = std::max(1.0, access.bytes * kWarpSize / kLineBytes);
    const double diverging = std::max(0.0, touched.transactions - least);
    const std::string what = access.space == MemorySpace::local ? "local" : access.load ? "loads" : "stores";
    return {
        .latency = access.load ? served_latency(memory_latency) + diverging * further : 0,
        .spread = access.load ? served_spread(memory_latency) : 0,
        .resource = Resource::memory,
        .cycles = touched.bytes * missed / bytes_per_cycle * (access.load ? 1 : costs::write_cost(machine_.memory)),
        .reissues =
            diverging +
            (path == machine_.paths.end() ? 1 : slots_among_others(machine_, path->second.issue_slots.value_or(1))) - 1,
        .bytes = touched.bytes * missed,
        .lines =
            access.load && access.space == MemorySpace::global ? touched.transactions * (1 - choices_.l1_hit_rate) : 0,
        .scattered = diverging > 0,
        .worksheet_row =
            fmt::format("{} of {:.0f} bytes in {:.3g} transactions", what, touched.bytes, touched.transactions)};
}

double Costs::conflict_ways(const Instruction& instruction) {
    const auto banks = machine_.shared.banks.value_or(kWarpSize);
    if (const auto given = choices_.ways.find(instruction.line); given != choices_.ways.end()) {
        if (!(given->second >= 1 && given->second <= static_cast<double>(banks)))
            throw InputError(fmt::format("--ways {}={}: expected 1 to {}", given->first, given->second, banks));
        return given->second;
    }
    const Access& access = *instruction.access;
    if (!access.stride)
        assumptions_.insert(fmt::format("the shared memory access in line {} has no bank conflicts (--ways {}=N)",
                                        instruction.line, instruction.line));
    const std::int64_t width = machine_.shared.bank_width.value_or(4);
    const std::int64_t stride = std::abs(access.stride.value_or(access.bytes));
    const auto group = machine_.shared.access_group.value_or(kWarpSize) * std::min<std::int64_t>(4, access.bytes) /
                       std::max(1, access.bytes);  // wide accesses go in parts
    return static_cast<double>(
        predict::conflict_ways(strided(std::max<std::int64_t>(1, group), stride), access.bytes, banks, width));
}

Cost Costs::shared(const Instruction& instruction) {
    if (!machine_.shared.latency || !machine_.shared.bytes_per_cycle)
        throw InputError(
            fmt::format("{}: shared.latency, shared.bytes_per_cycle: missing; expected numbers, because line {} "
                        "accesses shared memory",
                        origin_, instruction.line));
    const double ways = conflict_ways(instruction);
    const double latency = static_cast<double>(
        (machine_.shared.warp_latency ? machine_.shared.warp_latency : machine_.shared.latency).value);
    const double cycles = std::max(4, instruction.access->bytes) * kWarpSize / *machine_.shared.bytes_per_cycle;
    return {.latency = instruction.access->load
                           ? latency + (ways - 1) * static_cast<double>(machine_.shared.conflict_cost.value_or(0))
                           : 0,
            .resource = Resource::shared,
            .cycles = cycles * ways,
            .reissues =
                (ways > 1 ? ways - 1 : 0) + slots_among_others(machine_, machine_.shared.issue_slots.value_or(1)) - 1,
            .worksheet_row = ways > 1 ? fmt::format("{:.3g}-way conflict", ways) : "no conflict"};
}

}  // namespace gputomo::predict
