// Which addresses the program has allocated, so that a parameter that points to memory is recognised.
#pragma once

#include "capture/interposer/abi.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gputomo::capture {

enum class Space { device, host, mapped, variable, array };

struct Allocation {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    Space space = Space::device;
    bool accessible = true;      ///< memory that was mapped and not yet given access rights is not
    std::string name;            ///< of a module's variable
    abi::Array array = nullptr;  ///< a CUDA array, whose address only captures know
};

class MemoryMap {
public:
    void add(Allocation allocation);
    void remove(std::uint64_t address);
    /// Gives access rights to what was mapped within a range.
    void make_accessible(std::uint64_t address, std::uint64_t bytes);
    /// Removes what was mapped within a range.
    void unmap(std::uint64_t address, std::uint64_t bytes);

    /// The allocation around an address. Mappings side by side count as one.
    [[nodiscard]] std::optional<Allocation> around(std::uint64_t address) const;
    /// The addresses between which all allocations lie.
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> bounds() const;
    /// The variables of modules that the program has asked for.
    [[nodiscard]] std::vector<Allocation> variables() const;

private:
    mutable std::mutex lock_;
    std::map<std::uint64_t, Allocation> by_address_;
};

}  // namespace gputomo::capture
