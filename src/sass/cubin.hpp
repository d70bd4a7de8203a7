// Reads cubins, the ELF files in which the driver's compiler returns the machine code of a module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sass {

/// Whether code begins as a cubin does, and not as PTX.
[[nodiscard]] bool is_cubin(std::string_view code);

/// The kernels of a cubin. Refers to the bytes that it was made from, which must outlive it.
class Cubin {
public:
    /// Throws InputError with the offset, what was expected there and what was found, unless the bytes are a complete
    /// 64-bit little-endian ELF file for NVIDIA GPUs.
    explicit Cubin(std::span<const std::byte> bytes);

    /// Compute capability of the code (90 for sm_90); nullopt for an unknown version of the file format.
    [[nodiscard]] std::optional<int> sm() const { return sm_; }
    /// Names of the kernels and functions with code.
    [[nodiscard]] std::vector<std::string> kernels() const;
    /// The machine code of a kernel.
    struct Text {
        std::span<const std::byte> bytes;
        std::uint64_t offset = 0;  ///< in the file
    };
    /// Throws InputError that lists the kernels if there is none of that name.
    [[nodiscard]] Text text(std::string_view kernel) const;
    /// A section of the file. `bytes` is empty where it only reserves memory.
    struct Section {
        std::string name;
        std::span<const std::byte> bytes;
        std::uint64_t offset = 0;  ///< in the file
        std::uint64_t size = 0;    ///< in memory
    };
    [[nodiscard]] std::span<const Section> sections() const { return sections_; }
    /// nullptr if there is none of that name.
    [[nodiscard]] const Section* section(std::string_view name) const;
    /// A named place of a section.
    struct Symbol {
        std::string name;
        std::string section;  ///< empty where it is not in this file
        std::uint64_t value = 0;
        std::uint64_t bytes = 0;
        bool is_variable = false;
    };
    /// The symbols in the order of the file: attributes name them by their number. Empty where there is no table.
    [[nodiscard]] std::vector<Symbol> symbols() const;
    /// A place where the loader writes an address.
    struct Relocation {
        std::uint64_t offset = 0;  ///< in the section
        std::uint32_t type = 0;
        std::string symbol;
        std::string symbol_section;  ///< where the symbol lies; empty if it is not in this file
        std::uint64_t value = 0;     ///< offset in symbol_section, with the addend
    };
    /// The relocations of a section.
    [[nodiscard]] std::vector<Relocation> relocations(std::string_view section) const;
    /// The version of the file format in its header: "ELF ABI 65, version 8".
    [[nodiscard]] std::string abi() const;

private:
    void read_header();
    void read_sections();

    std::span<const std::byte> bytes_;
    std::optional<int> sm_;
    int abi_ = 0;
    int abi_version_ = 0;
    std::vector<Section> sections_;  ///< all, in the order of the file
};

}  // namespace gputomo::sass
