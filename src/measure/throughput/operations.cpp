#include "measure/throughput/operations.hpp"

#include <array>

namespace gputomo::measure {
namespace {

using ptx::Type;

/// Rows at the begin that a quick scan times too.
constexpr std::size_t kBasicOperations = 10;

// Integer division by a variable and double-precision division are routines of some dozens of instructions on all
// GPUs.
constexpr int kRoutine = 16;

/// From compute capability 5.0 on compilers merge chains of logic operations; lop3.b32 replaces these rows there.
constexpr int kLastWithoutLop3 = 37;

constexpr TimedOperation kOperations[] = {
    // Compilers alternate between the adder and the multiplier, which share the work.
    {"add.s32", Type::s32, "d a b", "int", "IADD3|IMAD|VIADD"},
    {"mul.lo.s32", Type::s32, "d a b", "imul", "IMAD"},
    {"mad.lo.s32", Type::s32, "d a b b", "imul", "IMAD"},
    {"add.f32", Type::f32, "d a b", "sp", "FADD"},
    {"mul.f32", Type::f32, "d a b", "sp", "FMUL"},
    {"fma.rn.f32", Type::f32, "d a b b", "sp", "FFMA"},
    {"add.f64", Type::f64, "d a b", "dpu", "DADD"},
    {"mul.f64", Type::f64, "d a b", "dpu", "DMUL"},
    {"fma.rn.f64", Type::f64, "d a b b", "dpu", "DFMA"},
    // A comparison and two multiplications scale denormals.
    {"rsqrt.approx.f32", Type::f32, "d a", "sfu", "MUFU", 3},

    // Wong 2010, Table III: integers. The differences keep a chain of subtractions from folding. Minima alternate with
    // a maximum of their own results, because otherwise every further one would be the same value.
    {"add.u32", Type::u32, "d a b", "int"},
    {"sub.u32", Type::u32, "d b a", "int"},
    {"sub.s32", Type::s32, "d b a", "int"},
    {"min.u32", Type::u32, "d a b", "int"},
    {"min.s32", Type::s32, "d a b", "int"},
    {"max.u32", Type::u32, "d a b", "int"},
    {"max.s32", Type::s32, "d a b", "int"},
    {"mul.lo.u32", Type::u32, "d a b", "imul"},
    {"mad.lo.u32", Type::u32, "d a b b", "imul"},
    {"div.u32", Type::u32, "d a b", "int", {}, 0, kRoutine},
    {"div.s32", Type::s32, "d a b", "int", {}, 0, kRoutine},
    {"rem.u32", Type::u32, "d a b", "int", {}, 0, kRoutine},
    {"rem.s32", Type::s32, "d a b", "int", {}, 0, kRoutine},
    {"and.b32", Type::b32, "d a b", "int", {}, 0, 1, 0, kLastWithoutLop3},
    {"or.b32", Type::b32, "d a b", "int", {}, 0, 1, 0, kLastWithoutLop3},
    {"xor.b32", Type::b32, "d a b", "int", {}, 0, 1, 0, kLastWithoutLop3},
    {"shl.b32", Type::b32, "d b a", "int"},
    {"shr.u32", Type::u32, "d b a", "int"},
    // Wong 2010, Table III: floating point. The chain's two operands keep the values of sqrt and division in range.
    {"sub.f32", Type::f32, "d a b", "sp"},
    {"min.f32", Type::f32, "d a b", "sp"},
    {"max.f32", Type::f32, "d a b", "sp"},
    {"div.full.f32", Type::f32, "d a b", "sfu", {}, 0, 4},
    {"sub.f64", Type::f64, "d a b", "dpu"},
    {"min.f64", Type::f64, "d a b", "dpu", {}, 0, 4},
    {"max.f64", Type::f64, "d a b", "dpu", {}, 0, 4},
    {"div.rn.f64", Type::f64, "d a b", "dpu", {}, 0, kRoutine},
    // Wong 2010, Table IV: intrinsics. Those of several PTX instructions are CUDA's sequences for them (CUDA C
    // Programming Guide, intrinsics).
    {"mul24.lo.u32", Type::u32, "d a b", "imul", {}, 0, 3},
    {"mul24.lo.s32", Type::s32, "d a b", "imul", {}, 0, 3},
    {"sad.u32", Type::u32, "d a b b", "int", {}, 0, 3},
    {"sad.s32", Type::s32, "d a b b", "int", {}, 0, 3},
    {"mul.hi.u32", Type::u32, "d a b", "imul"},
    {"mul.hi.s32", Type::s32, "d a b", "imul"},
    {"add.rn.f32", Type::f32, "d a b", "sp"},
    {"add.rz.f32", Type::f32, "d a b", "sp"},
    {"mul.rn.f32", Type::f32, "d a b", "sp"},
    {"mul.rz.f32", Type::f32, "d a b", "sp"},
    {"div.approx.f32", Type::f32, "d b a", "sfu", {}, 0, 4},
    {"add.rn.f64", Type::f64, "d a b", "dpu"},
    {"sin.approx.f32", Type::f32, "d a", "sfu", {}, 0, 2},
    {"cos.approx.f32", Type::f32, "d a", "sfu", {}, 0, 2},
    {"ex2.approx.f32", Type::f32, "d a", "sfu", {}, 0, 4},
    {"lg2.approx.f32", Type::f32, "d a", "sfu", {}, 0, 4},
    {"sqrt.approx.f32", Type::f32, "d a", "sfu", {}, 0, 4},
    {"rcp.approx.f32", Type::f32, "d a", "sfu", {}, 0, 4},
    {"__tanf", Type::f32, "cos.approx.f32 t a; sin.approx.f32 u a; div.approx.f32 d u t", "sfu", {}, 0, 8},
    {"__expf", Type::f32, "mul.f32 t a 1.4426950408889634; ex2.approx.f32 d t", "sfu", {}, 0, 5},
    {"__exp10f", Type::f32, "mul.f32 t a 3.3219280948873623; ex2.approx.f32 d t", "sfu", {}, 0, 5},
    {"__logf", Type::f32, "lg2.approx.f32 t a; mul.f32 d t 0.6931471805599453", "sfu", {}, 0, 5},
    {"__log10f", Type::f32, "lg2.approx.f32 t a; mul.f32 d t 0.3010299956639812", "sfu", {}, 0, 5},
    // The base of the power is the older operand, so that only the product and ex2 are in the chain (t2 = __powf(t2,
    // t1)).
    {"__powf", Type::f32, "lg2.approx.f32 t b; mul.f32 u t a; ex2.approx.f32 d u", "sfu", {}, 0, 8},

    // Operations of later GPUs.
    {"rcp.rn.f32", Type::f32, "d a", "sfu", {}, 0, kRoutine, 20},
    {"sqrt.rn.f32", Type::f32, "d a", "sfu", {}, 0, kRoutine, 20},
    {"div.rn.f32", Type::f32, "d a b", "sp", {}, 0, kRoutine, 20},
    {"rcp.rn.f64", Type::f64, "d a", "dpu", {}, 0, kRoutine, 20},
    {"sqrt.rn.f64", Type::f64, "d a", "dpu", {}, 0, kRoutine, 20},
    {"tanh.approx.f32", Type::f32, "d a", "sfu", {}, 0, 1, 75, 999, 70},
    {"ex2.approx.ftz.f32", Type::f32, "d a", "sfu", {}, 0, 1, 20},
    {"sin.approx.ftz.f32", Type::f32, "d a", "sfu", {}, 0, 2, 20},
    {"lop3.b32", Type::b32, "d a b 0x5a5a1234 0xe8", "int", {}, 0, 1, 50, 999, 43},
    {"shf.l.wrap.b32", Type::b32, "d a b 7", "int", {}, 0, 1, 32, 999, 31},
    {"prmt.b32", Type::b32, "d a b 0x5410", "int", {}, 0, 1, 20},
    {"bfe.u32", Type::u32, "d a b x", "int", {}, 0, 3, 20},
    {"bfi.b32", Type::b32, "d a b x y", "int", {}, 0, 4, 20},
    {"brev.b32", Type::b32, "add.s32 t a b; brev.b32 d t", "bits", {}, 0, 2, 20, 999, 0, "add.s32"},
    {"popc.b32", Type::b32, "d a", "bits", {}, 0, 1, 20},
    {"clz.b32", Type::b32, "d a", "bits", {}, 0, 2, 20},
    {"bfind.u32", Type::u32, "d a", "bits", {}, 0, 1, 20},
    // The predicate has to return to a register.
    {"setp.lt.s32:selp.b32", Type::s32, "setp.lt.s32 q a x; selp.b32 d a b q", "int", {}, 0, 2, 20},
    {"setp.lt.f32:selp.f32", Type::f32, "setp.lt.f32 q a b; selp.f32 d a b q", "int", {}, 0, 2, 20},
    // The low word of a register pair is itself a register, which takes no instruction.
    {"mad.wide.u32", Type::u64, "cvt.u32.u64 l a; mad.wide.u32 d l y b", "imul", {}, 0, 1, 20},
    {"mad.hi.u32", Type::u32, "d a b b", "imul", {}, 0, 2, 20},
    {"add.s64", Type::s64, "d a b", "int", {}, 0, 2, 20},
    {"mul.lo.s64", Type::s64, "d a b", "imul", {}, 0, 4, 20},
    {"div.u64", Type::u64, "d a b", "imul", {}, 0, 4 * kRoutine, 20},
    {"min.s64", Type::s64, "d a b", "int", {}, 0, 4, 20},
    {"shl.b64", Type::b64, "d a x", "int", {}, 0, 2, 20},
    {"add.sat.s32", Type::s32, "d a b", "int", {}, 0, 4, 20},
    {"abs.s32", Type::s32, "sub.s32 t a b; abs.s32 d t", "int", {}, 0, 2, 20, 999, 0, "sub.s32"},
    {"dp4a.s32.s32", Type::s32, "d a b b", "imul", {}, 0, 1, 61, 999, 50},
    {"dp2a.lo.s32.s32", Type::s32, "d a b b", "imul", {}, 0, 1, 61, 999, 50},
    {"fma.rn.f16", Type::b16, "d a b b", "half", {}, 0, 1, 53, 999, 42},
    {"add.f16", Type::b16, "d a b", "half", {}, 0, 1, 53, 999, 42},
    {"mul.f16", Type::b16, "d a b", "half", {}, 0, 1, 53, 999, 42},
    {"fma.rn.f16x2", Type::b32, "d a b b", "half", {}, 0, 1, 53, 999, 42},
    {"add.f16x2", Type::b32, "d a b", "half", {}, 0, 1, 53, 999, 42},
    {"mul.f16x2", Type::b32, "d a b", "half", {}, 0, 1, 53, 999, 42},
    {"min.f16x2", Type::b32, "d a b", "half", {}, 0, 1, 80, 999, 70},
    {"fma.rn.bf16", Type::b16, "d a b b", "half", {}, 0, 1, 80, 999, 70},
    {"fma.rn.bf16x2", Type::b32, "d a b b", "half", {}, 0, 1, 80, 999, 70},
    {"add.bf16x2", Type::b32, "d a b", "half", {}, 0, 1, 90, 999, 78},
    {"mul.bf16x2", Type::b32, "d a b", "half", {}, 0, 1, 90, 999, 78},
    {"tanh.approx.f16x2", Type::b32, "d a", "sfu", {}, 0, 4, 75, 999, 70},
    {"ex2.approx.f16x2", Type::b32, "d a", "sfu", {}, 0, 4, 75, 999, 70},
    {"cvt.rn.f32.s32", Type::b32, "d a", "cvt", {}, 0, 1, 20},
    {"cvt.rzi.s32.f32", Type::b32, "d a", "cvt", {}, 0, 1, 20},
    {"cvt.rni.f32.f32", Type::f32, "add.f32 t a b; cvt.rni.f32.f32 d t", "cvt", {}, 0, 2, 20, 999, 0, "add.f32"},
    {"cvt.rn.f64.s64", Type::b64, "d a", "cvt", {}, 0, 1, 20},
    {"cvt.rzi.s64.f64", Type::b64, "d a", "cvt", {}, 0, 1, 20},
    {"shfl.bfly.b32", Type::b32, "d a 1 31", "lanes", {}, 0, 1, 30, 62},
    {"shfl.sync.bfly.b32", Type::b32, "d a 1 31 -1", "lanes", {}, 0, 1, 70, 999, 60},
    {"shfl.sync.idx.b32", Type::b32, "d a b 31 -1", "lanes", {}, 0, 1, 70, 999, 60},
    {"setp.ne.b32:vote.sync.ballot.b32",
     Type::b32,
     "setp.ne.b32 q a x; vote.sync.ballot.b32 d q -1",
     "lanes",
     {},
     0,
     2,
     70,
     999,
     60},
    {"match.any.sync.b32", Type::b32, "d a -1", "lanes", {}, 0, 8, 70, 999, 60},
    {"redux.sync.add.u32", Type::u32, "d a -1", "lanes", {}, 0, 2, 80, 999, 70},
    {"redux.sync.and.b32",
     Type::b32,
     "add.s32 t a b; redux.sync.and.b32 d t -1",
     "lanes",
     {},
     0,
     3,
     80,
     999,
     70,
     "add.s32"},
};

bool has(const ptx::Target& target, const TimedOperation& operation) {
    return target.sm >= operation.from_sm && target.sm <= operation.until_sm &&
           10 * target.version_major + target.version_minor >= operation.from_ptx;
}

}  // namespace

std::span<const TimedOperation> all_operations() { return kOperations; }

std::vector<TimedOperation> timed_operations(const ptx::Target& target, bool quick) {
    std::vector<TimedOperation> operations;
    for (const auto& operation : std::span(kOperations).first(quick ? kBasicOperations : std::size(kOperations)))
        if (has(target, operation)) operations.push_back(operation);
    return operations;
}

TimedOperation idle_operation() { return {"ld.volatile.shared.u32", Type::u32, "d m", "memory"}; }

std::vector<TimedPipeline> timed_pipelines(const ptx::Target& target) {
    const TimedOperation rsqrt{target.sm >= 20 ? "rsqrt.approx.ftz.f32" : "rsqrt.approx.f32", Type::f32, "d a", "sfu",
                               "MUFU"};
    // With a literal they read one register only, so that pairs with others do not compete for register-file ports.
    return {{"sp", {"add.f32", Type::f32, "d a 1.5", "sp", "FADD"}},
            {"sfu", rsqrt},
            {"dpu", {"add.f64", Type::f64, "d a 1.5", "dpu", "DADD"}}};
}

}  // namespace gputomo::measure
