// A cubin: the ELF file in which the driver's compiler hands over a module's machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::device {

/// The headers of a cubin, and where each kernel's instructions are. Refers to the bytes it was made from.
class Cubin {
public:
    /// Throws InputError with the offset, what was expected there and what was found, for anything but a whole 64-bit
    /// little-endian ELF file for NVIDIA GPUs.
    explicit Cubin(std::span<const std::byte> bytes);

    /// Compute capability that the code is for (90 for sm_90); nothing where this version of the file format isn't
    /// known.
    [[nodiscard]] std::optional<int> sm() const { return sm_; }
    /// Names of the kernels and functions with code.
    [[nodiscard]] std::vector<std::string> kernels() const;
    /// The instructions of a kernel, as bytes, and their offset in the file. Throws InputError when there is no such
    /// kernel.
    struct Text {
        std::span<const std::byte> bytes;
        std::uint64_t offset = 0;
    };
    [[nodiscard]] Text text(std::string_view kernel) const;
    /// What its header says of the format: "ELF ABI 65, version 8".
    [[nodiscard]] std::string abi() const;

private:
    struct Section {
        std::string name;
        Text text;
    };
    void read_header();
    void read_sections();

    std::span<const std::byte> bytes_;
    std::optional<int> sm_;
    int abi_ = 0;
    int abi_version_ = 0;
    std::vector<Section> texts_;
};

}  // namespace gputomo::device
