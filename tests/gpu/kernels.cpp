#include "smoke.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace gputomo::gpu_smoke {
namespace {

std::string header(const device::Device& device) {
    const auto target = device.ptx_target();
    return fmt::format(".version {}.{}\n.target sm_{}\n.address_size 64\n", target.version_major, target.version_minor,
                       target.sm);
}

constexpr std::string_view kKernels = R"(
.global .align 4 .u32 counter = 41;
.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.extern .shared .align 4 .b8 dynamic[];

// out[0..2] = a, b, low half of c: parameters of different alignment
.visible .entry store_arguments(.param .u64 out, .param .u32 a, .param .u64 c, .param .f32 b)
{
  .reg .u64 %rd<4>; .reg .u32 %r<2>; .reg .f32 %f<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [a];
  ld.param.f32 %f1, [b];
  ld.param.u64 %rd2, [c];
  st.global.u32 [%rd1], %r1;
  st.global.f32 [%rd1+4], %f1;
  st.global.u64 [%rd1+8], %rd2;
  ret;
}

// Adds one to the module's counter and returns table[2].
.visible .entry use_symbols(.param .u64 out)
{
  .reg .u64 %rd<2>; .reg .u32 %r<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.global.u32 %r1, [counter];
  add.u32 %r1, %r1, 1;
  st.global.u32 [counter], %r1;
  ld.const.u32 %r2, [table+8];
  st.global.u32 [%rd1], %r2;
  ret;
}

// Each thread writes a word at thread * stride of dynamic shared memory and reads that of its neighbour.
.visible .entry use_dynamic_shared(.param .u64 out, .param .u32 stride)
{
  .reg .u64 %rd<4>; .reg .u32 %r<8>; .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [stride];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, dynamic;
  mad.lo.u32 %r5, %r2, %r1, %r4;
  add.u32 %r6, %r2, 1000;
  st.shared.u32 [%r5], %r6;
  bar.sync 0;
  add.u32 %r5, %r2, 1;
  setp.eq.u32 %p1, %r5, %r3;
  @%p1 mov.u32 %r5, 0;
  mad.lo.u32 %r5, %r5, %r1, %r4;
  ld.shared.u32 %r7, [%r5];
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r7;
  ret;
}

.visible .entry read_texture(.param .u64 out, .param .u64 texture, .param .u32 index)
{
  .reg .u64 %rd<3>; .reg .u32 %r<6>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u64 %rd2, [texture];
  ld.param.u32 %r1, [index];
  tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r1}];
  st.global.u32 [%rd1], %r2;
  ret;
}

.visible .entry read_float_texture(.param .u64 out, .param .u64 texture, .param .u32 index)
{
  .reg .u64 %rd<3>; .reg .u32 %r<2>; .reg .f32 %f<5>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u64 %rd2, [texture];
  ld.param.u32 %r1, [index];
  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd2, {%r1}];
  st.global.f32 [%rd1], %f1;
  ret;
}

// 64 dependent additions between two clock reads
.visible .entry add_chain(.param .u64 out, .param .f32 start)
{
  .reg .u64 %rd<4>; .reg .f32 %f<3>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.f32 %f1, [start];
  mov.f32 %f2, %f1;
  mov.u64 %rd2, %clock64;
  ADDITIONS
  mov.u64 %rd3, %clock64;
  sub.s64 %rd2, %rd3, %rd2;
  st.global.u64 [%rd1], %rd2;
  st.global.f32 [%rd1+8], %f2;
  ret;
}

.visible .entry never_ends(.param .u64 out)
{
  .reg .u64 %rd<2>; .reg .u32 %r<2>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
again:
  st.volatile.global.u32 [%rd1], %r1;
  bra again;
}

.visible .entry write_to(.param .u64 address)
{
  .reg .u64 %rd<2>; .reg .u32 %r<2>;
  ld.param.u64 %rd1, [address];
  mov.u32 %r1, 7;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

}  // namespace

std::string kernels(const device::Device& device) {
    std::string text = header(device) + std::string(kKernels);
    std::string additions;
    for (int i = 0; i < 64; ++i) additions += "add.rn.f32 %f2, %f2, %f1;\n  ";
    const std::string mark = "ADDITIONS";
    text.replace(text.find(mark), mark.size(), additions);
    return text;
}

std::string broken_kernel(const device::Device& device) {
    return header(device) + ".visible .entry broken()\n{\n  .reg .u32 %r<2>; .reg .f32 %f<2>;\n  " +
           std::string(kBrokenText) + "\n  ret;\n}\n";
}

}  // namespace gputomo::gpu_smoke
