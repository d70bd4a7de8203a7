// Each leaf of the description that describes time is simulated, or listed here with the reason why it is not.
#include "launching.hpp"
#include "memory_fixture.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace gputomo::sim::test {
namespace {

using machine::Machine;

constexpr ptx::Target kTimedTarget{8, 0, 90};
constexpr std::uint32_t kWarpThreads = 32;

/// Leaves that change no time of a launch, and why. Scans report them, and performance models or the comparison of
/// machines read them.
const std::map<std::string, std::string> kNotSimulated{
    {"caches.*.sm_bytes_per_cycle", "follows from latency, lines in flight and the ports of the cache and the SM"},
    {"patterns.*.loads_per_cycle", "follows from latency, lines in flight and the ports of the caches"},
    {"patterns.*.memory_loads_per_cycle", "follows from latency, lines in flight and the bandwidth of memory"},
    {"memory.sm_bytes_per_cycle", "follows from latency, lines in flight and the SM's port"},
    {"memory.contention_base", "for performance models: an idle memory takes the latency of the path"},
    {"launch.cluster_replacement", "clusters are simulated in machine code alone: AsynchronousOperations tests it"},
    {"launch.cluster_interval", "clusters are simulated in machine code alone: AsynchronousOperations tests it"},
    {"issue.beside_products", "warp groups multiply in machine code alone: WarpgroupProducts tests it"},
    {"issue.constant_turnaround", "constants of a bank are operands of machine code alone: SassStages tests it"},
    {"issue.yield_latency", "only machine code yields: SassTiming tests it"},
    {"launch.code_prefetch_rate", "kernels of this test have no instruction caches: Preload tests it"},
    {"launch.profiler_cycles", "a profiler's: added to the counter of elapsed cycles, not to the launch's time"},
};

/// Calls visit(name, field) for each leaf that describes time. Leaves of all entries of a map share the name
/// "caches.*.latency".
template <class Visitor>
void visit_times(Machine& machine, Visitor&& visit) {
    Machine::sections(machine, [&](std::string_view section, auto& content) {
        using Content = std::remove_cvref_t<decltype(content)>;
        const auto visit_fields = [&](auto& fields, std::string_view separator) {
            std::remove_cvref_t<decltype(fields)>::fields(fields, [&](const machine::FieldInfo& info, auto& field) {
                if (machine::describes_time(info.unit))
                    visit(fmt::format("{}{}{}", section, separator, info.name), field);
            });
        };
        if constexpr (requires { typename Content::mapped_type; }) {
            for (auto& entry : content) visit_fields(entry.second, ".*.");
        } else {
            visit_fields(content, ".");
        }
    });
}

// Machines ------------------------------------------------------------------------------------------------------------

void describe_what_is_only_reported(Machine& m) {
    m.patterns["random"].loads_per_cycle.set(0.1);
    m.patterns["random"].memory_loads_per_cycle.set(0.05);
    m.memory.sm_bytes_per_cycle.set(8);
    m.memory.contention_base.set(400);
    m.launch.profiler_cycles.set(900);
    m.issue.beside_products.set(4);
    m.launch.code_prefetch_rate.set(20);
    m.launch.cluster_replacement.set(700);
    m.launch.cluster_interval.set(5);
    m.issue.constant_turnaround.set(20);
    m.issue.yield_latency.set(40);
}

/// Two SMs without caches, whose warps have a stack of diverged paths.
Machine uncached_machine() {
    Machine m = small_machine();
    m.topology.sms.set(2);
    m.topology.operand_banks.set(1);
    m.topology.operand_read_cycles.set(6);
    m.issue.store_queue.set(10);
    m.issue.ilp_latency.set(4);
    m.issue.warp_barrier_latency.set(9);
    m.issue.branch_latency_taken.set(40);
    m.issue.branch_latency_untaken.set(30);
    m.issue.divergence_latency.set(50);
    for (auto& [name, pipeline] : m.pipelines) {
        pipeline.latency.set(24);
        pipeline.warp_latency.set(30);
    }
    m.pipelines["sfu"].forward_latency.set(36);
    m.shared.warp_latency.set(44);
    m.shared.forward_latency.set(48);
    auto& path = m.paths["global"];
    path.memory_latency_range.set({430, 450});
    path.memory_latency_line_range.set({400, 480});
    path.warp_latency.set(470);
    path.transaction_cost.set(5);
    path.access_interval.set(7);
    path.transaction_interval.set(3);
    path.store_interval.set(3);
    path.partial_interval.set(5);
    path.page_window.set(1 << 16);
    path.page_window_penalty.set(60);
    m.memory.copy_bandwidth.set(24);
    m.memory.pause_interval.set(2000);
    m.memory.pause_time.set(100);
    m.memory.interconnect_bytes_per_cycle.set(20);
    m.memory.write_delay.set(400);
    m.memory.contention_slopes.set({200});
    m.memory.contention_limits.set({64});
    m.launch.empty_kernel.set(5000);
    m.launch.block_replacement.set(100);
    m.launch.block_interval.set(3);
    m.launch.warp_interval.set(7);
    m.launch.store_drain.set(150);
    m.launch.load_drain.set(250);
    describe_what_is_only_reported(m);
    return m;
}

/// Two SMs with an L1 each, an L2, TLBs and banks of DRAM.
Machine cached_machine() {
    Machine m = small_machine();
    m.topology.sms.set(2);
    m.caches["l1"] = make_cache({});
    m.caches["l1"].bytes_per_cycle.set(16);
    m.caches["l2"] = make_cache({.scope = "gpu", .ways = 8, .sets = 16, .latency = 200});
    m.caches["l2"].latency_range.set({190, 210});
    m.caches["l2"].bytes_per_cycle.set(24);
    m.caches["l2"].sm_bytes_per_cycle.set(12);
    m.tlbs["t1"] = make_tlb({});
    auto& path = m.paths["global"];
    path.caches.set({"l1", "l2"});
    path.tlbs.set({"t1"});
    path.page_walk_memory_penalty.set(90);
    path.transaction_interval.set(3);
    path.partial_interval.set(200);
    m.memory.read_bandwidth = {};
    m.memory.channels.set(2);
    m.memory.channel_bytes_per_cycle.set(12);
    m.memory.channel_banks.set(2);
    m.memory.bank_cycles.set(60);
    m.memory.fetch_bytes.set(64);
    m.memory.burst_bytes.set(32);
    return m;
}

/// As cached_machine() with two partitions of the L2, and memory of which only the bandwidth of its pins is known.
Machine partitioned_machine() {
    Machine m = cached_machine();
    m.caches["l2"].latency_range = {};
    m.caches["l2"].partitions.set(2);
    m.caches["l2"].far_latency.set(220);
    m.paths["global"].memory_far_extra.set(80);
    m.paths["global"].memory_far_request.set(30);
    m.paths["global"].memory_latency_unrefreshed.set(*m.paths["global"].memory_latency - 20);
    m.paths["global"].memory_latency_partition_range.set(50);
    m.caches["l2"].fabric_bytes_per_cycle.set(20);
    // The second SM asks for the words of the first one a little later.
    m.caches["l2"].gpc_bytes_per_cycle.set(10);
    m.caches["l2"].merged_requests.set(2);
    m.caches["l2"].merged_within.set(4);
    m.launch.block_interval.set(6);
    m.launch.first_block_interval.set(9);
    m.launch.next_block_interval.set(30);
    m.memory.refresh_interval.set(1700);
    m.memory.refresh_time.set(300);
    m.memory.channel_bytes_per_cycle = {};
    m.memory.channel_banks = {};
    m.memory.peak_bandwidth.set(24);
    m.memory.interconnect_bytes_per_cycle = {};
    m.accesses["l2_store"].sm_bytes_per_cycle.set(4);
    m.accesses["l2_store"].bytes_per_cycle.set(3);
    machine::Access& atomics = m.accesses["l2_atomic"];
    atomics.units.set(2);
    atomics.unit_bytes.set(256);
    atomics.same_address_cycles.set(40);
    atomics.part_cycles.set(30);
    atomics.sector_cycles.set(20);
    atomics.far_cycles.set(90);
    return m;
}

// Kernels -------------------------------------------------------------------------------------------------------------

/// What a program can see of the time of some launches.
using Times = std::vector<double>;

class Timing {
public:
    explicit Timing(const Machine& machine) : gpu_(make_device(machine, {})), data_(*gpu_, Bytes(kBytes)) {}

    Times all() {
        // All SMs load the same words, which no cache has yet.
        launch(stream({0, 8192, false}), 2, kWarpThreads);
        for (const std::uint32_t threads : {1U, kWarpThreads, 512U}) {
            launch(arithmetic(), 1, threads);
            launch(shared_loads(), 1, threads);
        }
        launch(control(), 1, kWarpThreads);
        launch(short_blocks(), 64, 64);
        for (const std::uint64_t ring : {4U, 32U, 64U}) chase(ring);
        for (const std::int64_t stride : {4, 256})
            for (const bool copies : {false, true}) launch(stream({stride, 4096, copies}), 4, 256);
        launch(stream({4, 0, false}), 2, 256);
        for (const std::int64_t stride : {0, 4, 32}) launch(atomics(stride), 2, kWarpThreads);
        return times_;
    }

private:
    static constexpr std::int64_t kBytes = 1 << 20;
    static constexpr std::uint64_t kPage = 4096;

    /// Launches a kernel with the address of the data. Its threads store u32 results at the data's start.
    void launch(const KernelBuilder& k, std::uint32_t blocks, std::uint32_t threads) {
        const auto module = gpu_->load(k.text());
        device::Launch launch{.grid = {blocks}, .block = {threads}};
        launch.arguments.add(data_.address());
        const auto result = module->kernel(k.name()).launch(launch);
        times_.push_back(result.elapsed.count());
        times_.push_back(static_cast<double>(gpu_->counters().cycles));
        const auto stored = data_.read<std::uint32_t>(2);
        times_.push_back(stored[1] - stored[0]);
    }

    /// Stores the times before and after `body`, which gets the thread's number.
    static KernelBuilder timed(const std::string& name, const std::function<void(KernelBuilder&, Reg, Reg)>& body) {
        KernelBuilder k(name, kTimedTarget);
        const Reg data = k.param(Type::u64, "data"), tid = k.special(SpecialRegister::tid_x);
        const Reg start = k.clock32();
        body(k, data, tid);
        const Reg end = k.clock32();
        k("st.global.u32", Mem(data), start);
        k("st.global.u32", Mem(data, 4), end);
        return k;
    }

    static KernelBuilder arithmetic() {
        return timed("arithmetic", [](KernelBuilder& k, Reg, Reg tid) {
            const Reg count = k.reg(Type::u32), root = k.reg(Type::f32);
            k("add.u32", count, tid, 1);
            k.repeat(16, [&](int) { k("add.u32", count, count, 1); });
            k.repeat(16, [&](int) { k("add.u32", k.reg(Type::u32), count, 1); });
            k("cvt.rn.f32.u32", root, count);
            k.repeat(4, [&](int) { k("rsqrt.approx.f32", root, root); });
            k.repeat(4, [&](int) {
                k("rsqrt.approx.f32", root, root);
                k("add.f32", root, root, root);
            });
            k.repeat(16, [&](int) { k("mul.f32", k.reg(Type::f32), root, root); });
            (void)k.clock_after(root);
        });
    }

    static KernelBuilder shared_loads() {
        return timed("shared_loads", [](KernelBuilder& k, Reg, Reg tid) {
            const Reg base = k.shared("words", Bytes(8192)), address = k.reg(Type::u32);
            k("mad.lo.u32", address, tid, 8, base);
            k("st.shared.u32", Mem(address), address);
            k.repeat(8, [&](int) { k("ld.shared.u32", address, Mem(address)); });
            k("add.u32", address, address, 1);
            (void)k.clock_after(address);
        });
    }

    static KernelBuilder control() {
        return timed("control", [](KernelBuilder& k, Reg, Reg tid) {
            const Reg count = k.reg(Type::u32), lower = k.reg(Type::pred);
            k("mov.u32", count, 0);
            k.loop(4, [&] { k("add.u32", count, count, 1); });
            k("setp.lt.u32", lower, tid, 16);
            const auto add = [&] { k("add.u32", count, count, 1); };
            k.if_(lower, add, add);
            k("bar.sync", 0);
            k("bar.warp.sync", 0xFFFFFFFFU);
        });
    }

    /// A few instructions in many blocks.
    static KernelBuilder short_blocks() {
        return timed("short_blocks", [](KernelBuilder& k, Reg, Reg tid) { k("add.u32", k.reg(Type::u32), tid, 1); });
    }

    /// One thread follows pointers through pages, twice.
    void chase(std::uint64_t elements) {
        std::vector<std::uint64_t> words(kBytes / 8);
        for (std::uint64_t i = 0; i < elements; ++i) words[place(i) / 8] = data_.address() + place((i + 1) % elements);
        data_.write(words);
        launch(timed("chase",
                     [&](KernelBuilder& k, Reg data, Reg) {
                         const Reg p = k.reg(Type::u64);
                         k("add.u64", p, data, place(0));
                         k.repeat(static_cast<int>(2 * elements), [&](int) { k("ld.global.u64", p, Mem(p)); });
                         (void)k.clock_after(p);
                     }),
               1, 1);
    }
    /// Where the element is: pages apart, and in different sets of the caches.
    static std::uint64_t place(std::uint64_t element) { return element * (2 * kPage + 128) + 128; }

    struct Stream {
        std::int64_t stride = 0;    ///< bytes between the words of neighbouring threads
        std::int64_t distance = 0;  ///< bytes between the words of a thread
        bool copies = false;
    };
    /// Each thread reads eight words. A copy writes them elsewhere and then reads the first one twice, one time after
    /// the other, so that reads meet writes in the memory.
    static KernelBuilder stream(const Stream& shape) {
        return timed("stream", [&](KernelBuilder& k, Reg data, Reg) {
            const Reg from = k.element(data, k.thread_index(), Bytes(shape.stride));
            std::vector<Reg> values;
            k.repeat(8, [&](int i) {
                values.push_back(k.reg(Type::u32));
                k("ld.global.u32", values.back(), Mem(from, 1024 + i * shape.distance));
            });
            if (shape.copies)
                for (std::size_t i = 0; i < values.size(); ++i)
                    k("st.global.u32", Mem(from, 512 * 1024 + static_cast<std::int64_t>(i) * shape.distance),
                      values[i]);
            if (shape.copies)
                k.repeat(2, [&](int) {
                    const Reg word = k.reg(Type::u32), offset = k.reg(Type::u64);
                    k("ld.volatile.global.u32", word, Mem(from, 1024));
                    k("cvt.u64.u32", offset, word);
                    k("and.b64", offset, offset, 0);
                    k("add.u64", from, from, offset);
                    values.push_back(word);
                });
            (void)k.clock_after(values.back());
        });
    }

    /// All threads add to one word, to a line, or to one word of each sector of many lines.
    static KernelBuilder atomics(std::int64_t stride) {
        return timed("atomics", [&](KernelBuilder& k, Reg data, Reg tid) {
            const Reg to = k.element(data, tid, Bytes(stride)), old = k.reg(Type::u32);
            k.repeat(4, [&](int) { k("atom.global.add.u32", old, Mem(to, 1024), 1); });
            (void)k.clock_after(old);
        });
    }

    std::unique_ptr<SimulatedDevice> gpu_;
    device::Buffer data_;
    Times times_;
};

// The check -----------------------------------------------------------------------------------------------------------

/// Changes to the value of a leaf. A range keeps its mean.
constexpr double kFactors[] = {2, 0.5, 1.1, 0.9};

void change(machine::Integer& field, double factor) {
    field.set(std::max<std::int64_t>(1, std::llround(static_cast<double>(*field) * factor)));
}
void change(machine::Real& field, double factor) { field.set(*field * factor); }
void change(machine::Reals& field, double factor) {
    for (auto& value : field.value) value *= factor;
}
void change(machine::Integers& field, double factor) {
    const auto more = factor > 1 ? 4 : -4;
    field.value.front() -= more;
    field.value.back() += more;
}
template <class Field>
void change(Field&, double) {
    throw std::logic_error("a leaf with a unit of time is a number or a list of numbers");
}

/// The machine with its described time number `index` changed; nullopt where it has no more.
std::optional<std::pair<std::string, Machine>> changed(Machine machine, int index, double factor) {
    std::string name;
    int at = 0;
    visit_times(machine, [&](const std::string& leaf, auto& field) {
        if (!field || at++ != index) return;
        name = leaf;
        change(field, factor);
    });
    if (name.empty()) return std::nullopt;
    return std::pair{name, std::move(machine)};
}

struct Outcome {
    bool described = false;
    bool simulated = false;
};

void try_each_leaf(const Machine& machine, std::map<std::string, Outcome>& outcomes) {
    const Times before = Timing(machine).all();
    ASSERT_EQ(Timing(machine).all(), before) << "times depend on nothing but the description";
    for (int index = 0; changed(machine, index, 1); ++index) {
        for (const double factor : kFactors) {
            const auto [name, other] = *changed(machine, index, factor);
            auto& outcome = outcomes[name];
            if (outcome.simulated) break;
            try {
                const Times after = Timing(other).all();
                outcome.described = true;
                outcome.simulated = after != before;
            } catch (const InputError&) {  // the changed value contradicts another leaf
            }
        }
    }
}

TEST(DescribedTimes, AreSimulatedOrListed) {
    std::map<std::string, Outcome> outcomes;
    for (const auto& machine : {uncached_machine(), cached_machine(), partitioned_machine()})
        ASSERT_NO_FATAL_FAILURE(try_each_leaf(machine, outcomes));
    Machine empty;
    empty.pipelines[""], empty.operations[""], empty.caches[""], empty.tlbs[""], empty.paths[""];
    empty.patterns[""], empty.accesses[""];
    std::set<std::string> names;
    visit_times(empty, [&](const std::string& name, auto&) { names.insert(name); });
    EXPECT_GT(names.size(), 50U);
    for (const auto& name : names) {
        const Outcome outcome = outcomes[name];
        EXPECT_TRUE(outcome.described) << name << ": no machine of this test describes it";
        if (const auto listed = kNotSimulated.find(name); listed != kNotSimulated.end())
            EXPECT_FALSE(outcome.simulated) << name << ": is listed (" << listed->second << ") and changes times";
        else
            EXPECT_TRUE(outcome.simulated) << name << ": changes no time; simulate it, or list it with the reason";
    }
    for (const auto& [name, reason] : kNotSimulated) EXPECT_TRUE(names.contains(name)) << name << ": no such leaf";
}

}  // namespace
}  // namespace gputomo::sim::test
