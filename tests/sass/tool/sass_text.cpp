// Prints machine code, or makes it up, for scripts/compare_sass.py.
//
// `sass_text SM ADDRESS < CODE` prints the text of each instruction, or "refused" and why. It also reports instructions
// that encode() does not give back bit by bit.
// `sass_text samples COUNT SEED` prints COUNT random instructions of each form, in hexadecimal, and
// the number of their row.
// `sass_text cubin NAME REGISTERS POINTERS < CODE` decodes the code of a kernel whose parameters are pointers, encodes
// it again and writes a cubin, for load_cubin.py.
#include "sass/code.hpp"
#include "sass/cubin_writer.hpp"
#include "sass/form.hpp"
#include "units/error.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <random>
#include <string>

namespace {

using namespace gputomo::sass;

/// Fills the fields of a form with random bits; often with all ones, which mean RZ and PT.
Word sample(const Form& form, std::mt19937_64& random) {
    Word word = form.fixed_value;
    const auto fill = [&](BitRange range) { word.set(range, random() % 4 == 0 ? ~0ULL : random()); };
    for (const Slot& slot : form.slots) {
        for (const auto range : {slot.reg, slot.uniform, slot.bank, slot.negate, slot.absolute, slot.invert})
            fill(range);
        slot.field.set(word, random() % 4 == 0 ? ~0ULL : random() % 4 == 0 ? random() % 300 : random());
    }
    for (const auto& modifier : form.modifiers) {
        std::uint64_t value = 0;
        do {
            value = random() & Word::ones(modifier.field.width());
        } while (text_of(modifier.modifier, value) == "!");
        modifier.field.set(word, value);
    }
    word.set(kGuardPredicate, random() % 2 == 0 ? kTruePredicate : random());
    word.set(kStall, 1);
    word.set(kWriteBarrier, kNoBarrier);
    word.set(kReadBarrier, kNoBarrier);
    return (word & ~form.fixed_mask) | form.fixed_value;
}

int print_samples(int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (const Form& form : all_forms())
        for (int i = 0; i < count; ++i) {
            const Word word = sample(form, random);
            std::printf("%016" PRIx64 "%016" PRIx64 " %td\n", word.high, word.low, form.row - rows().data());
        }
    return 0;
}

void print(const Word& word, int sm, std::uint64_t address) {
    try {
        const auto instruction = decode(word, sm, address);
        const bool same = encode(instruction) == word;
        std::printf("%s%s\n", same ? "" : "encoded differently: ", text_of(instruction, address).c_str());
    } catch (const gputomo::InputError& error) {
        std::printf("refused: %s\n", error.what());
    }
}

std::vector<std::byte> input() {
    const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

int print_cubin(const std::string& name, int registers, int pointers) {
    constexpr int kSm = 90;
    constexpr int kPointerBytes = 8;
    CubinKernel kernel{.name = name, .code = {}, .registers = registers};
    kernel.parameter_bytes.assign(static_cast<std::size_t>(pointers), kPointerBytes);
    for (const auto& instruction : decode(input(), kSm)) kernel.code.push_back(encode(instruction));
    const auto cubin = write_cubin(std::span(&kernel, 1), kSm);
    std::fwrite(cubin.data(), 1, cubin.size(), stdout);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count == 4 && std::string_view(arguments[1]) == "samples")
        return print_samples(std::atoi(arguments[2]), std::strtoull(arguments[3], nullptr, 0));
    if (count == 5 && std::string_view(arguments[1]) == "cubin")
        return print_cubin(arguments[2], std::atoi(arguments[3]), std::atoi(arguments[4]));
    if (count != 3) {
        std::fprintf(stderr,
                     "expected: sass_text SM ADDRESS, sass_text samples COUNT SEED or sass_text cubin NAME REGISTERS "
                     "POINTERS\n");
        return 2;
    }
    const int sm = std::atoi(arguments[1]);
    const auto base = static_cast<std::uint64_t>(std::strtoull(arguments[2], nullptr, 0));
    const auto code = input();
    for (std::size_t offset = 0; offset + kInstructionBytes <= code.size(); offset += kInstructionBytes)
        print(word_at(code, offset), sm, base + offset);
}
