// The texture objects of the program: what each reads and how, and the memory behind it.
#pragma once

#include "capture/interposer/abi.hpp"
#include "capture/interposer/memory_map.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace gputomo::capture {

/// CUDA arrays have no address. Each gets one from here on, where no driver places memory.
inline constexpr std::uint64_t kArrayAddresses = std::uint64_t{0x600000000000};

class Textures {
public:
    void created(abi::TextureObject handle, const abi::ResourceDescription& resource,
                 const abi::TextureDescription& texture, bool has_view);
    void destroyed(abi::TextureObject handle);
    /// Their contexts are about to end.
    void forget();

    /// A JSON list of all texture objects; empty where there are none.
    [[nodiscard]] std::string list() const;
    /// Addresses of those in memory.
    void collect_values(std::vector<std::uint64_t>& values) const;
    /// The arrays that they read, each once.
    [[nodiscard]] std::vector<Allocation> arrays() const;

private:
    struct Texture {
        std::string json;           ///< as in a journal
        std::uint64_t address = 0;  ///< of linear memory or rows
        Allocation array;           ///< 0 bytes where it reads none
    };
    Allocation allocation_of(abi::Array array, std::uint64_t bytes);

    mutable std::mutex lock_;
    std::map<abi::TextureObject, Texture> by_handle_;
    std::map<abi::Array, Allocation> arrays_;
    std::uint64_t next_ = kArrayAddresses;
};

/// Copies an array to the host, row after row without gaps. The stream is idle afterwards.
[[nodiscard]] bool copy_array(abi::Array array, void* to, abi::Stream stream);

}  // namespace gputomo::capture
