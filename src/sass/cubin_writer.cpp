#include "sass/cubin_writer.hpp"

#include "sass/code.hpp"
#include "sass/cubin_format.hpp"
#include "units/error.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace gputomo::sass {
namespace {

constexpr int kSm = 90;
constexpr int kMostRegisters = 255;
constexpr int kMostBarriers = 16;
constexpr int kMostParameterBytes = 4096;  ///< nvcc allows more, by another layout
constexpr int kWidestParameter = 16;

// Fields of the file that are NVIDIA's own, as ptxas 13.0 writes them for sm_90.
constexpr std::uint32_t kFlags = 0x06000004;
constexpr int kFlagsSm = 8;  ///< bit of e_flags where the compute capability starts
constexpr Elf64_Word kInfoSection = SHT_LOPROC;
constexpr Elf64_Word kCallGraphSection = SHT_LOPROC + 1;
constexpr Elf64_Word kCompatibilitySection = SHT_LOPROC + 0x86;
constexpr unsigned char kEntry = 0x10;  ///< st_other of a kernel
constexpr Elf64_Xword kTextAlignment = 128;
constexpr Elf64_Xword kWordAlignment = 4;
constexpr Elf64_Xword kTableAlignment = 8;

constexpr std::uint32_t kToolkit = 0x82;  ///< 13.0
constexpr std::uint32_t kParameterSpace = 0x1f000;

/// Bytes of a file under construction.
class Bytes {
public:
    template <class T>
    void add(const T& value) {
        const auto* const first = reinterpret_cast<const std::byte*>(&value);
        bytes_.insert(bytes_.end(), first, first + sizeof(T));
    }
    void add(std::span<const std::byte> other) { bytes_.insert(bytes_.end(), other.begin(), other.end()); }
    void align(std::size_t to) { bytes_.resize((bytes_.size() + to - 1) / to * to); }
    void resize(std::size_t size) { bytes_.resize(size); }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    [[nodiscard]] std::span<const std::byte> span() const { return bytes_; }
    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

class Strings {
public:
    Strings() { add(""); }
    Elf64_Word add(std::string_view text) {
        const auto at = static_cast<Elf64_Word>(bytes_.size());
        for (const char c : text) bytes_.add(c);
        bytes_.add('\0');
        return at;
    }
    [[nodiscard]] std::span<const std::byte> span() const { return bytes_.span(); }

private:
    Bytes bytes_;
};

void attribute(Bytes& info, std::uint8_t name, std::uint16_t value) {
    info.add(kShortValue);
    info.add(name);
    info.add(value);
}
void attribute(Bytes& info, std::uint8_t name, std::span<const std::uint32_t> words) {
    info.add(kSizedValue);
    info.add(name);
    info.add(static_cast<std::uint16_t>(words.size_bytes()));
    for (const auto word : words) info.add(word);
}

/// Offsets of parameters from the first one, and behind the last one the size of all.
std::vector<int> parameter_offsets(const CubinKernel& kernel) {
    std::vector<int> offsets;
    int end = 0;
    for (const int bytes : kernel.parameter_bytes) {
        offsets.push_back((end + bytes - 1) / bytes * bytes);
        end = offsets.back() + bytes;
    }
    offsets.push_back(end);
    return offsets;
}

void require(const CubinKernel& kernel, std::string_view what, int value, int least, int most) {
    if (value >= least && value <= most) return;
    throw InputError(
        fmt::format("cubin: kernel '{}' has {} {}; expected {} to {}", kernel.name, value, what, least, most));
}

void check(const CubinKernel& kernel) {
    if (kernel.name.empty()) throw InputError("cubin: a kernel has no name; expected the name of its entry");
    if (kernel.code.empty())
        throw InputError(fmt::format("cubin: kernel '{}' has no instructions; expected at least EXIT", kernel.name));
    require(kernel, "registers", kernel.registers, 1, kMostRegisters);
    require(kernel, "barriers", kernel.barriers, 0, kMostBarriers);
    for (const int bytes : kernel.parameter_bytes)
        if (bytes < 1 || bytes > kWidestParameter || !std::has_single_bit(static_cast<unsigned>(bytes)))
            throw InputError(fmt::format("cubin: kernel '{}' has a parameter of {} bytes; expected 1, 2, 4, 8 or {}",
                                         kernel.name, bytes, kWidestParameter));
    require(kernel, "bytes of parameters", parameter_offsets(kernel).back(), 0, kMostParameterBytes);
}

/// Lays out one file. Sections are added in order; the tables that describe them follow at the end.
class CubinWriter {
public:
    std::vector<std::byte> write(std::span<const CubinKernel> kernels, int sm) {
        file_.resize(sizeof(Elf64_Ehdr));
        add_section("", {.sh_type = SHT_NULL}, {});
        for (const auto& kernel : kernels) add_kernel(kernel);
        add_shared_info();
        const auto header = finish(sm);
        auto bytes = file_.take();
        std::memcpy(bytes.data(), &header, sizeof(header));
        return bytes;
    }

private:
    Elf64_Word add_section(const std::string& name, Elf64_Shdr header, std::span<const std::byte> content) {
        header.sh_name = section_names_.add(name);
        if (header.sh_type != SHT_NULL) {
            file_.align(header.sh_addralign);
            header.sh_offset = file_.size();
        }
        if (header.sh_type != SHT_NOBITS) header.sh_size = content.size();
        file_.add(content);
        sections_.push_back(header);
        return static_cast<Elf64_Word>(sections_.size()) - 1;
    }

    std::uint32_t add_symbol(std::string_view name, unsigned char binding, unsigned char type, unsigned char other,
                             Elf64_Word section, std::size_t size) {
        symbols_.push_back({.st_name = symbol_names_.add(name),
                            .st_info = static_cast<unsigned char>(ELF64_ST_INFO(binding, type)),
                            .st_other = other,
                            .st_shndx = static_cast<Elf64_Section>(section),
                            .st_value = 0,
                            .st_size = size});
        return static_cast<std::uint32_t>(symbols_.size()) - 1;
    }

    void add_kernel(const CubinKernel& kernel) {
        const std::size_t code_bytes = kernel.code.size() * kInstructionBytes;
        const auto text = add_text(kernel);
        const auto function = add_symbol(kernel.name, STB_GLOBAL, STT_FUNC, kEntry, text, code_bytes);
        sections_[text].sh_info = function;
        if (kernel.shared_bytes > 0) {
            add_section(".nv.shared." + kernel.name,
                        {.sh_type = SHT_NOBITS,
                         .sh_flags = SHF_WRITE | SHF_ALLOC | SHF_INFO_LINK,
                         .sh_size = static_cast<Elf64_Xword>(kernel.shared_bytes),
                         .sh_info = text,
                         .sh_addralign = kWordAlignment},
                        {});
        }
        const std::vector<std::byte> constants(
            static_cast<std::size_t>(kFirstParameter + parameter_offsets(kernel).back()));
        const auto constant = add_section(".nv.constant0." + kernel.name,
                                          {.sh_type = SHT_PROGBITS,
                                           .sh_flags = SHF_ALLOC | SHF_INFO_LINK,
                                           .sh_info = text,
                                           .sh_addralign = kWordAlignment},
                                          constants);
        const auto bank = add_symbol(".nv.constant0." + kernel.name, STB_LOCAL, STT_SECTION, 0, constant, 0);
        add_section(
            ".nv.info." + kernel.name,
            {.sh_type = kInfoSection, .sh_flags = SHF_INFO_LINK, .sh_info = text, .sh_addralign = kWordAlignment},
            kernel_info(kernel, bank).span());
        for (const auto& [name, value] : {std::pair{kRegcount, kernel.registers},
                                          {kFrameSize, kernel.local_bytes},
                                          {kMinStackSize, kernel.local_bytes}})
            attribute(shared_info_, name, std::vector{function, static_cast<std::uint32_t>(value)});
    }

    Elf64_Word add_text(const CubinKernel& kernel) {
        Bytes code;
        for (const Word& word : kernel.code) {
            code.add(word.low);
            code.add(word.high);
        }
        return add_section(
            ".text." + kernel.name,
            {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addralign = kTextAlignment},
            code.span());
    }

    static Bytes kernel_info(const CubinKernel& kernel, std::uint32_t bank) {
        Bytes info;
        attribute(info, kCudaApiVersion, std::vector{kToolkit});
        const auto offsets = parameter_offsets(kernel);
        for (std::size_t i = kernel.parameter_bytes.size(); i-- > 0;)
            attribute(
                info, kKparamInfo,
                std::vector{
                    std::uint32_t{0}, static_cast<std::uint32_t>(i) | static_cast<std::uint32_t>(offsets[i]) << 16,
                    static_cast<std::uint32_t>(kernel.parameter_bytes[i]) << kParameterSizeBit | kParameterSpace});
        attribute(info, kMaxregCount, kMostRegisters);
        if (kernel.barriers > 0) {
            info.add(kByteValue);
            info.add(kNumBarriers);
            info.add(static_cast<std::uint16_t>(kernel.barriers));
        }
        attribute(info, kExitInstrOffsets, exits(kernel));
        const auto size = static_cast<std::uint16_t>(offsets.back());
        attribute(info, kCbankParamSize, size);
        attribute(
            info, kParamCbank,
            std::vector{bank, static_cast<std::uint32_t>(kFirstParameter) | static_cast<std::uint32_t>(size) << 16});
        return info;
    }

    static std::vector<std::uint32_t> exits(const CubinKernel& kernel) {
        std::vector<std::uint32_t> offsets;
        for (std::size_t i = 0; i < kernel.code.size(); ++i) {
            const auto offset = i * kInstructionBytes;
            if (decode(kernel.code[i], kSm, offset).operation == Operation::EXIT)
                offsets.push_back(static_cast<std::uint32_t>(offset));
        }
        return offsets;
    }

    void add_shared_info() {
        add_section(".nv.info", {.sh_type = kInfoSection, .sh_addralign = kWordAlignment}, shared_info_.span());
        constexpr std::uint32_t kCompatibility[] = {0x00000902, 0x00010202, 0x00050502, 0x01010703, 0x00000302,
                                                    0x00010602, 0x00080b04, 0,          0};
        add_section(".nv.compat", {.sh_type = kCompatibilitySection, .sh_addralign = kWordAlignment},
                    std::as_bytes(std::span(kCompatibility)));
        // Four lists of pairs (caller, callee). No kernel calls another one, so each list has only the pair that ends
        // it.
        constexpr std::uint32_t kNoCalls[] = {0, 0xffffffff, 0, 0xfffffffe, 0, 0xfffffffd, 0, 0xfffffffc};
        add_section(".nv.callgraph", {.sh_type = kCallGraphSection, .sh_addralign = kWordAlignment, .sh_entsize = 8},
                    std::as_bytes(std::span(kNoCalls)));
    }

    Elf64_Ehdr finish(int sm) {
        const auto strings = add_section(".strtab", {.sh_type = SHT_STRTAB, .sh_addralign = 1}, symbol_names_.span());
        const auto symbols = add_section(".symtab",
                                         {.sh_type = SHT_SYMTAB,
                                          .sh_link = strings,
                                          .sh_info = static_cast<Elf64_Word>(symbols_.size()),
                                          .sh_addralign = kTableAlignment,
                                          .sh_entsize = sizeof(Elf64_Sym)},
                                         std::as_bytes(std::span(symbols_)));
        const auto names = add_section_names();
        for (Elf64_Shdr& section : sections_)
            if (section.sh_type == kInfoSection || section.sh_type == kCallGraphSection ||
                (section.sh_flags & SHF_EXECINSTR) != 0)
                section.sh_link = symbols;
        const auto segments = loaded_segments();
        file_.align(kTableAlignment);
        const auto section_table = file_.size();
        for (const Elf64_Shdr& section : sections_) file_.add(section);
        const auto segment_table = file_.size();
        for (const Elf64_Phdr& segment : segments) file_.add(segment);
        Elf64_Ehdr header{.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, kNewAbi, kNewVersion},
                          .e_type = ET_EXEC,
                          .e_machine = EM_CUDA,
                          .e_version = EV_CURRENT,
                          .e_entry = 0,
                          .e_phoff = segment_table,
                          .e_shoff = section_table,
                          .e_flags = kFlags | static_cast<std::uint32_t>(sm) << kFlagsSm,
                          .e_ehsize = sizeof(Elf64_Ehdr),
                          .e_phentsize = sizeof(Elf64_Phdr),
                          .e_phnum = static_cast<Elf64_Half>(segments.size()),
                          .e_shentsize = sizeof(Elf64_Shdr),
                          .e_shnum = static_cast<Elf64_Half>(sections_.size()),
                          .e_shstrndx = static_cast<Elf64_Half>(names)};
        return header;
    }

    /// The section of names holds its own name too, so that is added before the content is copied.
    Elf64_Word add_section_names() {
        const auto own_name = section_names_.add(".shstrtab");
        const auto at = file_.size();
        file_.add(section_names_.span());
        sections_.push_back({.sh_name = own_name,
                             .sh_type = SHT_STRTAB,
                             .sh_offset = at,
                             .sh_size = section_names_.span().size(),
                             .sh_addralign = 1});
        return static_cast<Elf64_Word>(sections_.size()) - 1;
    }

    [[nodiscard]] std::vector<Elf64_Phdr> loaded_segments() const {
        std::vector<Elf64_Phdr> segments;
        for (const Elf64_Shdr& section : sections_) {
            if ((section.sh_flags & SHF_ALLOC) == 0) continue;
            const bool executes = (section.sh_flags & SHF_EXECINSTR) != 0;
            const bool writes = (section.sh_flags & SHF_WRITE) != 0;
            segments.push_back({.p_type = PT_LOAD,
                                .p_flags = static_cast<Elf64_Word>(PF_R | (executes ? PF_X : 0) | (writes ? PF_W : 0)),
                                .p_offset = section.sh_offset,
                                .p_vaddr = 0,
                                .p_paddr = 0,
                                .p_filesz = section.sh_type == SHT_NOBITS ? 0 : section.sh_size,
                                .p_memsz = section.sh_size,
                                .p_align = section.sh_addralign});
        }
        return segments;
    }

    Bytes file_;
    Bytes shared_info_;
    Strings section_names_;
    Strings symbol_names_;
    std::vector<Elf64_Shdr> sections_;
    std::vector<Elf64_Sym> symbols_{Elf64_Sym{}};
};

}  // namespace

std::vector<std::byte> write_cubin(std::span<const CubinKernel> kernels, int sm) {
    static_assert(std::endian::native == std::endian::little);
    if (sm != kSm) throw InputError(fmt::format("cubin: cannot write one for sm_{}; expected sm_{}", sm, kSm));
    if (kernels.empty()) throw InputError("cubin: no kernels; expected at least one");
    for (const auto& kernel : kernels) check(kernel);
    return CubinWriter().write(kernels, sm);
}

}  // namespace gputomo::sass
