// Copies memory of the GPU into the journal before a launch.
#pragma once

#include "capture/interposer/journal.hpp"
#include "capture/interposer/memory_map.hpp"

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace gputomo::capture {

/// Contents are stored in chunks of this size. Smaller ones find more that is equal, larger ones need less space in
/// the journal.
inline constexpr std::size_t kChunk = 65536;

class Snapshot {
public:
    Snapshot(Journal& journal, const MemoryMap& map, std::uint64_t memory_limit)
        : journal_(journal), map_(map), limit_(memory_limit) {}

    /// A JSON list of `arrays`, of the buffers that `values` point into, and of those that these point into in turn. It
    /// has what was stored of each. The caller has made sure that all earlier work on the GPU is complete.
    [[nodiscard]] std::string take(std::span<const std::uint64_t> values, abi::Context context,
                                   std::span<const Allocation> arrays = {});

    /// Contexts, and the streams in them, are about to end.
    void forget_streams();

private:
    struct Key {
        std::uint64_t low, high;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const { return key.low; }
    };
    struct Part {
        std::uint64_t offset, bytes;
        bool fill;
        std::uint64_t value;  ///< the repeated eight bytes, or the position in the journal's data
    };

    /// Adds the allocations that the content points into to `found`.
    std::string content(const Allocation& buffer, abi::Context context, std::vector<Allocation>& found);
    void follow(std::span<const std::byte> content, std::vector<Allocation>& found) const;
    bool copy(std::uint64_t address, std::span<std::byte> to, Space space, abi::Context context);
    void store(std::span<const std::byte> chunk, std::uint64_t offset, std::vector<Part>& parts);
    abi::Stream stream_of(abi::Context context);

    Journal& journal_;
    const MemoryMap& map_;
    std::uint64_t limit_;
    std::uint64_t stored_ = 0, copied_ = 0;
    std::mutex lock_;
    std::unordered_map<Key, std::uint64_t, KeyHash> positions_;
    std::unordered_map<abi::Context, abi::Stream> streams_;
    std::vector<std::byte> staging_;
};

}  // namespace gputomo::capture
