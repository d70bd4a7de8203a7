#include "answer/rates.hpp"
#include "machine/cache_scope.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace gputomo::answer {
namespace {

constexpr double kMega = 1e6, kGiga = 1e9;

/// Bytes in a second of what moves `bytes_per_cycle` bytes in a cycle of the SMs.
std::optional<double> per_second(const machine::Machine& machine, std::optional<double> bytes_per_cycle) {
    if (!bytes_per_cycle || !machine.clock.sm_mhz) return {};
    return *bytes_per_cycle * *machine.clock.sm_mhz * kMega;
}

template <class Field>
std::optional<double> value_of(const Field& field) {
    return field ? std::optional(static_cast<double>(*field)) : std::nullopt;
}

std::optional<double> of_all_sms(const machine::Machine& machine, std::optional<double> of_one) {
    if (!of_one || !machine.topology.sms) return {};
    return *of_one * static_cast<double>(*machine.topology.sms);
}

std::optional<double> bytes_of_access(const machine::Machine& machine, const char* access) {
    const auto found = machine.accesses.find(access);
    return found == machine.accesses.end() ? std::nullopt : value_of(found->second.bytes_per_cycle);
}

std::optional<double> bytes_of_l2(const machine::Machine& machine) {
    const machine::Cache* const cache = machine::shared_cache(machine, "global");
    return cache == nullptr ? std::nullopt : value_of(cache->bytes_per_cycle);
}

std::optional<double> dram_ceiling(const machine::Machine& machine) {
    const auto& memory = machine.memory;
    const auto bandwidth = memory.read_bandwidth ? value_of(memory.read_bandwidth) : value_of(memory.peak_bandwidth);
    return bandwidth ? std::optional(*bandwidth * kGiga) : std::nullopt;
}

void fill_bytes(Answer& answer, const machine::Machine& machine, double seconds) {
    const auto& work = answer.work;
    // Where L1 and shared memory are one storage, both have its rate.
    const auto storage = machine.shared.unified_cache ? value_of(machine.shared.bytes_per_cycle) : std::nullopt;
    const std::array<std::tuple<const char*, std::optional<double>, std::optional<double>>, 6> ways{{
        {"registers from L1", work.l1_bytes, per_second(machine, of_all_sms(machine, storage))},
        {"L1 from L2", work.l2_read_bytes, per_second(machine, bytes_of_l2(machine))},
        {"L1 to L2", work.l2_written_bytes, per_second(machine, bytes_of_access(machine, "l2_store"))},
        {"L1 to L2, atomics", work.l2_atomic_bytes, per_second(machine, bytes_of_access(machine, "l2_atomic"))},
        {"L2 from DRAM", work.dram_read_bytes, dram_ceiling(machine)},
        {"L2 to DRAM", work.dram_written_bytes, per_second(machine, bytes_of_access(machine, "memory_store"))},
    }};
    for (const auto& [what, bytes, ceiling] : ways)
        if (bytes) answer.byte_rates.push_back({.what = what, .per_second = *bytes / seconds, .ceiling = ceiling});
}

}  // namespace

std::optional<double> flop_ceiling(const machine::Machine& machine, std::string_view type) {
    constexpr double kFused = 2;
    const std::pair<const char*, std::pair<const char*, double>> rows[] = {{"f32", {"fma.rn.f32", kFused}},
                                                                           {"f64", {"fma.rn.f64", kFused}},
                                                                           {"f16", {"fma.rn.f16x2", 2 * kFused}},
                                                                           {"bf16", {"fma.rn.bf16x2", 2 * kFused}}};
    for (const auto& [name, by] : rows) {
        if (name != type) continue;
        const auto operation = machine.operations.find(by.first);
        if (operation == machine.operations.end()) return {};
        const auto rate = value_of(operation->second.throughput);
        if (!rate) return {};
        return per_second(machine, of_all_sms(machine, *rate * by.second));
    }
    return {};
}

void fill_rates(Answer& answer, const machine::Machine& machine, const FlopCeiling& ceiling) {
    const double seconds = answer.time.microseconds / kMega;
    if (seconds <= 0) return;
    auto& roofline = answer.roofline;
    roofline.type = "f32";
    double most = 0, all = 0;
    if (answer.work.flop)
        for (const auto& [type, flop] : *answer.work.flop) {
            answer.flop_rates.push_back({.what = type, .per_second = flop / seconds, .ceiling = ceiling(type)});
            all += flop;
            if (flop > most) roofline.type = type;
            most = std::max(most, flop);
        }
    if (answer.work.flop) roofline.flop_per_second = all / seconds;
    roofline.flop_per_second_ceiling = ceiling(roofline.type);
    roofline.dram_bytes_per_second = answer.work.dram_bytes / seconds;
    roofline.dram_bytes_per_second_ceiling = dram_ceiling(machine);
    if (answer.work.flop && answer.work.dram_bytes > 0) roofline.flop_per_byte = all / answer.work.dram_bytes;
    fill_bytes(answer, machine, seconds);
}

}  // namespace gputomo::answer
