#!/usr/bin/env python3
"""Writes the PTX of fixtures/warpgroup.fatbin: kernels with one matrix product of a warp group each. With --sparse, it
writes that of fixtures/sparse_products.fatbin, whose products have a sparse A.

A kernel fills 32 KB of shared memory, the registers of A and the accumulators with numbers that it makes from `seed`,
multiplies once, and stores the accumulators. Two masks choose which numbers: (hash & and_mask) | or_mask. The metadata
of a sparse A is eight random digits of the 16 in `digits`, so that a launch chooses which ones there are.

    tests/machine_code/warpgroup_kernels.py > warpgroup.ptx
    nvcc -fatbin -gencode arch=compute_90a,code=sm_90a --compress-mode=size warpgroup.ptx \
        -o tests/machine_code/fixtures/warpgroup.fatbin
"""
import sys

SHARED_BYTES = 32768
THREADS = 128


def hashed(target, source):
    """The finaliser of MurmurHash3, in PTX."""
    lines = [f"mov.b32 {target}, {source};"]
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        lines += [f"shr.u32 %h, {target}, {shift};", f"xor.b32 {target}, {target}, %h;",
                  f"mul.lo.u32 {target}, {target}, {factor};"]
    return lines + [f"shr.u32 %h, {target}, 16;", f"xor.b32 {target}, {target}, %h;"]


def registers(prefix, count):
    return "{" + ",".join(f"%{prefix}{i}" for i in range(count)) + "}"


def metadata():
    """Eight digits of `digits` at random, in %meta."""
    lines = ["ld.param.u64 %digits, [digits]; add.u32 %i, %me, 0x300000; add.u32 %i, %i, %seed;", "mov.u32 %w, %i;",
             *hashed("%w", "%w"), "mov.u32 %meta, 0;"]
    for i in range(8):
        lines += [f"shr.u32 %h, %w, {4 * i}; and.b32 %h, %h, 15; shl.b32 %h, %h, 2; shr.u64 %wide, %digits, %h;",
                  f"cvt.u32.u64 %h, %wide; and.b32 %h, %h, 15; shl.b32 %h, %h, {4 * i}; or.b32 %meta, %meta, %h;"]
    return lines


def kernel(name, shape, types, a_in_registers=False, tail="", kind="", products=1, selector=None):
    """`types` are those of D, A and B; `tail` are the immediate arguments behind the scale of D. All `products` are one
    group, and add to the same accumulators. With a sparsity selector, A is sparse."""
    columns = int(shape.split("n")[1].split("k")[0])
    count = columns // 4 if types.startswith("f16") else columns // 2
    a = registers("a", 4) if a_in_registers else "%da"
    lines = [
        f".visible .entry {name}(.param .u64 out, .param .u32 seed, .param .u32 and_mask, .param .u32 or_mask,",
        "    .param .u32 and_sum, .param .u32 or_sum, .param .u64 a, .param .u64 b, .param .u32 scale"
        + (")" if selector is None else ", .param .u64 digits)"), "{",
        f".reg .b32 %d<{count}>, %a<4>, %h, %i, %w, %and, %or, %me, %at, %base, %seed, %scale, %meta;",
        ".reg .b64 %da, %db, %out, %wide, %digits;", ".reg .pred %p, %more;",
        f".shared .align 1024 .b8 matrices[{SHARED_BYTES}];",
        "ld.param.u32 %seed, [seed]; ld.param.u32 %and, [and_mask]; ld.param.u32 %or, [or_mask];",
        "mov.u32 %base, matrices; mov.u32 %me, %tid.x;",
        "mov.u32 %h, %ctaid.x; mad.lo.u32 %seed, %h, 0x10000, %seed;",
        "mov.u32 %i, %me;", "fill:", "add.u32 %w, %i, %seed;", *hashed("%w", "%w"),
        "and.b32 %w, %w, %and; or.b32 %w, %w, %or;",
        "shl.b32 %at, %i, 2; add.u32 %at, %at, %base; st.shared.b32 [%at], %w;",
        f"add.u32 %i, %i, {THREADS}; setp.lt.u32 %more, %i, {SHARED_BYTES // 4}; @%more bra fill;",
    ]
    for i in range(4):
        lines += [f"mad.lo.u32 %w, %me, 4, {0x100000 + i}; add.u32 %w, %w, %seed;", *hashed("%w", "%w"),
                  f"and.b32 %w, %w, %and; or.b32 %a{i}, %w, %or;"]
    lines += ["ld.param.u32 %and, [and_sum]; ld.param.u32 %or, [or_sum];",
              f"mul.lo.u32 %i, %me, {count}; add.u32 %i, %i, 0x200000; add.u32 %i, %i, %seed;"]
    for i in range(count):
        lines += [f"add.u32 %w, %i, {i};", *hashed("%w", "%w"), f"and.b32 %w, %w, %and; or.b32 %d{i}, %w, %or;"]
    sparse, operand = ("", "") if selector is None else (".sp", f" %meta, {selector},")
    lines += metadata() if selector is not None else []
    lines += [
        "ld.param.u64 %da, [a]; ld.param.u64 %db, [b];",
        "shr.u32 %at, %base, 4; cvt.u64.u32 %wide, %at; add.u64 %da, %da, %wide; add.u64 %db, %db, %wide;",
        "ld.param.u32 %scale, [scale]; setp.ne.u32 %p, %scale, 0;",
        "fence.proxy.async; bar.sync 0;", "wgmma.fence.sync.aligned;",
        *[f"wgmma.mma_async{sparse}.sync.aligned.{shape}.{types}{kind} {registers('d', count)}, {a}, %db,{operand} "
          f"%p{tail};"] * products,
        "wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;",
        "ld.param.u64 %out, [out];",
        f"mov.u32 %h, %ctaid.x; mad.lo.u32 %i, %h, {THREADS}, %me; mul.wide.u32 %wide, %i, {4 * count};",
        "add.u64 %out, %out, %wide;",
        *[f"st.global.b32 [%out+{4 * i}], %d{i};" for i in range(count)], "ret;", "}"]
    return "\n".join(lines) + "\n"


def kernels():
    halves = (("f16", "f32.f16.f16", 16), ("f16_f16", "f16.f16.f16", 16), ("bf16", "f32.bf16.bf16", 16))
    for name, types, depth in halves:
        yield kernel(f"{name}_n64", f"m64n64k{depth}", types, tail=", 1, 1, 0, 0")
        yield kernel(f"{name}_n64_registers", f"m64n64k{depth}", types, True, ", 1, 1, 0")
    yield kernel("f16_n8", "m64n8k16", "f32.f16.f16", tail=", 1, 1, 0, 0")
    yield kernel("f16_n256", "m64n256k16", "f32.f16.f16", tail=", 1, 1, 0, 0")
    yield kernel("f16_n40_transposed_a", "m64n40k16", "f32.f16.f16", tail=", 1, 1, 1, 0")
    yield kernel("f16_n96_transposed_b", "m64n96k16", "f32.f16.f16", tail=", -1, 1, 0, 1")
    yield kernel("bf16_n64_transposed", "m64n64k16", "f32.bf16.bf16", tail=", 1, -1, 1, 1")
    yield kernel("f16_f16_n128_transposed_b", "m64n128k16", "f16.f16.f16", True, ", -1, 1, 1")
    yield kernel("tf32_n64", "m64n64k8", "f32.tf32.tf32", tail=", 1, 1")
    yield kernel("tf32_n24_registers", "m64n24k8", "f32.tf32.tf32", True, ", -1, 1")
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            for sums in ("f32", "f16"):
                yield kernel(f"{a}_{b}_{sums}_n64", "m64n64k32", f"{sums}.{a}.{b}", tail=", 1, 1")
    yield kernel("e4m3_e5m2_f32_n16_registers", "m64n16k32", "f32.e4m3.e5m2", True, ", 1, -1")
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            yield kernel(f"{a}_{b}_n64", "m64n64k32", f"s32.{a}.{b}")
    yield kernel("s8_u8_n32_saturated_registers", "m64n32k32", "s32.s8.u8", True, kind=".satfinite")
    yield kernel("b1_n64", "m64n64k256", "s32.b1.b1", kind=".and.popc")
    yield kernel("b1_n8_registers", "m64n8k256", "s32.b1.b1", True, kind=".and.popc")
    for place, in_registers in (("", False), ("_registers", True)):
        yield kernel(f"two_f16_n16{place}", "m64n16k16", "f32.f16.f16", in_registers,
                     ", 1, 1, 0" if in_registers else ", 1, 1, 0, 0", products=2)
        yield kernel(f"two_e5m2_n16{place}", "m64n16k32", "f32.e5m2.e5m2", in_registers, ", 1, 1", products=2)
        yield kernel(f"two_u8_n16{place}", "m64n16k32", "s32.u8.u8", in_registers, products=2)
        yield kernel(f"two_b1_n16{place}", "m64n16k256", "s32.b1.b1", in_registers, kind=".and.popc", products=2)


def sparse_kernels():
    for name, types in (("f16", "f32.f16.f16"), ("f16_f16", "f16.f16.f16"), ("bf16", "f32.bf16.bf16")):
        yield kernel(f"{name}_n64", "m64n64k32", types, tail=", 1, 1, 0, 0", selector=0)
        yield kernel(f"{name}_n64_registers", "m64n64k32", types, True, ", 1, 1, 0", selector=1)
    yield kernel("f16_n8", "m64n8k32", "f32.f16.f16", tail=", 1, 1, 0, 0", selector=1)
    yield kernel("f16_n256", "m64n256k32", "f32.f16.f16", tail=", 1, 1, 0, 0", selector=0)
    yield kernel("f16_n40_transposed_a", "m64n40k32", "f32.f16.f16", tail=", 1, 1, 1, 0", selector=1)
    yield kernel("f16_n96_transposed_b", "m64n96k32", "f32.f16.f16", tail=", -1, 1, 0, 1", selector=0)
    yield kernel("bf16_n64_transposed", "m64n64k32", "f32.bf16.bf16", tail=", 1, -1, 1, 1", selector=0)
    yield kernel("f16_f16_n128_transposed_b", "m64n128k32", "f16.f16.f16", True, ", -1, 1, 1", selector=0)
    yield kernel("tf32_n64", "m64n64k16", "f32.tf32.tf32", tail=", 1, 1", selector=0)
    yield kernel("tf32_n24_registers", "m64n24k16", "f32.tf32.tf32", True, ", -1, 1", selector=1)
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            for sums in ("f32", "f16"):
                yield kernel(f"{a}_{b}_{sums}_n64", "m64n64k64", f"{sums}.{a}.{b}", tail=", 1, 1", selector=0)
    yield kernel("e4m3_e5m2_f32_n16_registers", "m64n16k64", "f32.e4m3.e5m2", True, ", 1, -1", selector=0)
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            yield kernel(f"{a}_{b}_n64", "m64n64k64", f"s32.{a}.{b}", selector=0)
    yield kernel("s8_u8_n32_saturated_registers", "m64n32k64", "s32.s8.u8", True, kind=".satfinite", selector=0)
    yield kernel("two_f16_n16", "m64n16k32", "f32.f16.f16", tail=", 1, 1, 0, 0", products=2, selector=0)
    yield kernel("two_f16_n16_registers", "m64n16k32", "f32.f16.f16", True, ", 1, 1, 0", products=2, selector=1)
    yield kernel("two_e5m2_n16", "m64n16k64", "f32.e5m2.e5m2", tail=", 1, 1", products=2, selector=0)
    yield kernel("two_u8_n16_registers", "m64n16k64", "s32.u8.u8", True, products=2, selector=0)


def main():
    print(".version 8.8\n.target sm_90a\n.address_size 64\n")
    for text in sparse_kernels() if "--sparse" in sys.argv[1:] else kernels():
        print(text)


if __name__ == "__main__":
    main()
