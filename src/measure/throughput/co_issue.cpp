#include "measure/throughput/co_issue.hpp"

#include "measure/throughput/register_bank_overlap.hpp"
#include "units/warp.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <string>

namespace gputomo::measure {
namespace {

using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Cycles; far longer than a loop iteration of any warp, so that the end of a warp's last one matters little.
constexpr std::uint32_t kWindow = 100'000;
/// Two threads read one pointer, so a warp reads a line of 128 bytes.
constexpr int kPointers = 16;
constexpr int kPointerBytes = 8;

struct Facts {
    std::string_view name;
    std::string_view opcode;
    int bytes;  ///< of a thread
};
constexpr std::array kFacts{Facts{"sfu", "MUFU", 0}, Facts{"shared", "LDS", 4}, Facts{"global", "LDG", kPointerBytes}};
const Facts& facts_of(CoIssued other) { return kFacts[static_cast<std::size_t>(other)]; }

}  // namespace

void append_window(ptx::KernelBuilder& k, Reg record, Reg window, const std::function<void()>& append) {
    const Reg iterations = k.reg(Type::u32), spent = k.reg(Type::u32), more = k.reg(Type::pred),
              first_lane = k.reg(Type::pred);
    k("mov.u32", iterations, 0);
    const ptx::Label top = k.label();
    const Reg start = k.clock32();
    k.place(top);
    append();
    k("add.u32", iterations, iterations, 1);
    const Reg now = k.clock32();
    k("sub.u32", spent, now, start);
    k("setp.lt.u32", more, spent, window);
    k.when(more)("bra", top);
    k("setp.eq.u32", first_lane, k.special(SpecialRegister::laneid), 0);
    k.when(first_lane)("st.global.u32", Mem{record, offsetof(CoIssueRecord, start)}, start);
    k.when(first_lane)("st.global.u32", Mem{record, offsetof(CoIssueRecord, end)}, now);
    k.when(first_lane)("st.global.u32", Mem{record, offsetof(CoIssueRecord, iterations)}, iterations);
}

namespace {

/// Repeats the other instruction. Storing to `record` keeps the results alive.
void append_others(ptx::KernelBuilder& k, CoIssued other, Reg record, Reg line, Reg window, Reg seed) {
    const Reg result = k.reg(Type::u32);
    if (other == CoIssued::sfu) {
        const Reg x = k.reg(Type::f32);
        k("mov.f32", x, seed);
        append_window(k, record, window, [&] {
            k.repeat(CoIssueLoop::kLoopLength,
                     [&](int) { k(k.target().sm < 20 ? "ex2.approx.f32" : "ex2.approx.ftz.f32", x, x); });
        });
        k("mov.b32", result, x);
    } else if (other == CoIssued::shared) {
        const Reg word = k.dynamic_shared(), at = k.reg(Type::u32);
        k("st.shared.u32", Mem{word}, word);
        k("ld.shared.u32", at, Mem{word});
        append_window(k, record, window,
                      [&] { k.repeat(CoIssueLoop::kLoopLength, [&](int) { k("ld.shared.u32", at, Mem{at}); }); });
        k("mov.b32", result, at);
    } else {
        const Reg pair = k.reg(Type::u32), at = k.reg(Type::u64);
        k("shr.u32", pair, k.special(SpecialRegister::laneid), 1);
        k("mov.u64", at, k.element(line, pair, Bytes{kPointerBytes}));
        append_window(k, record, window,
                      [&] { k.repeat(CoIssueLoop::kLoopLength, [&](int) { k("ld.global.u64", at, Mem{at}); }); });
        k("cvt.u32.u64", result, at);
    }
    const Reg never = k.reg(Type::pred);
    k("setp.eq.u32", never, result, 1);
    k.when(never)("st.global.u32", Mem{record}, result);
}

void append_adds(ptx::KernelBuilder& k, Reg record, Reg window, Reg seed) {
    const Reg sum = k.reg(Type::f32), never = k.reg(Type::pred);
    k("mov.f32", sum, seed);
    append_window(k, record, window,
                  [&] { k.repeat(CoIssueLoop::kLoopLength, [&](int) { k("add.rn.f32", sum, sum, seed); }); });
    k("setp.lt.f32", never, sum, 0.0);
    k.when(never)("st.global.f32", Mem{record}, sum);
}

}  // namespace

ptx::KernelBuilder co_issue_kernel(ptx::Target target, CoIssued other) {
    ptx::KernelBuilder k("beside_" + std::string(facts_of(other).name), target);
    const Reg records = k.param(Type::u64, "records"), line = k.param(Type::u64, "line"),
              busy = k.param(Type::u32, "busy"), others = k.param(Type::u32, "others");
    const Reg window = k.param(Type::u32, "window"), seed = k.param(Type::f32, "seed");
    if (other != CoIssued::shared) static_cast<void>(k.dynamic_shared());
    const Reg warp = k.reg(Type::u32), adds = k.reg(Type::pred), runs = k.reg(Type::pred);
    k("shr.u32", warp, k.special(SpecialRegister::tid_x), 5);
    const Reg record = k.element(records, warp, Bytes{sizeof(CoIssueRecord)});
    k("setp.ge.u32", adds, warp, busy);
    k("setp.ne.u32", runs, others, 0);
    k("bar.sync", 0);
    k.if_(
        adds, [&] { append_adds(k, record, window, seed); },
        [&] { k.if_(runs, [&] { append_others(k, other, record, line, window, seed); }); });
    return k;
}

CoIssueLoop::CoIssueLoop(device::Device& device, CoIssued other)
    : other_(other),
      kernel_(device, co_issue_kernel(target_of(device), other),
              {LoopedCode{{"FADD"}, kLoopLength},
               LoopedCode{{facts_of(other).opcode, facts_of(other).bytes}, kLoopLength}}) {
    warps_ = kernel_.properties().max_threads_per_block / kWarpSize / kGroup * kGroup;
    records_ = device::Buffer(device, Bytes{warps_ * static_cast<std::int64_t>(sizeof(CoIssueRecord))});
    line_ = device::Buffer(device, Bytes{kPointers * kPointerBytes});
    std::vector<std::uint64_t> pointers(kPointers);
    for (std::size_t i = 0; i < pointers.size(); ++i) pointers[i] = line_.address() + i * kPointerBytes;
    line_.write(pointers);
}

std::optional<double> CoIssueLoop::bank_overlap() const {
    const auto& machine_code = kernel_.module().machine_code();
    if (!machine_code) return std::nullopt;
    const sass::Cubin cubin(machine_code->cubin);
    if (!sass::unsupported_reason(cubin).empty()) return std::nullopt;
    return register_bank_overlap(sass::kernel_code(cubin, kernel_.name()), "FADD", facts_of(other_).opcode);
}

CoIssueRates CoIssueLoop::rates(int busy, bool others) {
    device::Arguments arguments;
    arguments.add(records_.address())
        .add(line_.address())
        .add(static_cast<std::uint32_t>(busy * kGroup))
        .add(static_cast<std::uint32_t>(others))
        .add(kWindow)
        .add(1.0F);
    kernel_.launch({1}, {static_cast<std::uint32_t>(warps_ * kWarpSize)}, arguments, Bytes{kWarpSize * 4});
    const auto records = records_.read<CoIssueRecord>(static_cast<std::size_t>(warps_));
    CoIssueRates sum;
    for (int warp = others ? 0 : busy * kGroup; warp < warps_; ++warp) {
        const auto& record = records[static_cast<std::size_t>(warp)];
        const double rate =
            static_cast<double>(record.iterations) * kLoopLength / static_cast<double>(record.end - record.start);
        (warp < busy * kGroup ? sum.others : sum.adds) += rate;
    }
    return sum;
}

}  // namespace gputomo::measure
