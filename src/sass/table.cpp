// The rows of the instruction table; table.hpp explains the notation, and facts.hpp what stands behind it. The
// encodings come from probing nvdisasm 13.5 bit by bit and from code that ptxas 13.0 makes; docs/machine-code.md says
// how they are proven. Units are those on which scans of an H200 found the instructions.
#include "sass/table.hpp"

#include <algorithm>
#include <iterator>

namespace gputomo::sass {
namespace table {
namespace {

// String literals that are joined at compile time; nothing else in the language joins them.
#define NO_CARRY "=7@81:3 =15@87:4 =0@74 "
#define GLOBAL_ADDRESS "desc[ub][a.64+s40:24]"

using enum Operation;
using enum Unit;
using enum Class;
using enum MemorySpace;
using enum Access;

constexpr std::string_view kUnknownCost{};
// Words of the source operands.
constexpr std::array<std::uint8_t, 4> kDoubles{2, 2, 2, 2}, kWideAddend{1, 1, 2, 1}, kMatrices{4, 2, 4, 4};

constexpr Facts access(MemorySpace space, Access access) {
    constexpr std::string_view kListedAs[] = {"ld", "st", "atom", "red"};
    return {.unit = none,
            .what = memory,
            .space = space,
            .access = access,
            .listed_as = kListedAs[static_cast<std::size_t>(access)],
            .slow = true};
}
/// Each lane names the address of a row of a matrix.
constexpr Facts rows_of_matrices(Access access) {
    return {.unit = none,
            .what = memory,
            .space = MemorySpace::shared,
            .access = access,
            .listed_as = kUnknownCost,
            .slow = true};
}

// clang-format off
constexpr Row kTable[] = {
    // Single precision
    {FADD, 0x021, "1237", "ftz@80 rounding@78 saturate@77", "d, -|a|, -|S:f|", 80, 90,
     {.unit = sp, .timed_as = "add.f32", .listed_as = "add.f32"}},
    {FMUL, 0x020, "1456", "denormals@76:1+80:1 scale@84 rounding@78 saturate@77", "d, -|a|, -|S:f|", 80, 90,
     {.unit = sp, .timed_as = "mul.f32", .listed_as = "mul.f32"}},
    {FFMA, 0x023, "1234567", "denormals@76:1+80:1 rounding@78 saturate@77", "d, -|a|, -|B:f|, -|C:f|", 80, 90,
     {.unit = sp, .timed_as = "fma.rn.f32", .listed_as = "fma.rn.f32"}},
    {FSEL, 0x008, "1456", "ftz@80", "d, -|a|, -|S:f|, !p87", 80, 90, {.unit = integer, .listed_as = "selp.f32"}},
    {FMNMX, 0x009, "1456", "ftz@80 nan@81 xorsign@82", "d, -|a|, -|S:f|, !p87", 86, 90,
     {.unit = integer, .timed_as = "max.f32", .listed_as = "max.f32"}},
    {FSET, 0x00a, "1456", ".BF compare@76 ftz@80 combine@74", "d, -|a|, -|S:f|, !p87", 80, 90,
     {.unit = integer, .assumed = true, .listed_as = "setp.lt.f32"}},
    {FSETP, 0x00b, "1456", "compare@76 ftz@80 combine@74", "p81, p84, -|a|, -|S:f|, !p87", 80, 90,
     {.unit = integer, .listed_as = "setp.lt.f32"}},
    {FCHK, 0x102, "1456", "", "p81, -|a|, -|S:f|", 80, 90,
     {.unit = sfu, .assumed = true, .listed_as = "setp.lt.f32", .slow = true}},
    {MUFU, 0x108, "1456", "function@74 =0@72:2", "d, -|S:f|", 80, 90,
     {.unit = sfu, .timed_as = "ex2.approx.ftz.f32", .listed_as = "rsqrt.approx.f32", .slow = true}},
    {MUFU, 0x108, "16", "narrow_function@74 function_format@72", "d, -|S:f|.h1@60"},
    // Double precision
    {DADD, 0x029, "1237", "rounding@78", "d, -|a|, -|C:d|", 80, 90,
     {.unit = dpu, .timed_as = "add.f64", .listed_as = "add.f64", .words = kDoubles, .slow = true}},
    {DMUL, 0x028, "1456", "rounding@78", "d, -|a|, -|S:d|", 80, 90,
     {.unit = dpu, .timed_as = "mul.f64", .listed_as = "mul.f64", .words = kDoubles, .slow = true}},
    {DFMA, 0x02b, "1234567", "rounding@78", "d, -|a|, -|B:d|, -|C:d|", 80, 90,
     {.unit = dpu, .timed_as = "fma.rn.f64", .listed_as = "fma.rn.f64", .words = kDoubles, .slow = true}},
    {DSETP, 0x02a, "1237", "compare_or_minmax@76 combine@74", "p81, p84, -|a|, -|S:d|, !p87", 80, 90,
     {.unit = dpu, .listed_as = "setp.lt.f64", .words = kDoubles, .slow = true}},
    // Two half-precision numbers
    {HADD2, 0x030, "1237", "bf16_v2@85 ftz@80 saturate@77 =0@78", "d, -|a|.half, -|S:h|.half", 90, 90,
     {.unit = sp, .timed_as = "add.f16x2", .listed_as = "add.f32"}},
    {HADD2, 0x030, "137", ".F32 ftz@80 saturate@77 =1@78", "d, -a.half, -|S:h|.half", 80},
    {HMUL2, 0x032, "1456", "bf16_v2@85 denormals@76:1+80:1 saturate@77", "d, -|a|.half, -|S:h|.half", 90, 90,
     {.unit = sp, .timed_as = "mul.f16x2", .listed_as = "mul.f32"}},
    {HFMA2, 0x031, "1234567", "half_format@78:1+85:1 half_denormals@76:1+80:1 saturate@77 -64@84 |64@83 =0@79",
     "d, -|a|.half, -|B:h|.signed_half, -|C:h|.half", 90, 90,
     {.unit = sp, .timed_as = "fma.rn.f16x2", .listed_as = "fma.rn.f32"}},
    {HFMA2, 0x031, "1234567", "half_format@78:1+85:1 half_denormals@76:1+80:1 .RELU -64@84 |64@83 =0@77 =1@79",
     "d, -|a|.half, -|B:h|.signed_half, -|C:h|.half, !p87?"},
    {HFMA2, 0x035, "1234567", ".MMA bf16_v2@85 denormals@76:1+80:1 saturate@77 -64@84 |64@83 =0@79",
     "d, -|a|, -|B:h|, -|C:h|", 90, 90,
     {.unit = sp, .timed_as = "fma.rn.f16x2", .listed_as = "fma.rn.f32", .name = "HFMA2.MMA"}},
    {HFMA2, 0x035, "1234567", ".MMA bf16_v2@85 denormals@76:1+80:1 .RELU -64@84 |64@83 =0@77 =1@79",
     "d, -|a|, -|B:h|, -|C:h|, !p87?"},
    {HMNMX2, 0x040, "1456", "bf16_v2@85 ftz@80 nan@81 xorsign@82", "d, -|a|.half, -|S:h|.half, !p87", 86, 90,
     {.unit = integer, .timed_as = "min.f16x2"}},
    {HSET2, 0x033, "1237", "half_compare_format@64 as_float@71 compare@76 ftz@80 combine@69",
     "d, -|a|.half, -|S:h|.half, !p87", 90, 90, {.unit = integer, .assumed = true}},
    {HSETP2, 0x034, "1237", "half_compare_format@64 compare@76 half_and@71 ftz@80 combine@69",
     "p81, p84, -|a|.half, -|S:h|.half, !p87", 90, 90,
     {.unit = integer, .assumed = true, .listed_as = "setp.lt.f32"}},
    // Conversions
    {F2F, 0x104, "16", "ftz@80 small_floats@75:3+84:3 rounding@78", "d, -|S:f|", 90, 90,
     {.unit = sfu, .assumed = true, .slow = true}},
    {F2F, 0x110, "16", "ftz@80 wide_floats@75:3+84:3 rounding@78", "d, -|S:d|", 90, 90,
     {.unit = sfu, .assumed = true, .slow = true, .name = "F2F.F64"}},
    {F2I, 0x105, "16", "ftz@80 to_small_integer@72:1+75:2 from_small_float@84 integral@78 ntz@77", "d, -|S:f|",
     90, 90, {.unit = sfu, .timed_as = "cvt.rzi.s32.f32", .slow = true}},
    {F2I, 0x111, "156", "ftz@80 to_integer@72:1+75:2 .F64 integral@78 ntz@77 =3@84:3", "d, -|S:d|", 80, 90,
     {.unit = sfu, .timed_as = "cvt.rzi.s32.f32", .slow = true, .name = "F2I.F64"}},
    {F2I, 0x111, "16", "ftz@80 to_long@72 from_small_float@84 integral@78 ntz@77 =3@75:2", "d, -|S:f|"},
    {I2F, 0x106, "156", "to_small_float@75 from_byte@74 rounding@78 =0@84:2", "d, S:u.byte@60", 90, 90,
     {.unit = sfu, .timed_as = "cvt.rn.f64.s64", .slow = true}},
    {I2F, 0x106, "156", "to_small_float@75 from_short@74 rounding@78 =1@84:2", "d, S:u.h1@60"},
    {I2F, 0x106, "156", "to_small_float@75 signedness@74 rounding@78 =2@84:2", "d, S:u"},
    {I2F, 0x106, "4", "to_small_float@75 .U32 rounding@78 =0@74 =2@84:2", "d, S:u", 90, 121},
    {I2F, 0x106, "4", "to_small_float@75 rounding@78 =1@74 =2@84:2", "d, S:s", 90, 121},
    {I2F, 0x112, "156", ".F64 from_byte@74 rounding@78 =3@75:3 =0@84:2", "d, S:u.byte@60", 80, 90,
     {.unit = sfu, .timed_as = "cvt.rn.f64.s64", .slow = true, .name = "I2F.F64"}},
    {I2F, 0x112, "156", ".F64 from_short@74 rounding@78 =3@75:3 =1@84:2", "d, S:u.h1@60", 80},
    {I2F, 0x112, "156", ".F64 signedness@74 rounding@78 =3@75:3 =2@84:2", "d, S:u", 80},
    {I2F, 0x112, "156", "to_float_or_f32@75 from_long@74 rounding@78 =3@84:2", "d, S:u"},
    {FRND, 0x107, "156", "ftz@80 integral@78 =2@75:3 =2@84:3", "d, -|S:f|", 80, 90,
     {.unit = sfu, .timed_as = "cvt.rni.f32.f32", .slow = true}},
    {FRND, 0x107, "16", "ftz@80 .F16 integral@78 =1@75:3 =1@84:3", "d, -|S:f|", 80},
    {FRND, 0x107, "16", "ftz@80 .BF16 integral@78 =4@75:3 =4@84:3", "d, -|S:f|"},
    {FRND, 0x113, "156", "ftz@80 .F64 integral@78 =3@75:3 =3@84:3", "d, -|S:d|", 80, 90,
     {.unit = sfu, .timed_as = "cvt.rni.f32.f32", .slow = true, .name = "FRND.F64"}},
    {I2I, 0x038, "1456", "saturated_integer@76 .S32 .SAT", "d, S:s", 80, 90, {.unit = integer, .assumed = true}},
    {I2IP, 0x039, "1", "saturated_integer@76 .S32 .SAT =1@74", "d, a, b, c", 90, 121,
     {.unit = integer, .assumed = true}},
    {F2FP, 0x03e, "1456", "satfinite@77 relu@75 packed_format@76 .F32 .PACK_AB zero_rounding@79 =255@64:8",
     "d, a, S:f", 89, 90, {.unit = integer, .assumed = true}},
    {F2FP, 0x03e, "1456", "relu@75 .TF32 .F32 .PACK_B zero_rounding@79 =1@76 =1@78 =1@86 =1@89 =255@24:8 "
     "=255@64:8", "d, S:f", 89},
    {F2FP, 0x03e, "1456", "satfinite@77 relu@75 byte_float@76 .F32 .PACK_AB_MERGE_C =1@78 =1@87 =1@90",
     "d, a, S:f, c", 89},
    {F2FP, 0x03e, "1", "relu@75 .F16 byte_float@73 .UNPACK_B =1@74 =1@89 =255@24:8 =255@64:8", "d, S:u.h1@88", 89, 121},
    {F2IP, 0x043, "1", "byte_format@76 .F32 pack_rounding@78 ntz@74 relu@75", "d, a, b, c.h1@72", 86, 121,
     {.unit = integer, .assumed = true}},
    {I2FP, 0x045, "156", ".F32 source_integer@74 zero_rounding@78 =2@75:3 =2@84:3", "d, S:u", 86, 90,
     {.unit = integer, .timed_as = "cvt.rn.f32.s32"}},
    // Integers
    {IADD3, 0x010, "1456", "=0@74 =15@77:4 =15@87:4", "d, p81?, p84?, -a, -S:s, -c", 80, 90, {.unit = integer}},
    {IADD3, 0x010, "1456", ".X =1@74", "d, p81?, p84?, ~a, ~S:s, ~c, !p87, !p77", 80},
    {IMAD, 0x024, "1234567", "signedness@73 " NO_CARRY, "d, a, B:s, -C:s", 80, 90,
     {.unit = sp, .timed_as = "mad.lo.u32", .listed_as = "mad.lo.s32"}},
    {IMAD, 0x024, "1234567", "signedness@73 .X =7@81:3 =1@74", "d, a, B:s, ~C:s, !p87", 80},
    {IMAD, 0x025, "134567", ".WIDE signedness@73 =0@74 =15@87:4", "d, p81?, a, B:s, -C:s", 80, 90,
     {.unit = sp, .timed_as = "mul.hi.u32", .assumed = true, .listed_as = "mad.lo.s32", .words = kWideAddend,
      .name = "IMAD.WIDE"}},
    {IMAD, 0x025, "134567", ".WIDE signedness@73 .X =1@74", "d, p81?, a, B:s, ~C:s, !p87", 80},
    {IMAD, 0x027, "134567", ".HI signedness@73 =0@74 =15@87:4", "d, p81?, a, B:s, -C:s", 80, 90,
     {.unit = sp, .timed_as = "mul.hi.u32", .listed_as = "mad.lo.s32", .name = "IMAD.HI"}},
    {IMAD, 0x027, "134567", ".HI signedness@73 .X =1@74", "d, p81?, a, B:s, ~C:s, !p87", 80},
    {IDP, 0x026, "156", ".4A dot_a8@73 dot_b8@74 =0@76:2", "d, a, S:u, -c", 80, 90,
     {.unit = sp, .timed_as = "dp4a.s32.s32", .listed_as = "mad.lo.s32"}},
    {IDP, 0x026, "156", ".2A dot_half@77 dot_a16@73 dot_b8@74 =1@76", "d, a, S:u, -c", 80},
    {CLMAD, 0x02c, "13567", ".LO", "d, a, B:u, C:u", 80, 90, {.unit = integer, .assumed = true}},
    {ISETP, 0x00c, "1456", "integer_compare@76 signedness@73 combine@74 =0@72 =7@68:4", "p81, p84, a, S:s, !p87",
     80, 90, {.unit = integer}},
    {ISETP, 0x00c, "1456", "integer_compare@76 signedness@73 combine@74 .EX =1@72", "p81, p84, a, S:s, !p87, !p68", 80},
    {IABS, 0x013, "1456", "", "d, S:s", 80, 90, {.unit = integer}},
    {LEA, 0x011, "1456", "=0@74 =0@80 =255@64:8 =15@87:4", "d, p81?, -a, -S:u, i75:5", 80, 90,
     {.unit = integer, .assumed = true}},
    {LEA, 0x011, "1456", ".X =1@74 =0@80 =255@64:8", "d, p81?, ~a, ~S:u, i75:5, !p87", 80},
    {LEA, 0x011, "1456", ".HI =0@73 =0@74 =1@80 =15@87:4", "d, p81?, -a, -S:u, c, i75:5", 80},
    {LEA, 0x011, "1456", ".HI .SX32 =1@73 =0@74 =1@80 =255@64:8 =15@87:4", "d, p81?, -a, -S:u, i75:5", 80},
    {LEA, 0x011, "1456", ".HI .X =0@73 =1@74 =1@80", "d, p81?, ~a, ~S:u, c, i75:5, !p87", 80},
    {LEA, 0x011, "1456", ".HI .X .SX32 =1@73 =1@74 =1@80 =255@64:8", "d, p81?, ~a, ~S:u, i75:5, !p87", 80},
    {LOP3, 0x012, "1456", ".LUT pand@80", "p81?, d, a, S:u, c, i72:8, !p87", 80, 90,
     {.unit = integer, .timed_as = "lop3.b32"}},
    {SHF, 0x019, "1234567", "direction@76 wrap@75 shift_format@73 high@80", "d, a, B:u, C:u", 80, 90,
     {.unit = integer, .timed_as = "shf.l.wrap.b32"}},
    {SEL, 0x007, "1456", "", "d, a, S:u, !p87", 80, 90, {.unit = integer}},
    {SGXT, 0x01a, "1456", "wrap@75 signedness@73", "d, a, S:u", 80, 90, {.unit = integer, .assumed = true}},
    {BMSK, 0x01b, "1456", "wrap@75", "d, a, S:u", 80, 90, {.unit = integer, .assumed = true}},
    {PRMT, 0x016, "1234567", "permutation@72", "d, a, B:u, C:u", 80, 90, {.unit = integer, .timed_as = "prmt.b32"}},
    {FLO, 0x100, "1456", "signedness@73 shift_amount@74", "d, p81?, ~S:u", 80, 90,
     {.unit = sfu, .timed_as = "bfind.u32", .slow = true}},
    {BREV, 0x101, "1456", "", "d, S:u", 80, 90, {.unit = sfu, .timed_as = "brev.b32", .slow = true}},
    {POPC, 0x109, "1456", "", "d, ~S:u", 80, 90, {.unit = sfu, .timed_as = "popc.b32", .slow = true}},
    {VIADD, 0x036, "1456", "add_format@73", "d, a, -S:u", 90, 90, {.unit = integer}},
    {VIADDMNMX, 0x046, "1234567", "minmax_format@72 relu@76", "d, a, -B:u, C:u, !p87", 90, 90,
     {.unit = integer, .assumed = true}},
    {VIMNMX, 0x048, "1456", "minmax_format@72 relu@76 =63@81:6", "d, a, S:s, !p87", 90, 90,
     {.unit = integer, .timed_as = "max.s32"}},
    {VIMNMX3, 0x00f, "1456", "minmax_format@72 relu@76", "d, a, S:u, c, !p87", 90, 90,
     {.unit = integer, .assumed = true}},
    {VABSDIFF, 0x014, "1234567", "signedness@73", "d, p81?, a, B:u, C:u", 80, 90,
     {.unit = integer, .timed_as = "sad.u32"}},
    {VABSDIFF4, 0x015, "1234567", "difference_format@73 accumulate@75", "d, p81?, a, B:u, C:u", 80, 90,
     {.unit = integer, .assumed = true}},
    // Moves and predicates
    {MOV, 0x002, "1456", "=15@72:4", "d, S:u", 80, 90, {.unit = integer, .assumed = true}},
    {P2R, 0x003, "1456", "byte@76", "d, PR, a, S:u", 90, 90, {.unit = integer, .assumed = true}},
    {R2P, 0x004, "1456", "", "PR, a.byte@76, S:u", 80, 90, {.unit = integer, .assumed = true}},
    {PLOP3, 0x01c, "4", ".LUT =0@67", "p81, p84, !p87, !p77, !p68, i64:3+72:5, i16:8", 80, 121,
     {.unit = integer, .assumed = true}},
    {PLOP3, 0x01c, "4", ".LUT =1@67", "p81, p84, !p87, !p77, !up68, i64:3+72:5, i16:8", 80, 121},
    {PLOP3, 0x01f, "16", ".LUT", "p81, p84, a.SIGN, S:u.SIGN, c.SIGN, i72:8, i16:8", 80},
    {S2R, 0x119, "4", "", "d, sr72", 90, 90, {.unit = sfu, .assumed = true}},
    {CS2R, 0x005, "4", "clock_width@80", "d, sr72", 90, 90, {.unit = none}},
    {VOTE, 0x006, "4", "vote@72", "d?, p81, !p87", 80, 121, {.unit = integer, .assumed = true}},
    {MATCH, 0x1a1, "1", ".ANY u64@73 =1@79 =7@81:3", "d, a", 80, 121,
     {.unit = exchange, .timed_as = "match.any.sync.b32", .slow = true}},
    {MATCH, 0x1a1, "1", ".ALL u64@73 =0@79", "p81, d, a", 80, 121},
    {SHFL, 0x189, "1", "shuffle@58", "p81, d, a, b, c", 80, 121,
     {.unit = exchange, .timed_as = "shfl.sync.bfly.b32", .slow = true}},
    {SHFL, 0x189, "2", "shuffle@58", "p81, d, a, b, i40:13", 80, 121},
    {SHFL, 0x189, "4", "shuffle@58", "p81, d, a, i53:5, c", 80, 121},
    {SHFL, 0x189, "7", "shuffle@58", "p81, d, a, i53:5, i40:13", 80, 121},
    // Uniform registers
    {UMOV, 0x082, "46", "@UP", "ud, US:u", 80, 90, {.unit = unknown}},
    {UIADD3, 0x090, "14", "@UP =0@74 =15@77:4 =15@87:4", "ud, up81?, up84?, -ua, -US:s, -uc", 80, 90,
     {.unit = unknown}},
    {UIADD3, 0x090, "14", "@UP .X =1@74", "ud, up81?, up84?, ~ua, ~US:s, ~uc, !up87, !up77", 80},
    {UIADD3, 0x097, "14", "@UP .64 =0@74 =15@77:4 =15@87:4", "ud, up81?, up84?, -ua, -US:s, -uc", 80},
    {UIMAD, 0x0a4, "124", "@UP signedness@73 " NO_CARRY, "ud, ua, UB:s, -UC:s", 80, 90,
     {.unit = unknown, .listed_as = "mad.lo.s32"}},
    {UIMAD, 0x0a5, "14", "@UP .WIDE signedness@73 =0@74 =15@87:4", "ud, up81?, ua, UB:s, -UC:s", 80, 90,
     {.unit = unknown, .listed_as = "mad.lo.s32", .name = "UIMAD.WIDE"}},
    {UIMAD, 0x0a5, "14", "@UP .WIDE signedness@73 .X =1@74", "ud, up81?, ua, UB:s, ~UC:s, !up87", 80},
    {UISETP, 0x08c, "14", "@UP integer_compare@76 signedness@73 combine@74 =0@72 =7@68:4",
     "up81, up84, ua, US:s, !up87", 80, 90, {.unit = unknown}},
    {UISETP, 0x08c, "14", "@UP integer_compare@76 signedness@73 combine@74 .EX =1@72",
     "up81, up84, ua, US:s, !up87, !up68", 80},
    {ULEA, 0x091, "14", "@UP =0@74 =0@80 =63@64:8 =15@87:4", "ud, up81?, -ua, -US:u, i75:5", 80, 90,
     {.unit = unknown}},
    {ULEA, 0x091, "14", "@UP .X =1@74 =0@80 =63@64:8", "ud, up81?, ~ua, ~US:u, i75:5, !up87", 80},
    {ULEA, 0x091, "14", "@UP .HI =0@73 =0@74 =1@80 =15@87:4", "ud, up81?, -ua, -US:u, uc, i75:5", 80},
    {ULEA, 0x091, "14", "@UP .HI .SX32 =1@73 =0@74 =1@80 =63@64:8 =15@87:4", "ud, up81?, -ua, -US:u, i75:5", 80},
    {ULEA, 0x091, "14", "@UP .HI .X =0@73 =1@74 =1@80", "ud, up81?, ~ua, ~US:u, uc, i75:5, !up87", 80},
    {ULEA, 0x091, "14", "@UP .HI .X .SX32 =1@73 =1@74 =1@80 =63@64:8", "ud, up81?, ~ua, ~US:u, i75:5, !up87", 80},
    {ULOP3, 0x092, "14", "@UP .LUT pand@80", "up81?, ud, ua, US:u, uc, i72:8, !up87", 80, 90, {.unit = unknown}},
    {UPRMT, 0x096, "14", "@UP", "ud, ua, US:u, uc", 80, 90, {.unit = unknown}},
    {USHF, 0x099, "124", "@UP direction@76 wrap@75 shift_format@73 high@80", "ud, ua, UB:u, UC:u", 80, 90,
     {.unit = unknown}},
    {USGXT, 0x09a, "14", "@UP wrap@75 signedness@73", "ud, ua, US:u", 80, 90, {.unit = unknown}},
    {UBMSK, 0x09b, "14", "@UP wrap@75", "ud, ua, US:u", 80, 90, {.unit = unknown}},
    {USEL, 0x087, "14", "@UP", "ud, ua, US:u, !up87", 80, 90, {.unit = unknown}},
    {UPLOP3, 0x09c, "4", "@UP .LUT", "up81, up84, !up87, !up77, !up68, i64:3+72:5, i16:8", 80, 121,
     {.unit = unknown}},
    {UP2UR, 0x083, "46", "@UP byte@76", "ud, UPR, ua, US:u", 80, 90, {.unit = unknown}},
    {UR2UP, 0x084, "6", "@UP", "UPR, ua.byte@76, US:u", 80, 90, {.unit = unknown}},
    {UFLO, 0x0bd, "1", "@UP signedness@73 shift_amount@74", "ud, up81?, ~US:u", 80, 90, {.unit = unknown}},
    {UBREV, 0x0be, "1", "@UP", "ud, US:u", 80, 90, {.unit = unknown}},
    {UPOPC, 0x0bf, "1", "@UP", "ud, ~US:u", 80, 90, {.unit = unknown}},
    {ULDC, 0x0b9, "5", "@UP constant_width@73", "ud, c[]", 80, 90,
     {.unit = none, .what = constant, .space = constants, .listed_as = "mov.b32"}},
    {ULDC, 0x0bb, "5", "@UP constant_width@73", "ud, c[ua]", 80},
    {R2UR, 0x0ca, "1", "=0@84", "p81?, ud, a", 90, 90, {.unit = sfu, .assumed = true}},
    {R2UR, 0x0ca, "1", ".OR =1@84", "p81, ud, a"},
    {S2UR, 0x1c3, "4", "@UP", "ud, sr72", 90, 90, {.unit = sfu, .assumed = true}},
    {VOTEU, 0x086, "4", "vote@72", "ud?, up81, !p87", 80, 90, {.unit = integer, .assumed = true}},
    {REDUX, 0x1c4, "1", "redux@78 signed_redux@73", "ud, a", 80, 90,
     {.unit = exchange, .timed_as = "redux.sync.add.u32", .assumed = true, .slow = true}},
    {ELECT, 0x02f, "4", "ignore_kill@85", "p81, ud, !p87", 90, 90, {.unit = integer, .assumed = true}},
    // Loads and stores
    {LDC, 0x182, "5", "constant_width@73 constant_mode@78", "d, c[a]", 80, 121,
     {.unit = none, .what = constant, .space = constants, .listed_as = "mov.b32"}},
    {LD, 0x180, "4", "extended@72 eviction@84 prefetch@68 width@73 load_order@77 =0@76 =0@90",
     "d, [a+s32:32], q64?", 80, 121, access(generic, load)},
    {LD, 0x180, "4", ".E =1@72 eviction@84 prefetch@68 width@73 load_order@77 =1@76 =1@90",
     "d, " GLOBAL_ADDRESS ", q64?"},
    {LD, 0x180, "4", ".E =1@72 eviction@84 prefetch@68 width@73 load_order@77 =0@76 =1@90",
     "d, [a.64+ub+s40:24], q64?", 80},
    {LDG, 0x181, "1", "extended@72 eviction@84 prefetch@68 width@73 load_order@77",
     "p81?, d, [a+s40:24], q64?", 80, 121, access(global, load)},
    {LDG, 0x181, "4", ".E =1@72 eviction@84 prefetch@68 width@73 load_order@77 =1@76 =1@90",
     "p81?, d, " GLOBAL_ADDRESS ", q64?"},
    {LDG, 0x181, "4", ".E =1@72 eviction@84 prefetch@68 width@73 load_order@77 =0@76 =1@90",
     "p81?, d, [a.64+ub+s40:24], q64?", 80},
    {LDG, 0x181, "4", ".E =1@72 eviction@84 prefetch@68 width@73 load_order@77 =0@76 =0@90",
     "p81?, d, [a.U32+ub+s40:24], q64?"},
    {LDL, 0x183, "4", "eviction@84 width@73", "d, [a+s40:24]", 80, 121, access(local, load)},
    {LDL, 0x183, "4", "eviction@84 width@73", "d, [a+ub+s40:24]", 80},
    {LDS, 0x184, "4", "width@73", "d, [a.address_scale@78+s40:24]", 80, 121, access(shared, load)},
    {LDS, 0x184, "4", "width@73", "d, [a.address_scale@78+ub+s40:24]", 80},
    {LDSM, 0x03b, "4", ".16 matrix_layout@78 matrix_count@72", "d, [a+s40:24]", 80, 121, rows_of_matrices(load)},
    {LDSM, 0x03b, "4", ".16 matrix_layout@78 matrix_count@72", "d, [a+ub+s40:24]", 80},
    {ST, 0x185, "1", "extended@72 eviction@84 width@73 store_order@77", "[a+s32:32], c", 80, 121,
     access(generic, store)},
    {ST, 0x185, "4", ".E =1@72 eviction@84 width@73 store_order@77 =1@76 =1@90", "desc[uc][a.64+s40:24], b"},
    {ST, 0x185, "4", ".E =1@72 eviction@84 width@73 store_order@77 =0@76 =1@90", "[a.64+uc+s40:24], b", 80},
    {STG, 0x186, "1", "extended@72 eviction@84 width@73 store_order@77", "[a+s40:24], b", 80, 90,
     access(global, store)},
    {STG, 0x186, "4", ".E =1@72 eviction@84 width@73 store_order@77 =1@76 =1@90", "desc[uc][a.64+s40:24], b"},
    {STG, 0x186, "4", ".E =1@72 eviction@84 width@73 store_order@77 =0@76 =1@90", "[a.64+uc+s40:24], b", 80},
    {STG, 0x186, "4", ".E =1@72 eviction@84 width@73 store_order@77 =0@76 =0@90", "[a.U32+uc+s40:24], b"},
    {STL, 0x187, "1", "eviction@84 width@73", "[a+s40:24], b", 80, 121, access(local, store)},
    {STL, 0x187, "4", "eviction@84 width@73 =0@76", "[a+uc+s40:24], b", 80},
    {STS, 0x188, "1", "width@73", "[a.address_scale@78+s40:24], b", 80, 121, access(shared, store)},
    {STS, 0x188, "4", "width@73", "[a.address_scale@78+uc+s40:24], b", 80},
    {STSM, 0x044, "4", ".16 matrix_store_layout@78 matrix_count@72", "[a+s40:24], b", 90, 90,
     rows_of_matrices(store)},
    {STSM, 0x044, "4", ".16 matrix_store_layout@78 matrix_count@72", "[a+uc+s40:24], b"},
    {STAS, 0x1bd, "6", "wide_width@73 =1@90", "[a.64+uc?+s40:24], b", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {LDGSTS, 0x1ae, "7", ".E bypass@81 eviction@84 prefetch@71 wide_width@73 zero_fill@82 =1@76 =1@70",
     "[d+s44:20], desc[uc][a.64+s32:12], !p87?", 90, 90,
     {.unit = none, .what = copy, .listed_as = kUnknownCost, .slow = true}},
    {LDGSTS, 0x1ae, "6", ".E bypass@81 eviction@84 prefetch@71 wide_width@73 zero_fill@82 =0@76 =1@70",
     "[d+uc+s44:20], [a.64+s32:12], !p87?", 80},
    {LDGSTS, 0x1ae, "7", ".E bypass@81 eviction@84 prefetch@71 wide_width@73 zero_fill@82 =0@76 =1@70",
     "[d+s44:20], [a.64+uc?+s32:12], !p87?", 80},
    {QSPC, 0x1aa, "1", "extended@72 space@73", "p81, d, [a+s40:24]", 90, 121,
     {.unit = sfu, .assumed = true, .slow = true}},
    // Textures and surfaces
    {TEX, 0x160, "7", "texture_level@87 eviction@84 nodep@90",
     "p81?, c, d, a, b?, u40, i46:8, :texture@61, :texture_mask@72", 80, 90,
     {.unit = none, .what = texture, .listed_as = kUnknownCost, .slow = true}},
    {TLD, 0x166, "7", "texel_level@87 eviction@84 nodep@90",
     "p81?, c, d, a, b?, u40, i46:8, :texel@61, :texture_mask@72", 80, 90,
     {.unit = none, .what = texture, .listed_as = kUnknownCost, .slow = true}},
    {TLD4, 0x163, "7", "component@87 eviction@84 nodep@90",
     "p81?, c, d, a, b?, u40, i46:8, :gathered_texture@61, :texture_mask@72", 80, 90,
     {.unit = none, .what = texture, .listed_as = kUnknownCost, .slow = true}},
    {TXD, 0x16c, "7", "eviction@84 nodep@90", "p81?, c, d, a, b, u40, i46:8, :flat_texture@61, :texture_mask@72",
     80, 90, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {TXQ, 0x16f, "7", "nodep@90", "c, d, a, :texture_query@62, u40, i46:8, i72:4", 80, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {SULD, 0x199, "7", ".D byte_address@72 surface@61 eviction@84 width@73 load_order@77 surface_clamp@59",
     "p81?, d, [a], u40, i46:8", 80, 90, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {SUST, 0x19d, "7", ".D byte_address@72 surface@61 eviction@84 width@73 store_order@77 surface_clamp@59",
     "[a], b, u40, i46:8", 80, 90, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {SUST, 0x19b, "7", ".P surface@61 eviction@84 store_order@77 surface_clamp@59 =15@72:4", "[a], b, u40, i46:8", 80},
    {SURED, 0x19f, "7",
     ".D byte_address@72 surface@61 reduction@87 eviction@84 surface_format@73 store_order@77 surface_clamp@59",
     "[a], b, u40, i46:8", 80, 90, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    // Atomics
    {ATOM, 0x18a, "1", "extended@72 atomic@87 eviction@84 atomic_format@73 store_order@77",
     "p81, d, [a+s40:24], b", 90, 121, access(generic, atomic)},
    {ATOM, 0x18a, "4", ".E =1@72 atomic@87 eviction@84 atomic_format@73 store_order@77 =3@70:2",
     "p81, d, desc[uc][a.64+s40:24], b"},
    {ATOM, 0x18b, "1", "extended@72 exchange@87 eviction@84 unsigned_atomic_format@73 store_order@77",
     "p81, d, [a+s40:24], b, c", 90, 121},
    {ATOM, 0x1a2, "4", ".E =1@72 float_atomic@88 eviction@84 float_format@73 store_order@77 =3@70:2",
     "p81, d, desc[uc][a.64+s40:24], b"},
    {ATOMG, 0x1a8, "1", "extended@72 global_atomic@87 eviction@84 atomic_format@73 store_order@77",
     "p81, d, [a+s40:24], b", 90, 121, access(global, atomic)},
    {ATOMG, 0x1a8, "4", ".E =1@72 global_atomic@87 eviction@84 atomic_format@73 store_order@77 =3@70:2",
     "p81, d, desc[uc][a.64+s40:24], b"},
    {ATOMG, 0x1a9, "1", "extended@72 .CAS eviction@84 unsigned_atomic_format@73 store_order@77",
     "p81, d, [a+s40:24], b, c", 90, 121},
    {ATOMG, 0x1a3, "4", ".E =1@72 float_atomic@88 eviction@84 float_format@73 store_order@77 =3@70:2",
     "p81, d, desc[uc][a.64+s40:24], b"},
    {ATOMS, 0x18c, "1", "atomic@87 unsigned_atomic_format@73", "d, [a.address_scale@78+s40:24], b", 90, 121,
     access(shared, atomic)},
    {ATOMS, 0x18c, "4", "atomic@87 unsigned_atomic_format@73", "d, [a.address_scale@78+uc+s40:24], b"},
    {ATOMS, 0x18c, "7", ".POPC .INC .32 =11@87:4", "d, [a.address_scale@78+uc+s40:24]"},
    {ATOMS, 0x18d, "1", "exchange@87 unsigned_atomic_format@73", "d, [a.address_scale@78+s40:24], b, c", 90, 121},
    {REDG, 0x18e, "4", ".E =1@72 reduction@87 eviction@84 reduction_format@73 store_order@77 =2@70:2 =1@90",
     "desc[uc][a.64+s40:24], b", 90, 90, access(global, reduction)},
    {REDG, 0x1a6, "4", ".E =1@72 float_atomic@88 eviction@84 float_format@73 store_order@77 =2@70:2 =1@90",
     "desc[uc][a.64+s40:24], b"},
    // Order of memory
    {MEMBAR, 0x192, "4", "fence@79 scope@76", "", 90, 121, {.unit = none, .what = fence, .slow = true}},
    {ERRBAR, 0x1ab, "4", "", "", 80, 121, {.unit = none, .slow = true}},
    {CGAERRBAR, 0x1ab, "2", "", "", 90, 121, {.unit = none, .slow = true}},
    {FENCE, 0x1c6, "1", ".VIEW .ASYNC async_view@72", "", 90, 121, {.unit = none, .slow = true}},
    {CCTL, 0x18f, "4", "cache@78 cache_operation_all@87 =255@24:8", "", 80, 121, {.unit = none, .slow = true}},
    {CCTL, 0x18f, "4", "extended@72 cache@78 cache_operation@87", "[a+s32:32]", 80, 121},
    // Control
    {NOP, 0x118, "4", "", "", 80, 121, {.unit = none}},
    {BRA, 0x147, "4", "call_depth@85 branch_kind@32 =0@84", "!p87?, t", 90, 121,
     {.unit = none, .what = branch, .listed_as = "bra"}},
    {BRA, 0x147, "4", "call_depth@85 .U .ANY =1@32:2 =1@84", "!p87?, t", 90, 121},
    {BRA, 0x147, "4", ".DIV =2@32:2", "!p87?, ua, t"},
    {BRA, 0x147, "4", ".CONV =3@32:2", "!p87?, ua, t"},
    {BRA, 0x147, "2", "call_depth@85 .U =1@32:2 =1@91", "!p87?, !up24, t", 90, 121},
    {BRX, 0x149, "4", "call_depth@85", "!p87?, a, _o", 90, 121,
     {.unit = none, .what = branch, .listed_as = kUnknownCost}},
    {CALL, 0x144, "4", ".REL noinc@86", "!p87?, t", 90, 121,
     {.unit = none, .what = branch, .listed_as = kUnknownCost, .name = "CALL.REL"}},
    {CALL, 0x144, "1", ".REL noinc@86", "!p87?, a, _t"},
    {LEPC, 0x14e, "4", "", "d, e24:58", 90, 90, {.unit = integer, .assumed = true}},
    {CALL, 0x143, "4", ".ABS noinc@86", "!p87?, w", 90, 121,
     {.unit = none, .what = branch, .listed_as = kUnknownCost, .name = "CALL.ABS"}},
    {CALL, 0x143, "1", ".ABS noinc@86", "!p87?, a, _o?", 90, 121},
    {RET, 0x150, "4", ".REL nodec@86 =0@85", "!p87?, a, _t", 90, 121,
     {.unit = none, .what = branch, .listed_as = kUnknownCost}},
    {RET, 0x150, "4", ".ABS nodec@86 =1@85", "!p87?, a, _o", 90, 121},
    {EXIT, 0x14d, "4", "exit_kind@84 no_atexit@86", "!p87?", 80, 121,
     {.unit = none, .what = exit, .listed_as = "exit"}},
    {BSSY, 0x145, "4", "", "!p87?, bar16, t34:30", 80, 121, {.unit = none, .what = flow}},
    {BSYNC, 0x141, "4", "", "!p87?, bar16", 80, 121, {.unit = none, .what = flow}},
    {BREAK, 0x142, "4", "", "!p87?, bar16", 80, 121, {.unit = none, .what = flow}},
    {BMOV, 0x155, "1", ".32 clear@84", "d, bar24", 90, 90, {.unit = integer, .assumed = true}},
    {BMOV, 0x156, "1", ".32", "bar24, b"},
    {WARPSYNC, 0x148, "4", ".ALL", "!p87?", 90, 121, {.unit = none, .what = flow}},
    {WARPSYNC, 0x148, "4", ".COLLECTIVE .ALL =1@86", "!p87?, t", 90, 121},
    {WARPSYNC, 0x148, "1", "exclusive@85 =0@86", "!p87?, a", 90, 121},
    {WARPSYNC, 0x148, "1", ".COLLECTIVE =1@86", "!p87?, a, t", 90, 121},
    {ENDCOLLECTIVE, 0x11b, "4", "", "!p87?", 90, 121, {.unit = none}},
    {YIELD, 0x146, "4", "", "!p87?", 80, 121, {.unit = none, .what = flow}},
    {NANOSLEEP, 0x15d, "1456", "sleep_rand@86 sleep_warp@85 sleep_syncs@84", "!p87?, S:u", 90, 90,
     {.unit = none, .what = sleep, .listed_as = kUnknownCost, .slow = true}},
    {BPT, 0x15c, "4", "trap@84", "i34:3?", 80, 121, {.unit = none, .what = flow}},
    {BAR, 0x11d, "5", ".SYNC defer_blocking@80", "i54:4, i42:12?", 80, 121,
     {.unit = none, .what = block_barrier, .listed_as = "bar.sync", .slow = true}},
    {BAR, 0x11d, "2", ".SYNC defer_blocking@80", "b, i42:12?", 80, 121},
    {BAR, 0x11d, "1", ".SYNC defer_blocking@80", "b, b", 80, 121},
    {BAR, 0x11d, "5", ".ARV =1@77:3", "i54:4, i42:12", 80, 121},
    {BAR, 0x11d, "2", ".ARV =1@77:3", "b, i42:12", 80, 121},
    {BAR, 0x11d, "5", ".RED barrier_reduction@74 defer_blocking@80 =2@77:3", "i54:4, i42:12?, !p87", 80, 121},
    {BAR, 0x11d, "4", ".SYNC defer_blocking@80", "i54:4, b?", 90, 121},
    {BAR, 0x11d, "1", ".ARV =1@77:3", "b, b", 80, 121},
    {BAR, 0x11d, "1", ".RED barrier_reduction@74 defer_blocking@80 =2@77:3", "b, b, !p87", 80, 121},
    {DEPBAR, 0x11a, "4", ".LE =1@47", "sb44, i38:6, set32:6?", 80, 121, {.unit = none, .what = wait}},
    {DEPBAR, 0x11a, "4", "=0@47", "set32:6?", 80, 121},
    {RPCMOV, 0x152, "1", ".32", ":return_half@31, b", 80, 121, {.unit = unknown}},
    {RPCMOV, 0x153, "1", ".32", "d, :return_half@31", 80, 121},
    {PMTRIG, 0x001, "4", "", "!p87?, i32:16", 80, 121, {.unit = unknown}},
    {B2R, 0x11c, "1", ".RESULT =2@77:3", "d, p81?", 80, 121, {.unit = sfu, .assumed = true}},
    {PREEXIT, 0x02d, "4", "", "", 90, 121, {.unit = none}},
    {ACQBULK, 0x02e, "4", "", "", 90, 121, {.unit = none, .slow = true}},
    {UCGABAR_ARV, 0x1c7, "4", "@UP =1@91", "", 90, 121, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UCGABAR_WAIT, 0x1c7, "6", "@UP =1@91", "", 90, 121, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {USETMAXREG, 0x1c8, "4", "@UP .DEALLOC .CTAPOOL =5@72:3 =1@91 =7@81:3", "i32:10", 90, 121, {.unit = unknown}},
    {USETMAXREG, 0x1c8, "4", "@UP .TRY_ALLOC .CTAPOOL =6@72:3 =1@91", "up81, i32:10", 90, 121},
    {USETSHMSZ, 0x1c9, "4", "@UP =0@72 =1@91", "i32:20", 90, 121, {.unit = unknown}},
    {USETSHMSZ, 0x1c9, "4", "@UP .FLUSH =1@72 =1@91", "", 90, 121},
    // Matrices
    {HMMA, 0x03c, "1", "matrix_shape@75:1+78:1 accumulator@76 multiplicand@82", "d, -a, -b, c, uq87?", 86, 121,
     {.unit = tensor, .listed_as = kUnknownCost, .words = kMatrices, .slow = true}},
    {HMMA, 0x03c, "1", ".SP sparse_shape@75:1+78:1 accumulator@76 multiplicand@82 =1@73",
     "d, -a, -b, c, uq87?, r40, i48:2", 86, 121},
    {BMMA, 0x03d, "1", "bit_shape@75 bit_operation@77 .POPC =1@80",
     "d, a.row_major@73, b.column_major@74, c, uq87?", 86, 90,
     {.unit = tensor, .assumed = true, .listed_as = kUnknownCost, .slow = true}},
    {MOVM, 0x03a, "1", ".16 .MT88", "d, a", 80, 121,
     {.unit = exchange, .timed_as = "redux.sync.add.u32", .assumed = true, .slow = true}},
    {IMMA, 0x037, "1", "integer_shape@75:1+85:2 integer_a@76 integer_b@78 saturate@82",
     "d, a.row_major@73, b.column_major@74, c, uq87?", 86, 90,
     {.unit = tensor, .assumed = true, .listed_as = kUnknownCost, .words = kMatrices, .slow = true}},
    {DMMA, 0x03f, "1", "double_shape@76 rounding@78", "d, -|a|, -|b|, -|c|, uq87?", 90, 90,
     {.unit = tensor, .assumed = true, .listed_as = kUnknownCost, .words = kMatrices, .slow = true}},
    {HGMMA, 0x1f0, "4", "warpgroup_shape@53 accumulator@75 multiplicand@76 =7@84:3",
     "d, gdesc[ua].negate_a@72.negate_b@63.transpose_a@61.transpose_b@62, c, uq87?", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {HGMMA, 0x1f0, "4", "warpgroup_shape@53 accumulator@75 multiplicand@76 =0@84:3",
     "d, gdesc[ua].negate_a@72.negate_b@63.transpose_a@61.transpose_b@62, c, uq87?, gsb84"},
    {HGMMA, 0x1f0, "6", "warpgroup_shape@53 accumulator@75 multiplicand@76 =7@84:3",
     "d, -a, gdesc[ub].negate_b@63.transpose_b@62, c, uq87?"},
    {HGMMA, 0x1f0, "6", "warpgroup_shape@53 accumulator@75 multiplicand@76 =0@84:3",
     "d, -a, gdesc[ub].negate_b@63.transpose_b@62, c, uq87?, gsb84"},
    {IGMMA, 0x1f1, "4", "warpgroup_integer_shape@53 integer_a@76 integer_b@82 saturate@75 =7@84:3",
     "d, gdesc[ua], c, uq87?", 90, 90, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {IGMMA, 0x1f1, "4", "warpgroup_integer_shape@53 integer_a@76 integer_b@82 saturate@75 =0@84:3",
     "d, gdesc[ua], c, uq87?, gsb84"},
    {IGMMA, 0x1f1, "6", "warpgroup_integer_shape@53 integer_a@76 integer_b@82 saturate@75 =7@84:3",
     "d, a, gdesc[ub], c, uq87?"},
    {IGMMA, 0x1f1, "6", "warpgroup_integer_shape@53 integer_a@76 integer_b@82 saturate@75 =0@84:3",
     "d, a, gdesc[ub], c, uq87?, gsb84"},
    {QGMMA, 0x1f3, "4", "warpgroup_byte_shape@53 accumulator@75 byte_float_a@76 byte_float_b@77 =7@84:3",
     "d, gdesc[ua].negate_a@72.negate_b@63, c, uq87?", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {QGMMA, 0x1f3, "4", "warpgroup_byte_shape@53 accumulator@75 byte_float_a@76 byte_float_b@77 =0@84:3",
     "d, gdesc[ua].negate_a@72.negate_b@63, c, uq87?, gsb84"},
    {QGMMA, 0x1f3, "6", "warpgroup_byte_shape@53 accumulator@75 byte_float_a@76 byte_float_b@77 =7@84:3",
     "d, -a, gdesc[ub].negate_b@63, c, uq87?"},
    {QGMMA, 0x1f3, "6", "warpgroup_byte_shape@53 accumulator@75 byte_float_a@76 byte_float_b@77 =0@84:3",
     "d, -a, gdesc[ub].negate_b@63, c, uq87?, gsb84"},
    {WARPGROUP, 0x1c5, "4", ".ARRIVE", "", 90, 90, {.unit = unknown}},
    {WARPGROUP, 0x1c5, "4", ".DEPBAR .LE =1@47 =1@80 =0@44:3", "gsb44, i72:3"},
    // Asynchronous copies
    {LDGDEPBAR, 0x1af, "4", "", "", 80, 121,
     {.unit = none, .what = copy_barrier, .listed_as = kUnknownCost, .slow = true}},
    {ARRIVES, 0x1b0, "4", ".LDGSTSBAR .64 arrive_count@70 =5@73:3", "[a+uc+s40:24]", 90, 90,
     {.unit = none, .what = shared_barrier, .space = shared, .listed_as = kUnknownCost, .slow = true}},
    {SYNCS, 0x1a7, "4", ".ARRIVE .TRANS64 arrival_effect@73 opt_out@75 arrival@84", "d, [a+uc+s40:24], b", 90, 90,
     {.unit = none, .what = shared_barrier, .space = shared, .listed_as = kUnknownCost, .slow = true}},
    {SYNCS, 0x1a7, "2", ".PHASECHK .TRANS64 try_wait@72 =1@70:2", "p81, [a+uc+s40:24], b"},
    {SYNCS, 0x1b2, "2", "@UP .EXCH .64 =1@72:2", "ud, [ua+s40:24], ub"},
    {SYNCS, 0x1b1, "4", ".CCTL .IV =0@72:2", "[a+uc+s40:24]"},
    {UTMALDG, 0x1b4, "1", "@UP dimensions@79 im2col@82 multicast@75 =0@76", "[ub], [ua], uc", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UTMALDG, 0x1b4, "1", "@UP dimensions@79 im2col@82 multicast@75 =1@76", "[ub], [ua], uc, desc[u40]"},
    {UTMALDG, 0x1b4, "2", "@UP dimensions@79 =0@76", "[ub], [ua]"},
    {UTMALDG, 0x1b4, "2", "@UP dimensions@79 =1@76", "[ub], [ua], desc[u40]"},
    {UTMASTG, 0x1b5, "1", "@UP dimensions@79 im2col@82 =0@76", "[ub], [ua]", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UTMASTG, 0x1b5, "1", "@UP dimensions@79 im2col@82 =1@76", "[ub], [ua], desc[u40]"},
    {UTMAREDG, 0x1b6, "1", "@UP dimensions@79 im2col@82 reduction@87 =0@76", "[ub], [ua]", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UTMAREDG, 0x1b6, "1", "@UP dimensions@79 im2col@82 reduction@87 =1@76", "[ub], [ua], desc[u40]"},
    {UTMAPF, 0x1b8, "2", "@UP .L2 dimensions@79 =0@76", "[ub], [ua]", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UTMAPF, 0x1b8, "2", "@UP .L2 dimensions@79 =1@76", "[ub], [ua], desc[u40]"},
    {UTMACCTL, 0x1b9, "4", "@UP tensor_map@82", "[ua]", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UBLKCP, 0x1ba, "1", "@UP copy_to@73 copy_from@74 multicast@75 =0@76", "[ub], [ua], uc", 90, 90,
     {.unit = none, .what = bulk_copy, .listed_as = kUnknownCost, .slow = true}},
    {UBLKCP, 0x1ba, "1", "@UP copy_to@73 copy_from@74 multicast@75 =1@76", "[ub], [ua], uc, desc[u40]"},
    {UBLKRED, 0x1bb, "1", "@UP copy_to@73 .S reduction@87 bulk_format@81 =0@76 =1@74", "[ub], [ua], uc", 90, 90,
     {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UBLKPF, 0x1bc, "1", "@UP .L2", "[ua], uc", 90, 90, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    {UTMACMDFLUSH, 0x1b7, "4", "@UP", "", 90, 121, {.unit = unknown, .listed_as = kUnknownCost, .slow = true}},
    // Known by name only: graphics, bindless textures, and compute capabilities that are not decoded
    {IMNMX, 0x017, "", "", "", 0, 0, {.unit = integer}},
    {CS2UR, 0x0cb, "", "", "", 0, 0, {.unit = none}},
    {JMP, 0x14a, "", "", "", 0, 0, {.unit = none, .what = branch, .listed_as = "bra"}},
    {KILL, 0x15b, "", "", "", 0, 0, {.unit = none}},
    {TEX, 0x161, "", "", ""},
    {TLD4, 0x164, "", "", ""},
    {TLD, 0x167, "", "", ""},
    {TXQ, 0x170, "", "", ""},
    {SULD, 0x19a, "", "", ""},
    {SUST, 0x19e, "", "", ""},
    {LDCU, 0x1ac, "", "", "", 0, 0, {.unit = none, .what = constant, .space = constants, .listed_as = "mov.b32"}},
    {R2UR, 0x1c2, "", "", ""},
};
// clang-format on

/// By row: the row that states its facts. It does not compile where the first row of an operation states none.
constexpr auto kFactsRow = [] {
    std::array<std::uint16_t, std::size(kTable)> found{};
    for (std::size_t i = 0; i < std::size(kTable); ++i) {
        std::size_t from = i;
        while (kTable[from].operation != kTable[i].operation || kTable[from].facts.unit == as_before) --from;
        found[i] = static_cast<std::uint16_t>(from);
    }
    return found;
}();

constexpr std::size_t kOpcodes = 1U << 9;
constexpr std::uint16_t kNoRow = 0xFFFF;

/// By the lowest 9 bits of an instruction: its first row.
constexpr auto kRowOfOpcode = [] {
    std::array<std::uint16_t, kOpcodes> found{};
    found.fill(kNoRow);
    for (std::size_t i = std::size(kTable); i-- > 0;) found[kTable[i].opcode] = static_cast<std::uint16_t>(i);
    return found;
}();

}  // namespace
}  // namespace table

using table::kTable;

std::span<const Row> rows() { return kTable; }

const Facts& facts_of(const Row& row) {
    const std::size_t stating = table::kFactsRow[static_cast<std::size_t>(&row - kTable)];
    return kTable[stating].facts;
}

const Row* row_of(std::uint16_t opcode) {
    const std::uint16_t row = table::kRowOfOpcode[opcode % table::kOpcodes];
    return row == table::kNoRow ? nullptr : &kTable[row];
}

const Row* row_named(std::string_view operation) {
    const auto* const found =
        std::ranges::find(kTable, operation, [](const Row& row) { return name_of(row.operation); });
    return found == std::end(kTable) ? nullptr : found;
}

std::string_view name_of(Unit unit) {
    switch (unit) {
        case Unit::sp: return "sp";
        case Unit::integer: return "int";
        case Unit::dpu: return "dpu";
        case Unit::sfu: return "sfu";
        case Unit::exchange: return "lanes";
        case Unit::tensor: return "tensor";
        default: return {};
    }
}

}  // namespace gputomo::sass
