// Times bulk copies, boxes of tensors, barriers in shared memory, clusters and fences with the clock of one SM.
// kernels.hpp says how kernels.cubin is made of it. The first parameter of each kernel is where it leaves its results.
#include <cstdint>

namespace {

using Word = std::uint32_t;

/// Rounds of a measurement; the first finds neither code nor data in the caches.
constexpr int kRounds = 6;
/// Threads that a barrier expects where arrivals shall not end its phase.
constexpr Word kMany = 1U << 19;

__device__ __forceinline__ Word near(const void* pointer) { return static_cast<Word>(__cvta_generic_to_shared(pointer)); }
__device__ __forceinline__ Word cycles() {
    Word now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
    return now;
}
__device__ __forceinline__ Word rank() {
    Word value;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
    return value;
}
__device__ __forceinline__ Word cluster_blocks() {
    Word value;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
    return value;
}

// ---- barriers in shared memory

__device__ __forceinline__ void initialise(Word barrier, Word arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void arrive(Word barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void arrive_elsewhere(Word barrier) {
    asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void expect(Word barrier, Word bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(Word barrier, Word phase) {
    asm volatile(
        "{\n.reg .pred ended;\nagain%=:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
        "@ended bra done%=;\nbra again%=;\ndone%=:\n}" ::"r"(barrier),
        "r"(phase)
        : "memory");
}
#define CHECK "@ended mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], 1;\n"
#define EIGHT_CHECKS CHECK CHECK CHECK CHECK CHECK CHECK CHECK CHECK
/// Checks of a phase that has ended; each one needs the result of the one before.
__device__ __forceinline__ void check_eight_times(Word barrier) {
    asm volatile("{\n.reg .pred ended;\nsetp.ne.u32 ended, %0, 1;\n" EIGHT_CHECKS "}" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void check_sixteen_times(Word barrier) {
    asm volatile("{\n.reg .pred ended;\nsetp.ne.u32 ended, %0, 1;\n" EIGHT_CHECKS EIGHT_CHECKS "}" ::"r"(barrier)
                 : "memory");
}

// ---- bulk copies

__device__ __forceinline__ void copy(Word to, const char* from, Word bytes, Word barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
        "r"(bytes), "r"(barrier)
        : "memory");
}
__device__ __forceinline__ void copy_box(Word to, const char* map, Word row, Word barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
            "r"(to),
        "l"(map), "r"(0), "r"(row), "r"(barrier)
        : "memory");
}
__device__ __forceinline__ void store(char* to, Word from, Word bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
                 : "memory");
}

// ---- clusters

__device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void meet_relaxed() {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ Word in_block(Word address, Word block) {
    Word there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
    return there;
}
__device__ __forceinline__ Word load_elsewhere(Word address) {
    Word value;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
    return value;
}
__device__ __forceinline__ uint4 load_four_elsewhere(Word address) {
    uint4 value;
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                 : "r"(address)
                 : "memory");
    return value;
}

extern __shared__ __align__(1024) char memory[];

}  // namespace

/// One thread. By round: 8 and 16 arrivals, then 8 and 16 checks of a phase that has ended.
extern "C" __global__ void barrier_chains(Word* out) {
    __shared__ std::uint64_t barriers[2];
    const Word ended = near(barriers), open = ended + 8;
    initialise(ended, 1);
    initialise(open, kMany);
    __syncthreads();
    for (int round = 0; round < kRounds; ++round) {
        const Word start = cycles();
#pragma unroll
        for (int i = 0; i < 8; ++i) arrive(open);
        const Word eight = cycles();
#pragma unroll
        for (int i = 0; i < 16; ++i) arrive(open);
        const Word sixteen = cycles();
        check_eight_times(ended);
        const Word checked_eight = cycles();
        check_sixteen_times(ended);
        const Word end = cycles();
        Word* const mine = out + 4 * round;
        mine[0] = eight - start;
        mine[1] = sixteen - eight;
        mine[2] = checked_eight - sixteen;
        mine[3] = end - checked_eight;
    }
}

/// Two threads of different warps take turns at two barriers, `rounds` times, three times. Cycles of each time.
extern "C" __global__ void turns_of_warps(Word* out, Word rounds) {
    __shared__ std::uint64_t barriers[2];
    const Word mine = near(barriers + threadIdx.x / 32), other = near(barriers + 1 - threadIdx.x / 32);
    if (threadIdx.x % 32 == 0) initialise(mine, 1);
    __syncthreads();
    if (threadIdx.x % 32 != 0) return;
    for (int time = 0; time < 3; ++time) {
        const Word start = cycles();
        if (threadIdx.x == 0) {
#pragma unroll 1
            for (Word i = 0; i < rounds; ++i) {
                arrive(other);
                wait(mine, i & 1);
            }
            out[time] = cycles() - start;
        } else {
#pragma unroll 1
            for (Word i = 0; i < rounds; ++i) {
                wait(mine, i & 1);
                arrive(other);
            }
        }
    }
}

/// The same between a thread of block 0 and one of the last block of a cluster.
extern "C" __global__ void turns_of_blocks(Word* out, Word rounds) {
    __shared__ std::uint64_t barriers[1];
    const Word mine = near(barriers), last = cluster_blocks() - 1;
    const Word other = in_block(mine, rank() == 0 ? last : 0);
    if (threadIdx.x == 0) initialise(mine, 1);
    meet();
    for (int time = 0; time < 3; ++time) {
        const Word start = cycles();
        if (rank() == 0) {
#pragma unroll 1
            for (Word i = 0; i < rounds; ++i) {
                arrive_elsewhere(other);
                wait(mine, i & 1);
            }
            out[time] = cycles() - start;
        } else if (rank() == last) {
#pragma unroll 1
            for (Word i = 0; i < rounds; ++i) {
                wait(mine, i & 1);
                arrive_elsewhere(other);
            }
        }
    }
    meet();
}

namespace {

/// By round: cycles until `kCount` copies have been issued, and until all bytes are there. Copies begin `step` bytes
/// apart by round, and a load of a byte `touch` bytes behind has brought the translation of their page.
template <int kCount>
__device__ __forceinline__ void time_copies(Word* out, const char* data, Word bytes, Word step, Word touch) {
    __shared__ std::uint64_t barriers[1];
    const Word barrier = near(barriers), to = near(memory);
    initialise(barrier, 1);
    __syncthreads();
    Word sum = 0;
    for (int round = 0; round < kRounds; ++round) {
        const char* const from = data + std::size_t{step} * round;
        Word value = 0;
        if (touch != 0) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(from + touch) : "memory");
        sum += value;
        // The load has to have ended; its value is 0.
        expect(barrier, kCount * bytes + sum);
        const Word start = cycles();
#pragma unroll
        for (int i = 0; i < kCount; ++i) copy(to + i * bytes, from + i * bytes, bytes, barrier);
        const Word issued = cycles();
        wait(barrier, round & 1);
        out[2 * round] = issued - start;
        out[2 * round + 1] = cycles() - start;
    }
}

/// The same of boxes of two dimensions, whose rows follow one another.
template <int kCount>
__device__ __forceinline__ void time_boxes(Word* out, const char* map, Word bytes, Word rows) {
    __shared__ std::uint64_t barriers[1];
    const Word barrier = near(barriers), to = near(memory);
    initialise(barrier, 1);
    __syncthreads();
    for (int round = 0; round < kRounds; ++round) {
        expect(barrier, kCount * bytes);
        const Word start = cycles();
#pragma unroll
        for (int i = 0; i < kCount; ++i) copy_box(to + i * ((bytes + 1023) / 1024 * 1024), map, rows * i, barrier);
        const Word issued = cycles();
        wait(barrier, round & 1);
        out[2 * round] = issued - start;
        out[2 * round + 1] = cycles() - start;
    }
}

/// Copies to global memory: cycles until all sources have been read, and until all have been written.
template <int kCount, bool kWritten>
__device__ __forceinline__ void time_stores(Word* out, char* data, Word bytes) {
    for (int round = 0; round < kRounds; ++round) {
        const Word start = cycles();
#pragma unroll
        for (int i = 0; i < kCount; ++i) store(data + i * bytes, near(memory) + i * bytes, bytes);
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        if (kWritten)
            asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        else
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        out[round] = cycles() - start;
    }
}

}  // namespace

extern "C" __global__ void one_copy(Word* out, const char* data, Word bytes, Word step, Word touch) {
    time_copies<1>(out, data, bytes, step, touch);
}
extern "C" __global__ void eight_copies(Word* out, const char* data, Word bytes, Word step, Word touch) {
    time_copies<8>(out, data, bytes, step, touch);
}
extern "C" __global__ void one_box(Word* out, const char* map, Word bytes, Word rows) {
    time_boxes<1>(out, map, bytes, rows);
}
extern "C" __global__ void eight_boxes(Word* out, const char* map, Word bytes, Word rows) {
    time_boxes<8>(out, map, bytes, rows);
}
extern "C" __global__ void one_store(Word* out, char* data, Word bytes) { time_stores<1, false>(out, data, bytes); }
extern "C" __global__ void one_store_written(Word* out, char* data, Word bytes) {
    time_stores<1, true>(out, data, bytes);
}

/// One thread of each block keeps `in_flight` copies in flight until it has made `total`, twice. The blocks' parts of
/// the data follow one another and begin again after `span` bytes, a power of two. By block: cycles of both times.
extern "C" __global__ void copies_in_flight(Word* out, const char* data, Word bytes, Word in_flight, Word total,
                                            Word span) {
    __shared__ std::uint64_t barriers[64];
    const Word barrier = near(barriers), to = near(memory);
    for (Word i = 0; i < in_flight; ++i) initialise(barrier + 8 * i, 1);
    __syncthreads();
    const std::uint64_t first = std::uint64_t{blockIdx.x} * bytes * total;
    Word phase = 0;
    for (Word time = 0; time < 2; ++time) {
        const Word start = cycles();
        Word slot = 0;
        for (Word i = 0; i < total + in_flight; ++i) {
            const Word mine = barrier + 8 * slot;
            if (i >= in_flight) wait(mine, phase ^ 1);
            if (i < total) {
                expect(mine, bytes);
                copy(to + slot * bytes, data + ((first + std::uint64_t{i} * bytes) & (span - 1)), bytes, mine);
            }
            if (++slot == in_flight) slot = 0, phase ^= 1;
        }
        // The last pass through the slots has waited only.
        phase ^= 1;
        out[2 * blockIdx.x + time] = cycles() - start;
    }
}

/// Copies of `bytes` from block 0 to the last block of a cluster, one by round. The last block leaves the cycles from the
/// barrier of the cluster until all bytes are there.
extern "C" __global__ void one_copy_between(Word* out, Word bytes) {
    __shared__ std::uint64_t barriers[1];
    const Word barrier = near(barriers), last = cluster_blocks() - 1;
    initialise(barrier, 1);
    meet();
    const Word to = in_block(near(memory), last), signal = in_block(barrier, last);
    for (int round = 0; round < kRounds; ++round) {
        if (rank() == last) expect(barrier, bytes);
        meet_relaxed();
        const Word start = cycles();
        if (rank() == 0)
            asm volatile(
                "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                "r"(near(memory)), "r"(bytes), "r"(signal)
                : "memory");
        if (rank() == last) {
            wait(barrier, round & 1);
            out[round] = cycles() - start;
        }
    }
    meet();
}

/// `rounds` meetings at the barrier of the cluster, three times. Cycles of block 0.
extern "C" __global__ void meetings(Word* out, Word rounds) {
    for (int time = 0; time < 3; ++time) {
        meet_relaxed();
        const Word start = cycles();
#pragma unroll 1
        for (Word i = 0; i < rounds; ++i) meet_relaxed();
        if (blockIdx.x == 0 && threadIdx.x == 0) out[time] = cycles() - start;
    }
}
/// The same with release and acquire.
extern "C" __global__ void fenced_meetings(Word* out, Word rounds) {
    for (int time = 0; time < 3; ++time) {
        meet();
        const Word start = cycles();
#pragma unroll 1
        for (Word i = 0; i < rounds; ++i) meet();
        if (blockIdx.x == 0 && threadIdx.x == 0) out[time] = cycles() - start;
    }
}

/// One thread of block 0 follows 64 links through the shared memory of block `other`, three times.
extern "C" __global__ void links_elsewhere(Word* out, Word other) {
    constexpr Word kLinks = 1024, kStep = 132;
    const Word first = in_block(near(memory), other);
    for (Word i = threadIdx.x; i < kLinks; i += blockDim.x)
        reinterpret_cast<Word*>(memory)[i] = first + (4 * i + kStep) % (4 * kLinks);
    meet();
    if (rank() == 0 && threadIdx.x == 0) {
        Word at = first;
        for (int time = 0; time < 3; ++time) {
            const Word start = cycles();
#pragma unroll 1
            for (int i = 0; i < 64; ++i) at = load_elsewhere(at);
            out[time] = cycles() - start + (at == 0 ? 1 : 0);
        }
    }
    meet();
}

namespace {

/// All threads of each block read or write 8 times 16 bytes of the next block, `rounds` times, three times. By time:
/// cycles of each block.
template <bool kWrites>
__device__ __forceinline__ void move_elsewhere(Word* out, Word rounds) {
    const Word blocks = cluster_blocks();
    const Word there = in_block(near(memory), (rank() + 1) % blocks) + 16 * (threadIdx.x % 256);
    for (int time = 0; time < 3; ++time) {
        meet();
        const Word start = cycles();
        Word sum = 0;
#pragma unroll 1
        for (Word i = 0; i < rounds; ++i)
#pragma unroll
            for (int j = 0; j < 8; ++j) {
                if (kWrites) {
                    asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(there + 4096 * j), "r"(i)
                                 : "memory");
                } else {
                    // Another address in each round, because ptxas takes the same loads out of the loop.
                    const uint4 value = load_four_elsewhere(there + 4096 * j + 128 * (i & 1));
                    sum ^= value.x ^ value.y ^ value.z ^ value.w;
                }
            }
        if (kWrites)
            meet();
        else
            __syncthreads();
        if (threadIdx.x == 0) out[time * gridDim.x + blockIdx.x] = cycles() - start;
        if (sum == 0x12345) out[0] = sum;
    }
    meet();
}

/// Cycles of a fence by round, first with nothing in flight, then behind a store.
template <int kFence>
__device__ __forceinline__ void time_fence(Word* out, char* data) {
    __shared__ Word results[2 * kRounds];
    for (int round = 0; round < 2 * kRounds; ++round) {
        if (round >= kRounds) asm volatile("st.global.u32 [%0], %1;" ::"l"(data + 128 * round), "r"(round) : "memory");
        const Word start = cycles();
        if (kFence == 0) asm volatile("fence.acq_rel.cta;" ::: "memory");
        if (kFence == 1) asm volatile("fence.acq_rel.gpu;" ::: "memory");
        if (kFence == 2) asm volatile("fence.acq_rel.sys;" ::: "memory");
        if (kFence == 3) asm volatile("fence.proxy.async;" ::: "memory");
        results[round] = cycles() - start;
    }
    for (int round = 0; round < 2 * kRounds; ++round) out[round] = results[round];
}

}  // namespace

extern "C" __global__ void loads_elsewhere(Word* out, Word rounds) { move_elsewhere<false>(out, rounds); }
extern "C" __global__ void stores_elsewhere(Word* out, Word rounds) { move_elsewhere<true>(out, rounds); }
extern "C" __global__ void fence_of_block(Word* out, char* data) { time_fence<0>(out, data); }
extern "C" __global__ void fence_of_gpu(Word* out, char* data) { time_fence<1>(out, data); }
extern "C" __global__ void fence_of_system(Word* out, char* data) { time_fence<2>(out, data); }
extern "C" __global__ void fence_of_proxy(Word* out, char* data) { time_fence<3>(out, data); }

/// Where and when blocks run that last `spin` cycles: by block its SM, its cluster, its first and its last clock.
extern "C" __global__ void places(Word* out, Word spin) {
    const Word start = cycles();
    while (cycles() - start < spin) {
    }
    if (threadIdx.x != 0) return;
    Word sm, cluster;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster));
    Word* const mine = out + 4 * blockIdx.x;
    mine[0] = sm;
    mine[1] = cluster;
    mine[2] = start;
    mine[3] = cycles();
}

/// Does nothing; how long many blocks take is how long starting them takes.
extern "C" __global__ void nothing(Word*) {}
