#!/usr/bin/env python3
"""Writes the PTX of the kernel whose code product_code.cpp replaces.

A driver refuses cubins that gputomo lays out itself, so that the file around the code is one that ptxas made:

    src/measure/warpgroup/product_container.py > container.ptx
    ptxas -arch=sm_90a container.ptx -o container.cubin
    src/measure/warpgroup/product_container.py container.cubin > src/measure/warpgroup/product_container.cpp

The kernel has the parameters, the registers and the shared memory of the code that takes its place.
"""
import sys

SUMS = 128
BYTES_A_LINE = 48


def ptx():
    sums = ",".join(f"%d{i}" for i in range(SUMS))
    rows = ",".join(f"%a{i}" for i in range(4))
    lines = [
        ".version 8.0", ".target sm_90a", ".address_size 64",
        ".visible .entry products(.param .u64 out, .param .u64 a, .param .u64 b, .param .u32 mask)", "{",
        f".reg .b32 %d<{SUMS}>, %a<4>, %i, %at, %sum;", ".reg .b64 %b, %out;", ".reg .pred %p;",
        ".shared .align 1024 .b8 matrices[16384];",
        "mov.u32 %i, %tid.x; mov.u32 %at, matrices; mad.lo.u32 %at, %i, 4, %at; st.shared.b32 [%at], %i; bar.sync 0;",
        *[f"ld.shared.b32 %a{i}, [%at+{16 * i + 16}];" for i in range(4)],
        "ld.param.u64 %b, [b]; ld.param.u64 %out, [out]; setp.ne.u32 %p, 0, 0;",
        "wgmma.fence.sync.aligned;",
        f"wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{{sums}}}, {{{rows}}}, %b, %p, 1, 1, 0;",
        "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;", "mov.u32 %sum, 0;",
        *[f"xor.b32 %sum, %sum, %d{i};" for i in range(SUMS)],
        "st.global.b32 [%out], %sum;", "ret;", "}"]
    return "\n".join(lines)


def source(cubin):
    text = cubin.hex()
    width = 2 * BYTES_A_LINE
    rows = "\n".join(f'    "{text[at:at + width]}"' for at in range(0, len(text), width))
    return ("// A cubin that ptxas 13 made, in hexadecimal digits; product_container.py writes this file.\n"
            '#include "measure/warpgroup/product_container.hpp"\n\n'
            "namespace gputomo::measure {\n\nconst std::string_view kProductContainer =\n"
            f"{rows};\n\n}}  // namespace gputomo::measure")


print(source(open(sys.argv[1], "rb").read()) if len(sys.argv) > 1 else ptx())
