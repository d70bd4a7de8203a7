// What instructions compute, against the host's arithmetic.
#include "execution_fixture.hpp"

#include <algorithm>
#include <cfenv>

namespace gputomo::sim::test {
namespace {

using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
__extension__ typedef __int128 s128;
__extension__ typedef unsigned __int128 u128;

using Arithmetic = Execution;

TEST_F(Arithmetic, IntegerSumsWrap) {
    check<u32>(
        "add.u32", +[](u32 a, u32 b) { return a + b; });
    check<s16>(
        "add.s16", +[](s16 a, s16 b) { return static_cast<s16>(a + b); });
    check<s64>(
        "sub.s64", +[](s64 a, s64 b) { return static_cast<s64>(static_cast<u64>(a) - static_cast<u64>(b)); });
    check<s32>(
        "add.sat.s32",
        +[](s32 a, s32 b) { return static_cast<s32>(std::clamp<s64>(s64{a} + b, INT32_MIN, INT32_MAX)); });
    check<s32>(
        "sub.sat.s32",
        +[](s32 a, s32 b) { return static_cast<s32>(std::clamp<s64>(s64{a} - b, INT32_MIN, INT32_MAX)); });
}

TEST_F(Arithmetic, IntegerProducts) {
    check<u32>(
        "mul.lo.u32", +[](u32 a, u32 b) { return a * b; });
    check<u32>(
        "mul.hi.u32", +[](u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); });
    check<s32>(
        "mul.hi.s32", +[](s32 a, s32 b) { return static_cast<s32>(s64{a} * b >> 32); });
    check<u64>(
        "mul.hi.u64", +[](u64 a, u64 b) { return static_cast<u64>(u128{a} * b >> 64); });
    check<s64>(
        "mul.hi.s64", +[](s64 a, s64 b) { return static_cast<s64>(s128{a} * b >> 64); });
    check<s64>(
        "mul.wide.s32", +[](s32 a, s32 b) { return s64{a} * b; });
    check<u32>(
        "mul.wide.u16", +[](u16 a, u16 b) { return u32{a} * b; });
    check<s32>(
        "mad.lo.s32", +[](s32 a, s32 b, s32 c) {
            return static_cast<s32>(static_cast<u32>(a) * static_cast<u32>(b) + static_cast<u32>(c));
        });
    check<u64>(
        "mad.wide.u32", +[](u32 a, u32 b, u64 c) { return u64{a} * b + c; });
    check<s32>(
        "mad.hi.sat.s32", +[](s32 a, s32 b, s32 c) {
            return static_cast<s32>(std::clamp<s64>((s64{a} * b >> 32) + c, INT32_MIN, INT32_MAX));
        });
}

s64 low24(s32 v) { return static_cast<s32>(static_cast<u32>(v) << 8) >> 8; }
u64 low24(u32 v) { return v & 0xFFFFFF; }

TEST_F(Arithmetic, TwentyFourBitProducts) {
    check<u32>(
        "mul24.lo.u32", +[](u32 a, u32 b) { return static_cast<u32>(low24(a) * low24(b)); });
    check<s32>(
        "mul24.lo.s32", +[](s32 a, s32 b) { return static_cast<s32>(low24(a) * low24(b)); });
    check<u32>(
        "mul24.hi.u32", +[](u32 a, u32 b) { return static_cast<u32>(low24(a) * low24(b) >> 16); });
    check<s32>(
        "mul24.hi.s32", +[](s32 a, s32 b) { return static_cast<s32>(low24(a) * low24(b) >> 16); });
    check<u32>(
        "mad24.hi.u32", +[](u32 a, u32 b, u32 c) { return static_cast<u32>(low24(a) * low24(b) >> 16) + c; });
    check<u32>(
        "mad24.lo.u32", +[](u32 a, u32 b, u32 c) { return static_cast<u32>(low24(a) * low24(b)) + c; });
}

TEST_F(Arithmetic, IntegerDivision) {
    check<u32>(
        "div.u32", +[](u32 a, u32 b) { return b == 0 ? ~u32{0} : a / b; });
    check<s32>(
        "div.s32", +[](s32 a, s32 b) { return b == 0 ? -1 : static_cast<s32>(s64{a} / b); });
    check<u64>(
        "rem.u64", +[](u64 a, u64 b) { return b == 0 ? a : a % b; });
    check<s32>(
        "rem.s32", +[](s32 a, s32 b) { return b == 0 ? a : static_cast<s32>(s64{a} % b); });
}

TEST_F(Arithmetic, CarriesGoFromOneInstructionToTheNext) {
    check_body(
        "add.cc + addc",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) {
            const Reg low = k.reg(Type::u32), high = k.reg(Type::u32), a = k.reg(Type::u32), b = k.reg(Type::u32),
                      c = k.reg(Type::u32), e = k.reg(Type::u32);
            k("mov.b64", ptx::Vec{a, b}, s[0]);
            k("mov.b64", ptx::Vec{c, e}, s[1]);
            k("add.cc.u32", low, a, c);
            k("addc.u32", high, b, e);
            k("mov.b64", d, ptx::Vec{low, high});
        },
        +[](u64 a, u64 b) -> u64 { return a + b; });
    check_body(
        "sub.cc + subc",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) {
            const Reg low = k.reg(Type::u32), high = k.reg(Type::u32), a = k.reg(Type::u32), b = k.reg(Type::u32),
                      c = k.reg(Type::u32), e = k.reg(Type::u32);
            k("mov.b64", ptx::Vec{a, b}, s[0]);
            k("mov.b64", ptx::Vec{c, e}, s[1]);
            k("sub.cc.u32", low, a, c);
            k("subc.u32", high, b, e);
            k("mov.b64", d, ptx::Vec{low, high});
        },
        +[](u64 a, u64 b) -> u64 { return a - b; });
    check_body(
        "mad.lo.cc + madc.hi",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) {
            const Reg low = k.reg(Type::u32), high = k.reg(Type::u32), c = k.reg(Type::u32), e = k.reg(Type::u32);
            k("mov.b64", ptx::Vec{c, e}, s[2]);
            k("mad.lo.cc.u32", low, s[0], s[1], c);
            k("madc.hi.u32", high, s[0], s[1], e);
            k("mov.b64", d, ptx::Vec{low, high});
        },
        +[](u32 a, u32 b, u64 c) -> u64 { return u64{a} * b + c; });
}

TEST_F(Arithmetic, BitsAndBytes) {
    check<u32>(
        "popc.b64", +[](u64 a) { return static_cast<u32>(std::popcount(a)); });
    check<u32>(
        "clz.b32", +[](u32 a) { return static_cast<u32>(std::countl_zero(a)); });
    check<u32>(
        "bfind.u32", +[](u32 a) { return a == 0 ? ~u32{0} : 31 - static_cast<u32>(std::countl_zero(a)); });
    check<u32>(
        "bfind.shiftamt.s32", +[](s32 a) {
            const auto magnitude = static_cast<u32>(a < 0 ? ~a : a);
            return magnitude == 0 ? ~u32{0} : static_cast<u32>(std::countl_zero(magnitude));
        });
    check<u32>(
        "shl.b32", +[](u32 a, u32 n) { return n > 31 ? 0 : a << n; });
    check<s32>(
        "shr.s32", +[](s32 a, u32 n) { return a >> std::min<u32>(n, 31); });
    check<u32>(
        "shf.l.wrap.b32",
        +[](u32 a, u32 b, u32 n) { return static_cast<u32>(((u64{b} << 32 | a) << (n & 31)) >> 32); });
    check<u32>(
        "shf.r.clamp.b32",
        +[](u32 a, u32 b, u32 n) { return static_cast<u32>((u64{b} << 32 | a) >> std::min<u32>(n, 32)); });
    check<u32>(
        "prmt.b32", +[](u32 a, u32 b, u32 how) {
            u32 out = 0;
            for (u32 i = 0; i < 4; ++i) {
                const u32 pick = how >> (4 * i) & 15;
                u32 byte = static_cast<u32>((u64{b} << 32 | a) >> (8 * (pick & 7))) & 0xFF;
                if ((pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
                out |= byte << (8 * i);
            }
            return out;
        });
    check<u32>(
        "prmt.b32.b4e", +[](u32 a, u32 b, u32 how) {
            u32 out = 0;
            for (u32 i = 0; i < 4; ++i)
                out |= (static_cast<u32>((u64{b} << 32 | a) >> (8 * (((how & 3) - i) & 7))) & 0xFF) << (8 * i);
            return out;
        });
    check<u32>(
        "bfe.u32", +[](u32 a, u32 at, u32 n) {
            at &= 255, n &= 255;
            const u64 field = at > 31 ? 0 : u64{a} >> at;
            return static_cast<u32>(n > 31 ? field : field & ((u64{1} << n) - 1));
        });
    check<s32>(
        "szext.clamp.s32", +[](s32 a, u32 n) {
            n = std::min<u32>(n, 32);
            return n == 0 ? 0 : static_cast<s32>(static_cast<u32>(a) << (32 - n)) >> (32 - n);
        });
    check<s32>(
        "dp4a.s32.u32", +[](u32 a, u32 b, s32 c) {
            u32 sum = static_cast<u32>(c);
            for (int i = 0; i < 32; i += 8)
                sum += static_cast<u32>(static_cast<std::int8_t>(a >> i) * static_cast<int>(b >> i & 0xFF));
            return static_cast<s32>(sum);
        });
    check<u32>(
        "dp2a.hi.u32.u32",
        +[](u32 a, u32 b, u32 c) { return c + (a & 0xFFFF) * (b >> 16 & 0xFF) + (a >> 16) * (b >> 24); });
}

TEST_F(Arithmetic, Lop3IsAnyFunctionOfThreeBits) {
    check_body(
        "lop3.b32 0xE8",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) { k("lop3.b32", d, s[0], s[1], s[2], 0xE8); },
        +[](u32 a, u32 b, u32 c) -> u32 { return (a & b) | (a & c) | (b & c); });
    check_body(
        "lop3.b32 0x1E",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) { k("lop3.b32", d, s[0], s[1], s[2], 0x1E); },
        +[](u32 a, u32 b, u32 c) -> u32 { return a ^ (b | c); });
}

TEST_F(Arithmetic, SetAndSelect) {
    check<u32>(
        "set.lt.u32.s32", +[](s32 a, s32 b) { return a < b ? ~u32{0} : 0; });
    check<float>(
        "set.ge.f32.f64", +[](double a, double b) { return a >= b ? 1.0F : 0.0F; });
    check<s32>(
        "set.neu.and.s32.f32",
        +[](float a, float b, bool p) { return (std::isnan(a) || std::isnan(b) || a != b) && p ? -1 : 0; });
    check<u32>(
        "set.hi.xor.u32.u16", +[](u16 a, u16 b, bool p) { return (a > b) != p ? ~u32{0} : 0; });
    check<bool>(
        "setp.num.f32", +[](float a, float b) { return !std::isnan(a) && !std::isnan(b); });
    check<bool>(
        "setp.ltu.or.f64", +[](double a, double b, bool p) { return std::isnan(a) || std::isnan(b) || a < b || p; });
    check<u32>(
        "selp.u32", +[](u32 a, u32 b, bool p) { return p ? a : b; });
    check<float>(
        "slct.f32.s32", +[](float a, float b, s32 c) { return c >= 0 ? a : b; });
    check<u64>(
        "slct.u64.f32", +[](u64 a, u64 b, float c) { return c >= 0 ? a : b; });
    check<bool>(
        "testp.subnormal.f32", +[](float a) { return std::fpclassify(a) == FP_SUBNORMAL; });
    check<bool>(
        "testp.infinite.f64", +[](double a) { return std::isinf(a); });
}

/// The host rounds as `mode` says while `body` runs; volatile keeps the operation inside.
template <class T, class F>
T rounded(int mode, F body) {
    const int before = std::fegetround();
    std::fesetround(mode);
    volatile T result = body();
    std::fesetround(before);
    return result;
}
template <int mode, class T>
T sum(T a, T b) {
    return rounded<T>(mode, [&] {
        volatile T x = a, y = b;
        return x + y;
    });
}
template <int mode, class T>
T fused(T a, T b, T c) {
    return rounded<T>(mode, [&] {
        volatile T x = a, y = b, z = c;
        return std::fma(T{x}, T{y}, T{z});
    });
}
template <int mode, class T>
T quotient(T a, T b) {
    return rounded<T>(mode, [&] {
        volatile T x = a, y = b;
        return x / y;
    });
}
template <int mode, class T>
T root(T a) {
    return rounded<T>(mode, [&] {
        volatile T x = a;
        return std::sqrt(T{x});
    });
}

TEST_F(Arithmetic, FloatingPointRoundsAsItsModifierSays) {
    check<float>("add.f32", sum<FE_TONEAREST, float>);
    check<float>("add.rz.f32", sum<FE_TOWARDZERO, float>);
    check<float>("add.rm.f32", sum<FE_DOWNWARD, float>);
    check<double>("add.rp.f64", sum<FE_UPWARD, double>);
    check<float>("fma.rn.f32", fused<FE_TONEAREST, float>);
    check<float>("fma.rz.f32", fused<FE_TOWARDZERO, float>);
    check<double>("fma.rm.f64", fused<FE_DOWNWARD, double>);
    check<float>("div.rp.f32", quotient<FE_UPWARD, float>);
    check<double>("div.rz.f64", quotient<FE_TOWARDZERO, double>);
    check<float>("sqrt.rm.f32", root<FE_DOWNWARD, float>);
    check<float>("sqrt.rn.f32", root<FE_TONEAREST, float>);
}

TEST_F(Arithmetic, FloatingPointFlagsAndSigns) {
    check<float>(
        "add.sat.f32", +[](float a, float b) {
            const float s = a + b;
            return s > 0 ? (s < 1 ? s : 1.0F) : 0.0F;
        });
    check<float>(
        "mul.ftz.f32", +[](float a, float b) {
            const auto flush = [](float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0F, v) : v; };
            return flush(flush(a) * flush(b));
        });
    check<float>(
        "copysign.f32", +[](float a, float b) { return std::copysign(b, a); });
    check<double>(
        "abs.f64", +[](double a) { return std::fabs(a); });
    check<float>(
        "neg.f32", +[](float a) { return -a; });
}

float down(double a) {
    return rounded<float>(FE_DOWNWARD, [&] {
        volatile double x = a;
        return static_cast<float>(x);
    });
}

TEST_F(Arithmetic, Conversions) {
    check<s32>(
        "cvt.rzi.s32.f32", +[](float a) {
            if (std::isnan(a)) return 0;
            return a >= 0x1p31F ? INT32_MAX : a < -0x1p31F ? INT32_MIN : static_cast<s32>(a);
        });
    check<u32>(
        "cvt.rni.u32.f64", +[](double a) {
            if (std::isnan(a) || a <= 0) return u32{0};
            return a >= 0x1p32 ? UINT32_MAX : static_cast<u32>(std::nearbyint(a));
        });
    check<float>(
        "cvt.rn.f32.u64", +[](u64 a) { return static_cast<float>(a); });
    check<float>(
        "cvt.rn.f32.f64", +[](double a) { return static_cast<float>(a); });
    check<float>("cvt.rm.f32.f64", down);
    check<float>(
        "cvt.rpi.f32.f32", +[](float a) { return std::ceil(a); });
    check<s64>(
        "cvt.s64.s32", +[](s32 a) { return s64{a}; });
    check<u64>(
        "cvt.u64.u32", +[](u32 a) { return u64{a}; });
    check<s32>(
        "cvt.s8.s32", +[](s32 a) { return static_cast<s32>(static_cast<std::int8_t>(a)); });
    check<s64>(
        "cvt.s16.s64", +[](s64 a) { return s64{static_cast<s16>(a)}; });
    check<s32>(
        "cvt.sat.s16.s32", +[](s32 a) { return std::clamp<s32>(a, INT16_MIN, INT16_MAX); });
}

TEST_F(Arithmetic, SignedLoadsFillARegisterThatIsWider) {
    check_body(
        "ld.s8 into 64 bits",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) {
            const Reg word = k.shared("word", Bytes(8 * 128));
            const Reg at = k.reg(Type::u32);
            k("mad.lo.u32", at, k.special(ptx::SpecialRegister::tid_x), 8, word);
            k("st.shared.u64", Mem(at), s[0]);
            k("ld.shared.s8", d, Mem(at));
        },
        +[](u64 a) -> s64 { return static_cast<std::int8_t>(a); });
    check_body(
        "ld.s32 into 64 bits",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) {
            const Reg word = k.shared("word", Bytes(8 * 128));
            const Reg at = k.reg(Type::u32);
            k("mad.lo.u32", at, k.special(ptx::SpecialRegister::tid_x), 8, word);
            k("st.shared.u64", Mem(at), s[0]);
            k("ld.shared.s32", d, Mem(at));
        },
        +[](u64 a) -> s64 { return static_cast<s32>(a); });
}

TEST_F(Arithmetic, LocalMemoryIsEachThreadsOwn) {
    check_body(
        "local",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) {
            const Reg frame = k.local("frame", Bytes(64));
            const Reg low = k.reg(Type::u32), high = k.reg(Type::u32);
            k("st.local.u64", Mem(frame, 8), s[0]);
            k("st.local.u64", Mem(frame, 16), s[1]);
            k("ld.local.v2.u32", ptx::Vec{low, high}, Mem(frame, 8));
            k("ld.local.u64", d, Mem(frame, 16));
            const Reg both = k.reg(Type::u64);
            k("mov.b64", both, ptx::Vec{low, high});
            k("xor.b64", d, d, both);
        },
        +[](u64 a, u64 b) -> u64 { return a ^ b; });
}

TEST_F(Arithmetic, GenericAddressesReachSharedAndLocalMemory) {
    check_body(
        "generic",
        [](KernelBuilder& k, Reg d, const std::vector<Reg>& s) {
            const Reg words = k.shared("words", Bytes(8 * 128)), frame = k.local("frame", Bytes(8));
            const Reg at = k.reg(Type::u32), wide = k.reg(Type::u64), generic = k.reg(Type::u64),
                      is_shared = k.reg(Type::pred);
            k("mad.lo.u32", at, k.special(ptx::SpecialRegister::tid_x), 8, words);
            k("cvt.u64.u32", wide, at);
            k("cvta.shared.u64", generic, wide);
            k("st.u64", Mem(generic), s[0]);
            k("isspacep.shared", is_shared, generic);
            k("ld.shared.u64", d, Mem(at));
            k("cvta.local.u64", generic, frame);
            k("st.u64", Mem(generic), d);
            k("ld.local.u64", d, Mem(frame));
            k.unless(is_shared)("mov.u64", d, 0);
        },
        +[](u64 a) -> u64 { return a; });
}

}  // namespace
}  // namespace gputomo::sim::test
