// The rows of the instruction table; instructions.hpp explains the notation. Sections are those of the PTX ISA 8.x.
#include "ptx/instructions.hpp"

#include <algorithm>
#include <span>

namespace gputomo::ptx {
namespace {

// String literals that are joined at compile time; nothing else in the language joins them.
#define INTS "u16 s16 u32 s32 u64 s64"
#define INTS32 "u32 s32 u64 s64"
#define BITS "b16 b32 b64"
#define HALVES "f16 f16x2"
#define BHALVES "bf16 bf16x2"
#define DATA "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f16 f16x2 bf16 bf16x2 f32 f64"
#define WORDS "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"
#define ROUND "rn|rz|rm|rp"
#define CMP_INT "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
#define CMP_FLOAT "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define BOOL "and|or|xor"
#define SCOPE "cta|cluster|gpu|sys"
#define EVICT "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"
#define FETCH "L2::64B|L2::128B|L2::256B"
#define ORDER "relaxed|acquire|release|acq_rel"

using enum Opcode;
constexpr Form kTable[] = {
    // Integer arithmetic (9.7.1) and extended precision (9.7.2), with the floating-point forms of the same name
    // (9.7.3, 9.7.4).
    {add, "T", INTS, "", ">T T T", "9.7.1.1"},
    {add, "sat T", "s32", "", ">T T T", "9.7.1.1"},
    {add, "cc T", INTS32, "", ">T T T", "9.7.2.1"},
    {add, ROUND "? ftz? sat? T", "f32", "", ">T T T", "9.7.3.3"},
    {add, ROUND "? T", "f64", "", ">T T T", "9.7.3.3"},
    {add, "rn? ftz? sat? T", HALVES, "", ">T T T", "9.7.4.1"},
    {add, "rn? T", BHALVES, "", ">T T T", "9.7.4.1"},
    {sub, "T", INTS, "", ">T T T", "9.7.1.2"},
    {sub, "sat T", "s32", "", ">T T T", "9.7.1.2"},
    {sub, "cc T", INTS32, "", ">T T T", "9.7.2.3"},
    {sub, ROUND "? ftz? sat? T", "f32", "", ">T T T", "9.7.3.4"},
    {sub, ROUND "? T", "f64", "", ">T T T", "9.7.3.4"},
    {sub, "rn? ftz? sat? T", HALVES, "", ">T T T", "9.7.4.2"},
    {sub, "rn? T", BHALVES, "", ">T T T", "9.7.4.2"},
    {mul, "lo|hi T", INTS, "", ">T T T", "9.7.1.3"},
    {mul, "wide T", "u16 s16 u32 s32", "", ">W T T", "9.7.1.3"},
    {mul, ROUND "? ftz? sat? T", "f32", "", ">T T T", "9.7.3.5"},
    {mul, ROUND "? T", "f64", "", ">T T T", "9.7.3.5"},
    {mul, "rn? ftz? sat? T", HALVES, "", ">T T T", "9.7.4.3"},
    {mul, "rn? T", BHALVES, "", ">T T T", "9.7.4.3"},
    {mul24, "lo|hi T", "u32 s32", "", ">T T T", "9.7.1.5"},
    {mad, "lo|hi T", INTS, "", ">T T T T", "9.7.1.4"},
    {mad, "wide T", "u16 s16 u32 s32", "", ">W T T W", "9.7.1.4"},
    {mad, "hi sat T", "s32", "", ">T T T T", "9.7.1.4"},
    {mad, "lo|hi cc T", INTS32, "", ">T T T T", "9.7.2.5"},
    {mad, ROUND "? ftz? sat? T", "f32", "", ">T T T T", "9.7.3.7"},
    {mad, ROUND "? T", "f64", "", ">T T T T", "9.7.3.7"},
    {mad24, "lo|hi T", "u32 s32", "", ">T T T T", "9.7.1.6"},
    {sad, "T", INTS, "", ">T T T T", "9.7.1.7"},
    {div, "T", INTS, "", ">T T T", "9.7.1.8"},
    {div, "approx|full ftz? T", "f32", "", ">T T T", "9.7.3.8"},
    {div, ROUND " ftz? T", "f32", "", ">T T T", "9.7.3.8"},
    {div, ROUND " T", "f64", "", ">T T T", "9.7.3.8"},
    {rem, "T", INTS, "", ">T T T", "9.7.1.9"},
    {abs, "T", "s16 s32 s64 f64 bf16 bf16x2", "", ">T T", "9.7.1.10"},
    {abs, "ftz? T", "f32 " HALVES, "", ">T T", "9.7.3.9"},
    {neg, "T", "s16 s32 s64 f64 bf16 bf16x2", "", ">T T", "9.7.1.11"},
    {neg, "ftz? T", "f32 " HALVES, "", ">T T", "9.7.3.10"},
    {min, "T", INTS " f64", "", ">T T T", "9.7.1.12"},
    {min, "relu T", "s32", "", ">T T T", "9.7.1.12"},
    {min, "ftz? NaN? xorsign? abs? T", "f32 " HALVES " " BHALVES, "", ">T T T", "9.7.3.11"},
    {max, "T", INTS " f64", "", ">T T T", "9.7.1.13"},
    {max, "relu T", "s32", "", ">T T T", "9.7.1.13"},
    {max, "ftz? NaN? xorsign? abs? T", "f32 " HALVES " " BHALVES, "", ">T T T", "9.7.3.12"},
    {fma, ROUND " ftz? sat? T", "f32", "", ">T T T T", "9.7.3.6"},
    {fma, ROUND " T", "f64", "", ">T T T T", "9.7.3.6"},
    {fma, "rn ftz? sat? relu? T", HALVES, "", ">T T T T", "9.7.4.4"},
    {fma, "rn relu? T", BHALVES, "", ">T T T T", "9.7.4.4"},
    {addc, "cc? T", INTS32, "", ">T T T", "9.7.2.2"},
    {subc, "cc? T", INTS32, "", ">T T T", "9.7.2.4"},
    {madc, "lo|hi cc? T", INTS32, "", ">T T T T", "9.7.2.6"},
    {rcp, "approx|" ROUND " ftz? T", "f32", "", ">T T", "9.7.3.13"},
    {rcp, ROUND " T", "f64", "", ">T T", "9.7.3.13"},
    {rcp, "approx ftz T", "f64", "", ">T T", "9.7.3.14"},
    {sqrt, "approx|" ROUND " ftz? T", "f32", "", ">T T", "9.7.3.15"},
    {sqrt, ROUND " T", "f64", "", ">T T", "9.7.3.15"},
    {rsqrt, "approx ftz? T", "f32 f64", "", ">T T", "9.7.3.16"},
    {sin, "approx ftz? T", "f32", "", ">T T", "9.7.3.18"},
    {cos, "approx ftz? T", "f32", "", ">T T", "9.7.3.19"},
    {lg2, "approx ftz? T", "f32", "", ">T T", "9.7.3.20"},
    {ex2, "approx ftz? T", "f32 " HALVES " " BHALVES, "", ">T T", "9.7.3.21"},
    {tanh, "approx T", "f32 " HALVES " " BHALVES, "", ">T T", "9.7.3.22"},
    {copysign, "T", "f32 f64", "", ">T T T", "9.7.3.2"},
    {testp, "finite|infinite|number|notanumber|normal|subnormal T", "f32 f64", "", ">P T", "9.7.3.1"},
    // Logic, shifts and bit fields (9.7.8, 9.7.1).
    {and_, "T", "pred " BITS, "", ">T T T", "9.7.8.1"},
    {or_, "T", "pred " BITS, "", ">T T T", "9.7.8.2"},
    {xor_, "T", "pred " BITS, "", ">T T T", "9.7.8.3"},
    {not_, "T", "pred " BITS, "", ">T T", "9.7.8.4"},
    {cnot, "T", BITS, "", ">T T", "9.7.8.5"},
    {shl, "T", BITS, "", ">T T b32", "9.7.8.8"},
    {shr, "T", BITS " " INTS, "", ">T T b32", "9.7.8.9"},
    {shf, "l|r wrap|clamp T", "b32", "", ">T T T b32", "9.7.8.7"},
    {lop3, "T", "b32", "", ">T T T T b32", "9.7.8.6"},
    {lop3, BOOL " T", "b32", "", ">T|P? T T T b32 P", "9.7.8.6"},
    {prmt, "T f4e|b4e|rc8|ecl|ecr|rc16?", "b32", "", ">T T T b32", "9.7.9.7"},
    {bfe, "T", INTS32, "", ">T T b32 b32", "9.7.1.19"},
    {bfi, "T", "b32 b64", "", ">T T T b32 b32", "9.7.1.20"},
    {brev, "T", "b32 b64", "", ">T T", "9.7.1.18"},
    {popc, "T", "b32 b64", "", ">b32 T", "9.7.1.14"},
    {clz, "T", "b32 b64", "", ">b32 T", "9.7.1.15"},
    {bfind, "shiftamt? T", INTS32, "", ">b32 T", "9.7.1.16"},
    {szext, "clamp|wrap T", "u32 s32", "", ">T T b32", "9.7.1.21"},
    {dp4a, "T S", "u32 s32", "u32 s32", ">b32 b32 b32 b32", "9.7.1.23"},
    {dp2a, "lo|hi T S", "u32 s32", "u32 s32", ">b32 b32 b32 b32", "9.7.1.24"},
    // Comparison and selection (9.7.6).
    {setp, CMP_INT " T", BITS " " INTS, "", ">P|P? T T", "9.7.6.2"},
    {setp, CMP_FLOAT " ftz? T", "f32 f64 " HALVES " " BHALVES, "", ">P|P? T T", "9.7.6.2"},
    {setp, CMP_INT " " BOOL " T", BITS " " INTS, "", ">P|P? T T P", "9.7.6.2"},
    {setp, CMP_FLOAT " " BOOL " ftz? T", "f32 f64 " HALVES " " BHALVES, "", ">P|P? T T P", "9.7.6.2"},
    {set, CMP_INT " T S", "u32 s32 f32", BITS " " INTS, ">T S S", "9.7.6.1"},
    {set, CMP_FLOAT " ftz? T S", "u32 s32 f32", "f32 f64", ">T S S", "9.7.6.1"},
    {set, CMP_INT " " BOOL " T S", "u32 s32 f32", BITS " " INTS, ">T S S P", "9.7.6.1"},
    {set, CMP_FLOAT " " BOOL " ftz? T S", "u32 s32 f32", "f32 f64", ">T S S P", "9.7.6.1"},
    {selp, "T", WORDS, "", ">T T T P", "9.7.6.3"},
    {slct, "ftz? T S", WORDS, "s32 f32", ">T T T S", "9.7.6.4"},
    // Data movement and conversion (9.7.9).
    {mov, "T", "pred " WORDS, "", ">M M", "9.7.9.1"},
    {cvt, ROUND " relu? T S", "f16x2 bf16x2", "f32", ">T S S", "9.7.9.21"},
    {cvt, ROUND "|rna|rni|rzi|rmi|rpi? relu? ftz? sat? T S", "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64",
     "u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64", ">T~ S~", "9.7.9.21"},
    {cvta, "to SP T", "u32 u64", "", ">T M", "9.7.9.20"},
    {cvta, "SP T", "u32 u64", "", ">T M", "9.7.9.20"},
    {isspacep, "SP", "", "", ">P A", "9.7.9.19"},
    {ld, "weak|volatile? SP? ca|cg|cs|lu|cv? nc? " EVICT "? L2::cache_hint? " FETCH "? V? T", DATA, "", ">V~ []",
     "9.7.9.8"},
    {ld, "relaxed|acquire " SCOPE " SP? " EVICT "? " FETCH "? V? T", DATA, "", ">V~ []", "9.7.9.8"},
    {ldu, "SP? V? T", DATA, "", ">V~ []", "9.7.9.10"},
    {st, "weak|volatile? SP? wb|cg|cs|wt? " EVICT "? V? T", DATA, "", "[] V~", "9.7.9.11"},
    {st, "relaxed|release " SCOPE " SP? " EVICT "? V? T", DATA, "", "[] V~", "9.7.9.11"},
    {prefetch, "SP? L1|L2", "", "", "[]", "9.7.9.15"},
    {atom, ORDER "? " SCOPE "? SP? cas T", BITS, "", ">T [] T T", "9.7.13.5"},
    {atom, ORDER "? " SCOPE "? SP? exch T", "b32 b64", "", ">T [] T", "9.7.13.5"},
    {atom, ORDER "? " SCOPE "? SP? and|or|xor T", "b32 b64", "", ">T [] T", "9.7.13.5"},
    {atom, ORDER "? " SCOPE "? SP? add T", "u32 s32 u64 f32 f64", "", ">T [] T", "9.7.13.5"},
    {atom, ORDER "? " SCOPE "? SP? add noftz T", HALVES " " BHALVES, "", ">T [] T", "9.7.13.5"},
    {atom, ORDER "? " SCOPE "? SP? inc|dec T", "u32", "", ">T [] T", "9.7.13.5"},
    {atom, ORDER "? " SCOPE "? SP? min|max T", INTS32, "", ">T [] T", "9.7.13.5"},
    {red, "relaxed|release? " SCOPE "? SP? and|or|xor T", "b32 b64", "", "[] T", "9.7.13.7"},
    {red, "relaxed|release? " SCOPE "? SP? add T", "u32 s32 u64 f32 f64", "", "[] T", "9.7.13.7"},
    {red, "relaxed|release? " SCOPE "? SP? add noftz T", HALVES " " BHALVES, "", "[] T", "9.7.13.7"},
    {red, "relaxed|release? " SCOPE "? SP? inc|dec T", "u32", "", "[] T", "9.7.13.7"},
    {red, "relaxed|release? " SCOPE "? SP? min|max T", INTS32, "", "[] T", "9.7.13.7"},
    {tex, "1d|2d|3d V T S", "u32 s32 f32", "s32 f32", ">V [] C", "9.7.10.3"},
    {cp_async, "async ca|cg SP global " FETCH "?", "", "", "[] [] b32 b32?", "9.7.9.25"},
    {cp_async, "async commit_group|wait_all", "", "", "", "9.7.9.25"},
    {cp_async, "async wait_group", "", "", "b32", "9.7.9.25"},
    // Control flow (9.7.12).
    {bra, "uni?", "", "", "L", "9.7.12.3"},
    {brx, "idx uni?", "", "", "b32 L", "9.7.12.4"},
    {call, "uni?", "", "", "call", "9.7.12.5"},  // parsed and printed; nothing here executes it
    {ret, "uni?", "", "", "", "9.7.12.6"},
    {exit, "", "", "", "", "9.7.12.7"},
    {trap, "", "", "", "", "9.7.19.4"},
    // Synchronisation and communication (9.7.13).
    {bar, "cta? sync", "", "", "b32 b32?", "9.7.13.1"},
    {bar, "cta? arrive", "", "", "b32 b32", "9.7.13.1"},
    {bar, "cta? red popc T", "u32", "", ">T b32 P", "9.7.13.1"},
    {bar, "cta? red popc T", "u32", "", ">T b32 b32 P", "9.7.13.1"},
    {bar, "cta? red and|or T", "pred", "", ">P b32 P", "9.7.13.1"},
    {bar, "cta? red and|or T", "pred", "", ">P b32 b32 P", "9.7.13.1"},
    {bar, "warp sync", "", "", "b32", "9.7.13.2"},
    {barrier, "cta? sync aligned?", "", "", "b32 b32?", "9.7.13.1"},
    {barrier, "cta? arrive aligned?", "", "", "b32 b32", "9.7.13.1"},
    {barrier, "cta? red popc aligned? T", "u32", "", ">T b32 P", "9.7.13.1"},
    {barrier, "cta? red popc aligned? T", "u32", "", ">T b32 b32 P", "9.7.13.1"},
    {barrier, "cta? red and|or aligned? T", "pred", "", ">P b32 P", "9.7.13.1"},
    {barrier, "cta? red and|or aligned? T", "pred", "", ">P b32 b32 P", "9.7.13.1"},
    {barrier, "cluster arrive|wait relaxed|release|acquire? aligned?", "", "", "", "9.7.13.3"},
    {membar, "cta|gl|sys", "", "", "", "9.7.13.4"},
    {fence, "sc|acq_rel? " SCOPE, "", "", "", "9.7.13.4"},
    {fence, "proxy alias|async", "", "", "", "9.7.13.4"},
    {vote, "sync all|any|uni T", "pred", "", ">P P b32", "9.7.13.9"},
    {vote, "sync ballot T", "b32", "", ">T P b32", "9.7.13.9"},
    {vote, "all|any|uni T", "pred", "", ">P P", "9.7.13.8"},
    {vote, "ballot T", "b32", "", ">T P", "9.7.13.8"},
    {match, "any sync T", "b32 b64", "", ">b32 T b32", "9.7.13.10"},
    {match, "all sync T", "b32 b64", "", ">b32|P? T b32", "9.7.13.10"},
    {shfl, "sync up|down|bfly|idx T", "b32", "", ">T|P? T b32 b32 b32", "9.7.9.6"},
    {shfl, "up|down|bfly|idx T", "b32", "", ">T|P? T b32 b32", "9.7.9.5"},
    {redux, "sync add|min|max T", "u32 s32", "", ">T T b32", "9.7.13.12"},
    {redux, "sync and|or|xor T", "b32", "", ">T T b32", "9.7.13.12"},
    {activemask, "T", "b32", "", ">T", "9.7.13.11"},
    {elect, "sync", "", "", ">b32|P? b32", "9.7.13.14"},
    {nanosleep, "T", "u32", "", "T", "9.7.19.2"},
    {mapa, "SP? T", "u32 u64", "", ">T M b32", "9.7.9.22"},
    {istypep, "texref|samplerref|surfref", "", "", ">P A", "9.7.10.6"},
    {mbarrier, "init SP? T", "b64", "", "[] b32", "9.7.13.15"},
    {mbarrier, "inval SP? T", "b64", "", "[]", "9.7.13.15"},
    {mbarrier, "arrive SP? T", "b64", "", ">T [] b32?", "9.7.13.15"},
    {mbarrier, "test_wait|try_wait SP? T", "b64", "", ">P [] T", "9.7.13.15"},
    // Matrix instructions (9.7.14, 9.7.15): the warp-level ones; of wgmma, what surrounds the asynchronous products.
    {ldmatrix, "sync aligned m8n8 x1|x2|x4 trans? SP? T", "b16", "", ">v []", "9.7.14.5"},
    {mma, "sync aligned m8n8k4|m16n8k8|m16n8k16 row col T S f16|bf16 f16|f32", "f16 f32", "f16 bf16", ">v v v v",
     "9.7.14.4"},
    {mma, "sync aligned m8n8k16|m16n8k16|m16n8k32 row col satfinite? T S s8|u8 s32", "s32", "s8 u8", ">v v v v",
     "9.7.14.4"},
    {wgmma, "fence|commit_group sync aligned", "", "", "", "9.7.15"},
    {wgmma, "wait_group sync aligned", "", "", "b32", "9.7.15"},
    {pmevent, "", "", "", "b32", "9.7.19.3"},
};

static_assert(std::ranges::is_sorted(kTable, {}, &Form::opcode), "forms_of() searches by opcode");

}  // namespace

std::span<const Form> instruction_table() { return kTable; }

}  // namespace gputomo::ptx
