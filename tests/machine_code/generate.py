#!/usr/bin/env python3
"""Makes the fixtures of the differential test: PTX programs and the cubins that ptxas makes of them.

    generate.py [--seed N] [--count N] [--out FOLDER]

Each program has the parameters (u64 in, u64 out, u32 n). Thread i reads 64 words of `in` from 64 * i on and writes 32
words of `out` from 32 * i on. Results of random programs do not depend on the order in which threads run. Floating-point
values stay finite, because PTX leaves the bits of a NaN open. ptxas 13 has to be on the PATH.
"""
import argparse
import pathlib
import random
import re
import subprocess

HEAD = """.version 7.8
.target sm_90
.address_size 64

.visible .entry main(.param .u64 pin, .param .u64 pout, .param .u32 pn)
{
    .reg .b64 %in, %out, %wide;
    .reg .b32 %n, %me, %global, %t0, %t1, %t2, %t3;
    .reg .pred %q, %q2;
    .reg .b16 %h0, %h1;
    .reg .f32 %x0, %x1;
    .reg .f64 %y0, %y1;
    .shared .align 16 .b8 buffer[4096];
    .local .align 16 .b8 stack[128];
"""
START = """    ld.param.u64 %in, [pin];
    ld.param.u64 %out, [pout];
    ld.param.u32 %n, [pn];
    mov.u32 %me, %tid.x;
    mov.u32 %t0, %ntid.x;
    mov.u32 %t1, %ctaid.x;
    mad.lo.u32 %global, %t0, %t1, %me;
    mul.wide.u32 %wide, %global, 256;
    add.u64 %in, %in, %wide;
    mul.wide.u32 %wide, %global, 128;
    add.u64 %out, %out, %wide;
"""
INTS, LONGS, FLOATS, DOUBLES, HALVES = 8, 4, 6, 4, 4


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.labels = 0

    def r(self): return f'%i{self.random.randrange(INTS)}'
    def l(self): return f'%l{self.random.randrange(LONGS)}'
    def f(self): return f'%f{self.random.randrange(FLOATS)}'
    def d(self): return f'%d{self.random.randrange(DOUBLES)}'
    def h(self): return f'%h2_{self.random.randrange(HALVES)}'
    def c(self): return self.random.choice([self.r(), self.r(), str(self.random.choice([0, 1, 3, 7, 31, 255, -1, 65536, self.random.getrandbits(31)]))])
    def add(self, text): self.lines.append('    ' + text)
    def pick(self, *choices): return self.random.choice(choices)

    def field(self):
        """Position and length of a bit field inside a word. Beyond that ptxas folds constants its own way."""
        at = self.random.randrange(31)
        return f'{at}, {self.random.randrange(min(32 - at, 31) + 1)}'

    def label(self):
        self.labels += 1
        return f'L{self.labels}'

    def integer(self):
        p = self.pick
        kind = self.random.randrange(22)
        t = p('u32', 's32')
        if kind == 0: self.add(f'{p("add", "sub", "mul.lo", "min", "max")}.{t} {self.r()}, {self.r()}, {self.c()};')
        elif kind == 1: self.add(f'{p("mad.lo", "mad.hi")}.{t} {self.r()}, {self.r()}, {self.r()}, {self.r()};')
        elif kind == 2: self.add(f'{p("and", "or", "xor")}.b32 {self.r()}, {self.r()}, {self.c()};')
        elif kind == 3: self.add(f'lop3.b32 {self.r()}, {self.r()}, {self.r()}, {self.r()}, {self.random.randrange(256)};')
        elif kind == 4: self.add(f'{p("shl.b32", "shr.u32", "shr.s32")} {self.r()}, {self.r()}, {self.c()};')
        elif kind == 5: self.add(f'shf.{p("l", "r")}.{p("wrap", "clamp")}.b32 {self.r()}, {self.r()}, {self.r()}, {self.c()};')
        elif kind == 6: self.add(f'prmt.b32{p("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")} {self.r()}, {self.r()}, {self.r()}, {self.c()};')
        elif kind == 7: self.add(f'{p("brev.b32", "popc.b32", "clz.b32", "bfind.u32", "bfind.s32", "not.b32", "abs.s32", "neg.s32")} {self.r()}, {self.r()};')
        elif kind == 8: self.add(f'bfe.{t} {self.r()}, {self.r()}, {self.field()};')
        elif kind == 9: self.add(f'bfi.b32 {self.r()}, {self.r()}, {self.r()}, {self.field()};')
        elif kind == 10:
            self.add(f'setp.{p("eq", "ne", "lt", "le", "gt", "ge")}.{t} %p{self.random.randrange(4)}, {self.r()}, {self.c()};')
        elif kind == 11: self.add(f'selp.b32 {self.r()}, {self.r()}, {self.c()}, %p{self.random.randrange(4)};')
        elif kind == 12: self.add(f'@{p("", "!")}%p{self.random.randrange(4)} add.u32 {self.r()}, {self.r()}, {self.c()};')
        elif kind == 13: self.add(f'mul.wide.{t} {self.l()}, {self.r()}, {self.r()};')
        elif kind == 14: self.add(f'{p("add", "sub", "mul.lo", "min", "max")}.{p("u64", "s64")} {self.l()}, {self.l()}, {self.l()};')
        elif kind == 15: self.add(f'{p("and", "or", "xor")}.b64 {self.l()}, {self.l()}, {self.l()};')
        elif kind == 16: self.add(f'{p("shl.b64", "shr.u64", "shr.s64")} {self.l()}, {self.l()}, {self.c()};')
        elif kind == 17: self.add(f'cvt.{p("u64.u32", "s64.s32", "u64.u16", "s64.s8")} {self.l()}, {self.r()};')
        elif kind == 18: self.add(f'cvt.u32.u64 {self.r()}, {self.l()};')
        elif kind == 19: self.add(f'setp.{p("eq", "lt", "le", "gt")}.{p("u64", "s64")} %p{self.random.randrange(4)}, {self.l()}, {self.l()};')
        elif kind == 20: self.add(f'ld.global.u32 %t3, [%in+{4 * self.random.randrange(64)}]; or.b32 %t3, %t3, 1; {p("div", "rem")}.{t} {self.r()}, {self.r()}, %t3;')
        else: self.add(f'mad.wide.{t} {self.l()}, {self.r()}, {self.r()}, {self.l()};')

    def bounded(self, register, wide):
        """Keeps a value finite: large magnitudes are replaced by a number of the program."""
        t = 'f64' if wide else 'f32'
        y = '%y0' if wide else '%x0'
        limit = '0d47D0000000000000' if wide else '0f5E800000'
        one = '0d3FF8000000000000' if wide else '0f3FC00000'
        self.add(f'abs.{t} {y}, {register}; setp.gt.{t} %q, {y}, {limit}; selp.{t} {register}, {one}, {register}, %q;')

    def floating(self):
        p = self.pick
        kind = self.random.randrange(12)
        r, m = p('rn', 'rn', 'rz', 'rm', 'rp'), p('', '', '.ftz', '.sat', '.ftz.sat')
        if kind <= 1:
            x = self.f()
            self.add(f'{p("add", "sub", "mul")}.{r}{m}.f32 {x}, {self.f()}, {self.f()};')
            self.bounded(x, False)
        elif kind == 2:
            x = self.f()
            self.add(f'fma.{r}{m}.f32 {x}, {self.f()}, {self.f()}, {self.f()};')
            self.bounded(x, False)
        elif kind == 3: self.add(f'{p("min", "max")}{p("", ".ftz")}.f32 {self.f()}, {self.f()}, {self.f()};')
        elif kind == 4: self.add(f'{p("abs", "neg")}.f32 {self.f()}, {self.f()};')
        elif kind == 5:
            self.add(f'setp.{p("eq", "ne", "lt", "le", "gt", "ge", "ltu", "geu", "num", "nan")}.f32 %p{self.random.randrange(4)}, {self.f()}, {self.f()};')
        elif kind == 6:
            y = self.d()
            self.add(f'{p("add", "sub", "mul")}.{r}.f64 {y}, {self.d()}, {self.d()};')
            self.bounded(y, True)
        elif kind == 7:
            y = self.d()
            self.add(f'fma.{r}.f64 {y}, {self.d()}, {self.d()}, {self.d()};')
            self.bounded(y, True)
        elif kind == 8: self.add(f'{p("min", "max")}.f64 {self.d()}, {self.d()}, {self.d()};')
        elif kind == 9:
            x = self.f()
            self.add(f'abs.f32 %x1, {self.f()}; add.rn.f32 %x1, %x1, 0f3F000000; '
                     + p(f'div.rn.f32 {x}, {self.f()}, %x1;', f'sqrt.rn.f32 {x}, %x1;', f'rcp.rn.f32 {x}, %x1;'))
            self.bounded(x, False)
        elif kind == 10:
            y = self.d()
            self.add(f'abs.f64 %y1, {self.d()}; add.rn.f64 %y1, %y1, 0d3FE0000000000000; '
                     + p(f'div.rn.f64 {y}, {self.d()}, %y1;', f'sqrt.rn.f64 {y}, %y1;', f'rcp.rn.f64 {y}, %y1;'))
            self.bounded(y, True)
        else: self.convert()

    def convert(self):
        p = self.pick
        kind = self.random.randrange(8)
        if kind == 0: self.add(f'cvt.{p("rn", "rz", "rm", "rp")}.f32.{p("s32", "u32")} {self.f()}, {self.r()};')
        elif kind == 1: self.add(f'cvt.{p("rni", "rzi", "rmi", "rpi")}.{p("s32", "u32")}.f32 {self.r()}, {self.f()};')
        elif kind == 2: self.add(f'cvt.f64.f32 {self.d()}, {self.f()};')
        elif kind == 3:
            x = self.f()
            self.add(f'cvt.{p("rn", "rz", "rm", "rp")}.f32.f64 {x}, {self.d()};')
            self.bounded(x, False)
        elif kind == 4: self.add(f'cvt.{p("rni", "rzi", "rmi", "rpi")}.{p("s64", "u64")}.f64 {self.l()}, {self.d()};')
        elif kind == 5: self.add(f'cvt.rn.f64.{p("s64", "u64")} {self.d()}, {self.l()};')
        elif kind == 6: self.add(f'cvt.{p("rni", "rzi", "rmi", "rpi")}.f32.f32 {self.f()}, {self.f()};')
        else: self.add(f'cvt.rn.f32.{p("s64", "u64")} {self.f()}, {self.l()};')

    def half(self):
        p = self.pick
        kind = self.random.randrange(4)
        h = self.h()
        if kind == 0: self.add(f'{p("add", "mul", "sub")}.rn{p("", ".sat")}.f16x2 {h}, {self.h()}, {self.h()};')
        elif kind == 1: self.add(f'fma.rn{p("", ".sat")}.f16x2 {h}, {self.h()}, {self.h()}, {self.h()};')
        elif kind == 2: self.add(f'{p("min", "max")}.f16x2 {h}, {self.h()}, {self.h()};')
        else: self.add(f'mov.b32 {{%h0, %h1}}, {h}; cvt.f32.f16 {self.f()}, {p("%h0", "%h1")};')
        # Clears the upper bit of both exponents, so that values stay small.
        self.add(f'and.b32 {h}, {h}, 0xBFFFBFFF;')

    def memory(self):
        p = self.pick
        kind = self.random.randrange(8)
        if kind == 0: self.add(f'ld.global.{p("u32", "b32")} {self.r()}, [%in+{4 * self.random.randrange(64)}];')
        elif kind == 1: self.add(f'ld.global.{p("u8", "s8", "u16", "s16")} {self.r()}, [%in+{4 * self.random.randrange(64)}];')
        elif kind == 2: self.add(f'ld.global.v2.u32 {{%i0, %i1}}, [%in+{8 * self.random.randrange(32)}];')
        elif kind == 3: self.add(f'ld.global.v4.u32 {{%i0, %i1, %i2, %i3}}, [%in+{16 * self.random.randrange(16)}];')
        elif kind == 4:
            # Each thread has its own 16 bytes of shared memory, between barriers another thread's are read.
            self.add(f'shl.b32 %t0, %me, 4; mov.u32 %t1, buffer; add.u32 %t1, %t1, %t0; st.shared.u32 [%t1], {self.r()};')
            self.add(f'st.shared.u64 [%t1+8], {self.l()}; bar.sync 0;')
            self.add(f'xor.b32 %t0, %t0, {16 * self.random.randrange(1, 32)}; mov.u32 %t1, buffer; add.u32 %t1, %t1, %t0;')
            self.add(f'ld.shared.u32 {self.r()}, [%t1]; ld.shared.u64 {self.l()}, [%t1+8]; bar.sync 0;')
        elif kind == 5:
            self.add(f'and.b32 %t0, {self.r()}, 28; mov.u32 %t1, stack; add.u32 %t2, %t1, %t0;')
            self.add(f'st.local.v4.u32 [stack], {{%i0, %i1, %i2, %i3}}; st.local.v4.u32 [stack+16], {{%i4, %i5, %i6, %i7}};')
            self.add(f'ld.local.u32 {self.r()}, [%t2];')
        elif kind == 6:
            operation = p('add', 'min', 'max', 'and', 'or', 'xor')
            t = 'b32' if operation in ('and', 'or', 'xor') else 'u32'
            self.add(f'mov.u32 %t1, buffer; bar.sync 0; setp.eq.u32 %q, %me, 0; @%q st.shared.u32 [%t1], %n; bar.sync 0;')
            self.add(f'red.shared.{operation}.{t} [%t1], {self.r()}; bar.sync 0; ld.shared.u32 {self.r()}, [%t1]; bar.sync 0;')
        else:
            operation = p('add', 'min', 'max', 'and', 'or', 'xor')
            t = 'b32' if operation in ('and', 'or', 'xor') else 'u32'
            self.add(f'{"atom"}.global.{operation}.{t} {self.r()}, [%out], {self.r()};')

    def lanes(self):
        p = self.pick
        kind = self.random.randrange(6)
        if kind <= 1:
            mode, width = p(('idx', '0x1f'), ('up', '0x0'), ('down', '0x1f'), ('bfly', '0x1f'), ('bfly', '0x1c1f')), 0
            self.add(f'shfl.sync.{mode[0]}.b32 {self.r()}|%p{self.random.randrange(4)}, {self.r()}, {self.random.randrange(32)}, {mode[1]}, -1;')
        elif kind == 2: self.add(f'vote.sync.ballot.b32 {self.r()}, %p{self.random.randrange(4)}, -1;')
        elif kind == 3: self.add(f'vote.sync.{p("any", "all", "uni")}.pred %p{self.random.randrange(4)}, %p{self.random.randrange(4)}, -1;')
        elif kind == 4: self.add(f'redux.sync.{p("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32")} {self.r()}, {self.r()}, -1;')
        else: self.add(f'and.b32 %t0, {self.r()}, 3; match.any.sync.b32 {self.r()}, %t0, -1;')

    def simple(self):
        self.pick(self.integer, self.integer, self.floating, self.half)()

    def divergent(self, depth):
        kind = self.random.randrange(3)
        if kind == 0:
            other, end = self.label(), self.label()
            self.add(f'setp.{self.pick("lt", "gt", "ne")}.s32 %q2, {self.r()}, {self.c()};')
            self.add(f'@%q2 bra {other};')
            self.block(depth + 1)
            self.add(f'bra {end};')
            self.lines.append(other + ':')
            self.block(depth + 1)
            self.lines.append(end + ':')
        elif kind == 1:
            # A loop whose trip count depends on the thread, left early by some.
            loop, end = self.label(), self.label()
            k = f'%k{depth}'
            self.add(f'and.b32 {k}, {self.r()}, 7;')
            self.lines.append(loop + ':')
            self.add(f'setp.eq.u32 %q2, {k}, 0; @%q2 bra {end}; sub.u32 {k}, {k}, 1;')
            self.block(depth + 1)
            if self.random.random() < 0.5: self.add(f'setp.eq.u32 %q2, {self.r()}, 5; @%q2 bra {end};')
            self.add(f'bra {loop};')
            self.lines.append(end + ':')
        else:
            cases, end = [self.label() for _ in range(4)], self.label()
            table = self.label()
            self.add(f'and.b32 %t0, {self.r()}, 3;')
            self.lines.append(f'{table}: .branchtargets {", ".join(cases)};')
            self.add(f'brx.idx %t0, {table};')
            for case in cases:
                self.lines.append(case + ':')
                self.simple()
                self.add(f'bra {end};')
            self.lines.append(end + ':')

    def block(self, depth):
        for _ in range(self.random.randrange(2, 6)):
            if depth < 3 and self.random.random() < 0.15:
                self.divergent(depth)
            else:
                self.simple()

    def text(self, size):
        for i in range(INTS): self.add(f'ld.global.u32 %i{i}, [%in+{4 * i}];')
        for i in range(LONGS): self.add(f'ld.global.u64 %l{i}, [%in+{32 + 8 * i}];')
        for i in range(FLOATS): self.add(f'ld.global.s16 %t0, [%in+{64 + 4 * i}]; cvt.rn.f32.s32 %f{i}, %t0; mul.rn.f32 %f{i}, %f{i}, 0f3A800000;')
        for i in range(DOUBLES): self.add(f'ld.global.s32 %t0, [%in+{96 + 4 * i}]; cvt.rn.f64.s32 %d{i}, %t0; mul.rn.f64 %d{i}, %d{i}, 0d3EB0000000000000;')
        for i in range(HALVES): self.add(f'ld.global.u32 %h2_{i}, [%in+{112 + 4 * i}]; and.b32 %h2_{i}, %h2_{i}, 0xBFFFBFFF;')
        for i in range(4): self.add(f'setp.gt.s32 %p{i}, %i{i}, %i{i + 4};')
        for _ in range(size):
            chance = self.random.random()
            if chance < 0.12: self.divergent(0)
            elif chance < 0.25: self.memory()
            elif chance < 0.35: self.lanes()
            else: self.simple()
        for i in range(INTS): self.add(f'st.global.u32 [%out+{4 * i + 4}], %i{i};')
        for i in range(LONGS): self.add(f'st.global.u64 [%out+{40 + 8 * i}], %l{i};')
        for i in range(FLOATS): self.add(f'st.global.f32 [%out+{72 + 4 * i}], %f{i};')
        for i in range(2): self.add(f'st.global.f64 [%out+{96 + 8 * i}], %d{i};')
        self.add('xor.b32 %t0, %h2_0, %h2_1; xor.b32 %t1, %h2_2, %h2_3; st.global.v2.u32 [%out+112], {%t0, %t1};')
        for i in range(4): self.add(f'selp.b32 %i{i}, 1, 0, %p{i}; shl.b32 %i{i}, %i{i}, {i};')
        self.add('or.b32 %i0, %i0, %i1; or.b32 %i2, %i2, %i3; or.b32 %i0, %i0, %i2; st.global.u32 [%out+120], %i0;')
        body = '\n'.join(self.lines)
        declared = (f'    .reg .b32 %i<{INTS}>, %h2_<{HALVES}>, %k<4>;\n    .reg .b64 %l<{LONGS}>;\n'
                    f'    .reg .f32 %f<{FLOATS}>;\n    .reg .f64 %d<{DOUBLES}>;\n    .reg .pred %p<4>;\n')
        return HEAD + declared + START + body + '\n    ret;\n}\n'


def compile_ptx(source, target):
    done = subprocess.run(['ptxas', '-arch=sm_90', str(source), '-o', str(target)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f'{source}: {done.stderr}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument('--seed', type=int, default=1, help='of the first program')
    parser.add_argument('--count', type=int, default=10, help='how many random programs')
    parser.add_argument('--size', type=int, default=18, help='statements of a program')
    parser.add_argument('--out', type=pathlib.Path, default=here / 'fixtures')
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for seed in range(options.seed, options.seed + options.count):
        path = options.out / f'random_{seed}.ptx'
        path.write_text(Program(seed).text(options.size))
        compile_ptx(path, path.with_suffix('.cubin'))
    if options.out == here / 'fixtures':
        for name in ('calls', 'deadlock', 'divergence'):
            compile_ptx(options.out / f'{name}.ptx', options.out / f'{name}.cubin')
        for source in sorted((here.parents[1] / 'kernels').glob('*.ptx')):
            if source.stem == 'black_scholes_fast':  # approximate functions only
                continue
            path = options.out / source.name
            text = re.sub(r'^\.target .*', '.target sm_90', source.read_text(), flags=re.M)
            path.write_text(re.sub(r'^\.version .*', '.version 7.8', text, flags=re.M))
            compile_ptx(path, path.with_suffix('.cubin'))


if __name__ == '__main__':
    main()
