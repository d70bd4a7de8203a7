#!/usr/bin/env python3
"""Compares gputomo's text of machine code with nvdisasm's, instruction by instruction.

    compare_sass.py --tool build/tests/sass_text [--sm 90] [--samples N] [--flips N] CUBIN_OR_FOLDER...

Each kernel of each cubin is disassembled twice. Where nvdisasm refuses an instruction, gputomo must refuse it too. With
--flips, N single bits of each distinct encoding are changed too: then gputomo may refuse what nvdisasm prints, because
the table accounts for every bit, but must never print something else. --samples N adds N random instructions of each
row. --fixtures FILE writes the instructions that the tests read: enough of the equal ones to see each modifier and
each shape of operands of each opcode. nvdisasm has to be on the PATH.
"""
import argparse
import collections
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

INSTRUCTION = 16
# Bits of the control fields, which nvdisasm does not print.
CONTROL = ((1 << 23) - 1) << 105
# A stall of one cycle and no scoreboard: nvdisasm refuses some control fields.
PLAIN_CONTROL = 1 << 105 | 7 << 110 | 7 << 113


def sections(path):
    """Name and bytes of each section with code."""
    data = open(path, 'rb').read()
    if data[:4] != b'\x7fELF':
        raise SystemExit(f'{path}: expected a cubin, an ELF file')
    start, = struct.unpack_from('<Q', data, 0x28)
    size, count, names = struct.unpack_from('<HHH', data, 0x3a)
    headers = [struct.unpack_from('<IIQQQQ', data, start + i * size) for i in range(count)]
    base = headers[names][4]
    for header in headers:
        name = data[base + header[0]:data.index(b'\0', base + header[0])].decode()
        if name.startswith('.text.') and header[1] != 8:
            yield name[len('.text.'):], data[header[4]:header[4] + header[5]]


def run(command, data=None):
    return subprocess.run(command, input=data, capture_output=True, check=False)


def nvdisasm(code, sm):
    """The text of each instruction; None where nvdisasm refuses it."""
    texts = [None] * (len(code) // INSTRUCTION)
    kept = list(range(len(texts)))
    while kept:
        with tempfile.NamedTemporaryFile(suffix='.bin') as file:
            file.write(b''.join(code[i * INSTRUCTION:(i + 1) * INSTRUCTION] for i in kept))
            file.flush()
            done = run(['nvdisasm', '-b', f'SM{sm}', '-ndf', '-novliw', file.name])
        bad = {int(m, 16) // INSTRUCTION for m in re.findall(rb'at address (0x[0-9a-f]+)', done.stderr)}
        if bad:
            kept = [index for position, index in enumerate(kept) if position not in bad]
            continue
        if done.returncode:
            raise SystemExit(f'nvdisasm: {done.stderr.decode()[:500]}')
        for match in re.finditer(r'^\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;', done.stdout.decode(), re.M):
            position = int(match[1], 16) // INSTRUCTION
            # Refused instructions were cut out, so branches print other targets: give them their own address back.
            texts[kept[position]] = (match[2], (kept[position] - position) * INSTRUCTION)
        break
    return texts


def ours(code, sm, tool):
    done = run([tool, str(sm), '0'], code)
    if done.returncode:
        raise SystemExit(f'{tool}: exit code {done.returncode}: {done.stderr.decode()[:500]}')
    return done.stdout.decode().splitlines()


TARGET = re.compile(r'^(@!?U?P\w+ )?(BRA|BSSY|CALL|RET|WARPSYNC)')


def same(theirs, mine):
    text, shift = theirs
    if text == mine:
        return True
    if shift and TARGET.match(text):
        moved = re.sub(r'-?0x[0-9a-f]+$', lambda m: hexadecimal(int(m[0], 16) + shift), text)
        return moved == mine
    return False


def hexadecimal(value):
    return f'-{-value:#x}' if value < 0 else f'{value:#x}'


class Comparison:
    def __init__(self, options):
        self.options = options
        self.equal = 0
        self.counts = collections.Counter()
        self.examples = {}
        self.features = set()
        self.mnemonics = collections.Counter()
        self.fixtures = []

    def note(self, kind, word, theirs, mine):
        text = theirs[0] if theirs else 'nothing'
        name = re.sub(r'^@\S+ ', '', text).split(' ')[0].split('.')[0]
        key = (kind, word & 0xfff, name)
        self.counts[key] += 1
        self.examples.setdefault(key, []).append(f'{word:#034x}\n    nvdisasm: {text}\n    gputomo:  {mine}')

    def compare(self, words, flipped):
        code = b''.join(w.to_bytes(INSTRUCTION, 'little') for w in words)
        theirs = nvdisasm(code, self.options.sm)
        mine = ours(code, self.options.sm, self.options.tool)
        assert len(mine) == len(words), (len(mine), len(words))
        for word, their, my in zip(words, theirs, mine):
            invalid = their is None or '???' in their[0] or 'INVALID' in their[0]
            refused = my.startswith('refused')
            if refused and (invalid or flipped):
                self.counts['refused alike' if invalid else 'refused, though nvdisasm prints it'] += 1
                if not invalid and self.options.strict:
                    self.note('refused', word, their, my)
            elif refused:
                self.note('refused', word, their, my)
            elif invalid:
                self.note('accepted', word, their, my)
            elif same(their, my):
                self.equal += 1
                if self.options.fixtures and not flipped:
                    self.remember(word, their[0])
            else:
                self.note('different', word, their, my)

    def remember(self, word, text):
        """Keeps an instruction that shows something new of its opcode."""
        mnemonic, _, operands = re.sub(r'^@\S+ ', '', text).partition(' ')
        shapes = re.sub(r'0x[0-9a-f]+|(?<![A-Z\d])\d[\d.e+-]*|QNAN|SNAN|INF', '#', operands)
        shapes = re.sub(r'(U?[RP])(\d+|Z|T)', r'\1', shapes).split(', ')
        seen = {(word & 0xfff, part) for part in mnemonic.split('.')}
        seen |= {(word & 0xfff, position, shape) for position, shape in enumerate(shapes)}
        if self.mnemonics[word & 0xfff] < self.options.mnemonics and (word & 0xfff, mnemonic) not in self.features:
            self.mnemonics[word & 0xfff] += 1
            seen.add((word & 0xfff, mnemonic))
        if not seen <= self.features:
            self.features |= seen
            self.fixtures.append(word)

    def write_fixtures(self, path):
        code = b''.join(w.to_bytes(INSTRUCTION, 'little') for w in self.fixtures)
        with open(path, 'w') as file:
            file.write('# Instructions and what nvdisasm prints for them: address, upper and lower 64 bits, text.\n'
                       '# scripts/compare_sass.py --fixtures makes this file.\n')
            for index, (word, theirs) in enumerate(zip(self.fixtures, nvdisasm(code, self.options.sm))):
                assert theirs[1] == 0, 'nvdisasm refuses an instruction that it printed before'
                file.write(f'{index * INSTRUCTION:x} {word >> 64:016x} {word & (1 << 64) - 1:016x} {theirs[0]}\n')

    def report(self):
        bad = 0
        for key, count in self.counts.most_common():
            if isinstance(key, str):
                print(f'{count:9} {key}')
                continue
            bad += count
            print(f'{count:9} {key[0]} {key[1]:#05x} {key[2]}')
            for example in self.examples[key][:self.options.examples]:
                print('   ', example)
        print(f'{self.equal} equal, {bad} not')
        return bad


def cubins(paths):
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith('.cubin'))
        else:
            yield path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--tool', required=True, help='the program sass_text, which the tests build')
    parser.add_argument('--sm', type=int, default=90)
    parser.add_argument('--flips', type=int, default=0, help='single bits to change in each distinct encoding')
    parser.add_argument('--pairs', type=int, default=0, help='pairs of bits to change in each distinct encoding')
    parser.add_argument('--strict', action='store_true', help='report changed encodings that only gputomo refuses')
    parser.add_argument('--samples', type=int, default=0, help='random instructions of each row')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--fixtures', help='the file of instructions to write')
    parser.add_argument('--mnemonics', type=int, default=12, help='different modifiers of an opcode in the fixtures')
    parser.add_argument('--words', help='a file of hexadecimal instructions, one a line, instead of cubins')
    parser.add_argument('--per-call', type=int, default=200000, help='instructions for one call of nvdisasm')
    parser.add_argument('--examples', type=int, default=2)
    parser.add_argument('paths', nargs='*')
    options = parser.parse_args()
    comparison = Comparison(options)
    words, distinct, kernels = [], {}, 0
    source = [int(line.split()[0], 16) for line in open(options.words)] if options.words else []
    words += source
    if options.samples:
        words += [int(line.split()[0], 16) for line in
                  run([options.tool, 'samples', str(options.samples), str(options.seed)]).stdout.splitlines()]
    for path in cubins(options.paths):
        for _, code in sections(path):
            kernels += 1
            whole = len(code) // INSTRUCTION * INSTRUCTION
            words += [int.from_bytes(code[i:i + INSTRUCTION], 'little') for i in range(0, whole, INSTRUCTION)]
            if len(words) >= options.per_call:
                comparison.compare(words, False)
                remember(distinct, words)
                words = []
    if words:
        comparison.compare(words, False)
        remember(distinct, words)
    print(f'{kernels} kernels', file=sys.stderr)
    rng = random.Random(1)
    for count, bits in ((options.flips, 1), (options.pairs, 2)):
        changed = []
        for word in distinct.values():
            word = word & ~CONTROL | PLAIN_CONTROL
            choices = range(12, 105)
            if bits == 1 and count >= len(choices):
                changed += [word ^ 1 << bit for bit in choices]
                continue
            for _ in range(count):
                flipped = word
                for bit in rng.sample(choices, bits):
                    flipped ^= 1 << bit
                changed.append(flipped)
        for first in range(0, len(changed), options.per_call):
            comparison.compare(changed[first:first + options.per_call], True)
    if options.fixtures:
        comparison.write_fixtures(options.fixtures)
    return 1 if comparison.report() else 0


def remember(distinct, words):
    """Keeps one example of each opcode and each value of the bits above the third register."""
    for word in words:
        distinct.setdefault((word & 0xfff, word >> 72 & ((1 << 33) - 1)), word)


if __name__ == '__main__':
    sys.exit(main())
