#include "answer/measure_kernels.hpp"

#include <fmt/format.h>

#include <iterator>

namespace gputomo::answer {
namespace {

/// Stores the time, the clock and the number of the SM at %a.
constexpr const char* kStore = R"(    mov.u64 %t, %globaltimer;
    mov.u64 %c, %clock64;
    mov.u32 %s, %smid;
    cvt.u64.u32 %w, %s;
    st.global.u64 [%a], %t;
    st.global.u64 [%a+8], %c;
    st.global.u64 [%a+16], %w;
)";

constexpr const char* kStamp = R"(
.visible .entry stamp(.param .u64 to)
{
    .reg .b64 %a, %t, %c;
    .reg .b32 %s;
    .reg .b64 %w;
    ld.param.u64 %a, [to];
)";

constexpr const char* kDelay = R"(    ret;
}
.visible .entry delay(.param .u64 to, .param .u64 cycles)
{
    .reg .b64 %a, %t, %c, %e, %d, %n, %w;
    .reg .b32 %s;
    .reg .pred %p;
    ld.param.u64 %a, [to];
    ld.param.u64 %n, [cycles];
)";

constexpr const char* kAfterDelay = R"(again:
    mov.u64 %e, %clock64;
    sub.u64 %d, %e, %c;
    setp.lt.u64 %p, %d, %n;
    @%p bra again;
    mov.u64 %t, %globaltimer;
    mov.u64 %e, %clock64;
    st.global.u64 [%a+24], %t;
    st.global.u64 [%a+32], %e;
    st.global.u64 [%a+40], %w;
    ret;
}
.visible .entry empty()
{
    ret;
}
.visible .entry flush(.param .u64 begin, .param .u64 end, .param .u64 to, .param .u64 step)
{
    .reg .b64 %a, %e, %o, %d, %i;
    .reg .b32 %x, %y, %n, %v<5>;
    .reg .pred %p;
    ld.param.u64 %a, [begin];
    ld.param.u64 %e, [end];
    ld.param.u64 %o, [to];
    ld.param.u64 %d, [step];
    mov.u32 %x, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %y, %tid.x;
    mad.lo.u32 %x, %x, %n, %y;
    mul.wide.u32 %i, %x, 16;
    add.u64 %a, %a, %i;
    mov.u32 %v4, 0;
more:
    setp.ge.u64 %p, %a, %e;
    @%p bra done;
    ld.global.cg.v4.u32 {%v0, %v1, %v2, %v3}, [%a];
    xor.b32 %v0, %v0, %v1;
    xor.b32 %v2, %v2, %v3;
    xor.b32 %v4, %v4, %v0;
    xor.b32 %v4, %v4, %v2;
    add.u64 %a, %a, %d;
    bra more;
done:
    setp.ne.u32 %p, %v4, 305419896;
    @%p bra over;
    st.global.u32 [%o], %v4;
over:
    ret;
}
.visible .entry code(.param .u64 to)
{
    .reg .b64 %a;
    .reg .b32 %x, %y;
    .reg .pred %p;
    ld.param.u64 %a, [to];
    mov.u32 %x, %tid.x;
    mov.u32 %y, %ctaid.x;
)";

constexpr const char* kEndOfCode = R"(    setp.ne.u32 %p, %x, 305419896;
    @%p bra left;
    st.global.u32 [%a], %y;
left:
    ret;
}
)";

}  // namespace

std::string measure_ptx(const device::Device::PtxTarget& target) {
    std::string text = fmt::format(".version {}.{}\n.target sm_{}\n.address_size 64\n", target.version_major,
                                   target.version_minor, target.sm);
    for (const char* const part : {kStamp, kStore, kDelay, kStore, kAfterDelay}) text += part;
    // Each instruction needs the one before it and has a number of its own, so that a compiler keeps all of them.
    constexpr std::uint32_t kFirst = 2654435761;
    std::uint32_t number = kFirst;
    for (int i = 0; i < kCodeInstructions; ++i, number = number * 1664525 + 1013904223)
        fmt::format_to(std::back_inserter(text), "    mad.lo.u32 {0}, {0}, {2}, {1};\n", i % 2 == 0 ? "%x" : "%y",
                       i % 2 == 0 ? "%y" : "%x", number | 1);
    return text + kEndOfCode;
}

}  // namespace gputomo::answer
