#include "measure/throughput/saturated_issue.hpp"

#include "measure/throughput/co_issue.hpp"
#include "measure/throughput/operations.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Cycles; far longer than a loop iteration of any warp.
constexpr std::uint32_t kIssueWindow = 100'000;
/// Instructions of the loop itself: count, clock, difference, comparison and branch.
constexpr int kLoop = 5;
constexpr int kLineBytes = 128, kWordBytes = 4;
/// Loads from memory that a warp has in flight.
constexpr int kLoads = 8;
constexpr std::uint32_t kIdle = SaturatedIssue::kKinds;
/// The kinds of a scheduler's successive warps: 0 adds, 1 special functions, 2 shared-memory loads, 3 global loads.
/// The last ones take longest and need most warps.
constexpr std::array<std::uint32_t, 16> kRoles{0, 2, 1, 3, 3, 2, 0, 3, 3, 2, 0, 3, 3, 2, 3, 3};

using Chains = std::vector<Reg>;

Chains registers(ptx::KernelBuilder& k, Type type, int count = SaturatedIssue::kChains) {
    Chains chains;
    for (int i = 0; i < count; ++i) chains.push_back(k.reg(type));
    return chains;
}

/// Iterations of `step` for one chain after the other. The final values are used, so that the compiler keeps the
/// chains.
void append_iterations(ptx::KernelBuilder& k, Reg record, Reg window, const Chains& chains,
                       const std::function<void(Reg)>& step) {
    append_window(k, record, window, [&] {
        k.repeat(SaturatedIssue::kLoopLength / static_cast<int>(chains.size()), [&](int) {
            for (const Reg x : chains) step(x);
        });
    });
    const Reg sum = k.reg(Type::b32), never = k.reg(Type::pred), part = k.reg(Type::b32);
    k("mov.b32", sum, 0);
    for (const Reg x : chains) {
        k("mov.b32", part, x);
        k("xor.b32", sum, sum, part);
    }
    k("setp.eq.u32", never, sum, 1);
    k.when(never)("st.global.u32", Mem{record}, sum);
}

/// Chains with different initial values, so that no compiler merges two of them.
Chains numbers(ptx::KernelBuilder& k, Reg seed) {
    Chains chains = registers(k, Type::f32);
    for (std::size_t i = 0; i < chains.size(); ++i) k("add.rn.f32", chains[i], seed, static_cast<double>(i));
    return chains;
}

void append_kind(ptx::KernelBuilder& k, std::uint32_t kind, Reg record, Reg line, Reg window, Reg seed) {
    const auto iterations = [&](const Chains& chains, const std::function<void(Reg)>& step) {
        append_iterations(k, record, window, chains, step);
    };
    if (kind == 0) return iterations(numbers(k, seed), [&](Reg x) { k("add.rn.f32", x, x, seed); });
    if (kind == 1) {
        const std::string function(timed_pipelines(k.target())[1].operation.name);
        return iterations(numbers(k, seed), [&](Reg x) { k(function, x, x); });
    }
    if (kind == 2) {
        const Reg memory = k.dynamic_shared();
        const Chains words = registers(k, Type::u32);
        for (int i = 0; i < SaturatedIssue::kChains; ++i) {
            k("add.u32", words[static_cast<std::size_t>(i)], memory, i * kWordBytes);
            k("st.shared.u32", Mem{words[static_cast<std::size_t>(i)]}, words[static_cast<std::size_t>(i)]);
        }
        return iterations(words, [&](Reg at) { k("ld.shared.u32", at, Mem{at}); });
    }
    // Each load waits for the register that an earlier one writes.
    const Reg word = k.element(line, k.special(SpecialRegister::laneid), Bytes{kWordBytes});
    const Chains words = registers(k, Type::u32, kLoads);
    for (const Reg x : words) k("mov.u32", x, 0);
    iterations(words, [&](Reg x) { k("ld.volatile.global.u32", x, Mem{word}); });
}

}  // namespace

ptx::KernelBuilder saturated_issue_kernel(ptx::Target target) {
    ptx::KernelBuilder k("crowd", target);
    const Reg records = k.param(Type::u64, "records"), line = k.param(Type::u64, "line"),
              roles = k.param(Type::u64, "roles"), window = k.param(Type::u32, "window"),
              seed = k.param(Type::f32, "seed");
    const Reg warp = k.reg(Type::u32), role = k.reg(Type::u32), mine = k.reg(Type::pred);
    k("shr.u32", warp, k.special(SpecialRegister::tid_x), 5);
    const Reg record = k.element(records, warp, Bytes{sizeof(CoIssueRecord)});
    k("ld.global.u32", role, Mem{k.element(roles, warp, Bytes{kWordBytes})});
    k("bar.sync", 0);
    for (std::uint32_t kind = 0; kind < SaturatedIssue::kKinds; ++kind) {
        k("setp.eq.u32", mine, role, static_cast<int>(kind));
        k.if_(mine, [&] { append_kind(k, kind, record, line, window, seed); });
    }
    return k;
}

SaturatedIssue::SaturatedIssue(device::Device& device, int schedulers)
    : kernel_(device, saturated_issue_kernel(target_of(device)),
              {LoopedCode{{"FADD"}, kLoopLength}, LoopedCode{{"MUFU"}, kLoopLength},
               LoopedCode{{"LDS", kWordBytes}, kLoopLength}, LoopedCode{{"LDG", kWordBytes}, kLoopLength}}),
      schedulers_(schedulers),
      warps_(std::max(1, kernel_.properties().max_threads_per_block / kWarpSize)),
      records_(device, Bytes{warps_ * static_cast<std::int64_t>(sizeof(CoIssueRecord))}),
      line_(device, Bytes{kLineBytes}),
      roles_(device, Bytes{warps_ * kWordBytes}) {
    device.fill_u32(line_.address(), 0, kLineBytes / kWordBytes);
}

SaturatedIssueRates SaturatedIssue::rates(bool global_loads) {
    std::vector<std::uint32_t> roles(static_cast<std::size_t>(warps_));
    for (std::size_t warp = 0; warp < roles.size(); ++warp) {
        roles[warp] = kRoles[warp / static_cast<std::size_t>(schedulers_) % kRoles.size()];
        if (roles[warp] + 1 == kKinds && !global_loads) roles[warp] = kIdle;
    }
    roles_.write(roles);
    kernel_.launch({1}, {static_cast<std::uint32_t>(warps_ * kWarpSize)},
                   device::Arguments()
                       .add(records_.address())
                       .add(line_.address())
                       .add(roles_.address())
                       .add(kIssueWindow)
                       .add(1.0F),
                   Bytes{kChains * kWordBytes});
    const auto records = records_.read<CoIssueRecord>(static_cast<std::size_t>(warps_));
    std::array<double, kKinds> rates{};
    SaturatedIssueRates sum;
    for (std::size_t warp = 0; warp < roles.size(); ++warp) {
        if (roles[warp] == kIdle) continue;
        const double iterations = static_cast<double>(records[warp].iterations) /
                                  static_cast<double>(records[warp].end - records[warp].start);
        rates[roles[warp]] += iterations * kLoopLength;
        sum.loops += iterations * kLoop;
    }
    std::tie(sum.adds, sum.functions, sum.shared_loads, sum.global_loads) =
        std::tie(rates[0], rates[1], rates[2], rates[3]);
    return sum;
}

}  // namespace gputomo::measure
