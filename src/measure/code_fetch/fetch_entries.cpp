#include "measure/code_fetch/fetch_entries.hpp"

#include "measure/code_fetch/fetch_steps.hpp"

#include <algorithm>
#include <random>

namespace gputomo::measure {
namespace {

using ptx::Label;
using ptx::Mem;
using ptx::Reg;
using ptx::SpecialRegister;
using ptx::Type;

/// Clock reads of a row, and those with a read before them. A row must extend beyond the end of a line.
constexpr std::uint32_t kEntryReads = 10, kLater = kEntryReads - 1;
/// Passes that do not count: they bring code and table into their caches.
constexpr std::size_t kWarmFetchPasses = 2;
constexpr Bytes kRecord{std::int64_t{4} * kEntryReads};

/// A row of clock reads, and an operation that makes it unlike all others, so that no compiler merges two rows.
void append_piece(ptx::KernelBuilder& k, std::uint32_t number, Reg record, Reg sum) {
    std::vector<Reg> reads;
    for (std::uint32_t i = 0; i < kEntryReads; ++i) reads.push_back(k.clock32());
    for (std::uint32_t i = 0; i < kEntryReads; ++i)
        k("st.volatile.shared.u32", Mem{record, std::int64_t{4} * i}, reads[i]);
    k("add.u32", sum, sum, 0x20000001U + number * 0x10003U);
    // Every second piece has one operation more, so that pieces begin at all places of a line.
    if (number % 2 == 1) k("xor.b32", sum, sum, 0x30000001U + number * 0x10003U);
}

}  // namespace

ptx::KernelBuilder fetch_entries_kernel(ptx::Target target) {
    ptx::KernelBuilder k("fetch_entries", target);
    const Reg order = k.param(Type::u64, "order"), count = k.param(Type::u32, "count"),
              results = k.param(Type::u64, "results");
    const Reg record = k.shared("record", kRecord), at = k.reg(Type::u64), to = k.reg(Type::u64),
              left = k.reg(Type::u32), next = k.reg(Type::u32);
    const Reg sum = k.reg(Type::u32), ended = k.reg(Type::pred);
    k("mov.u32", sum, k.special(SpecialRegister::tid_x));
    k("mov.u32", left, count);
    k("mov.u64", at, order);
    k("mov.u64", to, results);
    std::vector<Label> pieces;
    for (std::uint32_t i = 0; i < FetchEntries::kEntries; ++i) pieces.push_back(k.label());
    const Label jump = k.label(), back = k.label(), done = k.label();
    k("bra", jump);
    k.place(back);
    for (std::uint32_t i = 0; i < kEntryReads; ++i) {
        const Reg word = k.reg(Type::u32);
        k("ld.volatile.shared.u32", word, Mem{record, std::int64_t{4} * i});
        k("st.volatile.global.u32", Mem{to, std::int64_t{4} * i}, word);
    }
    k("add.u64", to, to, kRecord.count());
    k.place(jump);
    k("setp.eq.u32", ended, left, 0);
    k.when(ended)("bra", done);
    k("ld.volatile.global.u32", next, Mem{at});
    k("add.u64", at, at, 4);
    k("sub.u32", left, left, 1);
    k.branch_table(next, pieces);
    for (std::uint32_t i = 0; i < FetchEntries::kEntries; ++i) {
        k.place(pieces[i]);
        append_piece(k, i, record, sum);
        k("bra", back);
    }
    k.place(done);
    k("st.volatile.global.u32", Mem{to}, sum);
    return k;
}

FetchEntries::FetchEntries(device::Device& device) : FetchEntries(device, fetch_entries_kernel(target_of(device))) {}

FetchEntries::FetchEntries(device::Device& device, const ptx::KernelBuilder& written)
    : device_(device),
      kernel_(device, written, {ReadsBackToBack{kEntries * kLater}}),
      offsets_(offsets_of_later_reads(kernel_, written, bytes_of_instruction(device))) {}

void FetchEntries::compile_ahead(device::Device& device) {
    device.compile_ahead(fetch_entries_kernel(target_of(device)).text());
}

std::vector<FetchPlaceTimes> FetchEntries::run(std::uint32_t every, std::size_t passes) {
    if (offsets_.size() != std::size_t{kEntries} * kLater) return {};
    std::vector<std::uint32_t> pass, order;
    for (std::uint32_t i = 0; i < kEntries; i += every) pass.push_back(i);
    std::mt19937 random(1);
    std::ranges::shuffle(pass, random);
    for (std::size_t i = 0; i < kWarmFetchPasses + passes; ++i) order.insert(order.end(), pass.begin(), pass.end());
    const auto visits = static_cast<std::int64_t>(order.size());
    device::Buffer list(device_, Bytes{4 * visits}), results(device_, Bytes{kRecord.count() * visits + 4});
    list.write(order);
    device::Arguments arguments;
    arguments.add(list.address()).add(static_cast<std::uint32_t>(visits)).add(results.address());
    kernel_.launch({1}, {1}, arguments);
    const auto words = results.read<std::uint32_t>(order.size() * kEntryReads);
    std::vector<FetchPlaceTimes> places;
    for (std::size_t i = 0; i < pass.size(); ++i)
        for (std::size_t later = 1; later < kEntryReads; ++later) {
            FetchPlaceTimes place{offsets_[pass[i] * kLater + later - 1], {}};
            for (std::size_t visit = kWarmFetchPasses * pass.size() + i; visit < order.size(); visit += pass.size())
                place.cycles.push_back(words[visit * kEntryReads + later] - words[visit * kEntryReads + later - 1]);
            places.push_back(std::move(place));
        }
    return places;
}

}  // namespace gputomo::measure
