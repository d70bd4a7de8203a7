#include "capture/interposer/code_registry.hpp"

#include "capture/fatbin.hpp"
#include "capture/interposer/driver.hpp"
#include "units/error.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

namespace gputomo::capture {
namespace {

/// The largest number of parameters that a kernel can have: each takes a byte or more of the 32,764 that CUDA allows.
constexpr std::size_t kMostParameters = 32764;

std::span<const std::byte> first_bytes(const void* code) { return {static_cast<const std::byte*>(code), 4}; }

/// The end of the part of an ELF file that its header and tables describe.
std::size_t elf_bytes(const void* code) {
    Elf64_Ehdr header;
    std::memcpy(&header, code, sizeof(header));
    const auto* const start = static_cast<const std::byte*>(code);
    std::size_t end = std::max(header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize,
                               header.e_phoff + std::size_t{header.e_phnum} * header.e_phentsize);
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
        Elf64_Shdr section;
        std::memcpy(&section, start + header.e_shoff + i * header.e_shentsize, sizeof(section));
        if (section.sh_type != SHT_NOBITS) end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
    }
    return end;
}

/// The code behind a pointer: past the compiler's wrapper, with its size. Size 0 for an unknown kind.
std::pair<const void*, std::size_t> extent(const void* code) {
    switch (image_kind(first_bytes(code))) {
        case ImageKind::fatbin_wrapper: {
            const void* const fatbin = static_cast<const abi::FatbinWrapper*>(code)->fatbin;
            if (fatbin == nullptr || image_kind(first_bytes(fatbin)) == ImageKind::fatbin_wrapper) return {code, 0};
            return extent(fatbin);
        }
        case ImageKind::fatbin: return {code, fatbin_bytes({static_cast<const std::byte*>(code), kFatbinHeaderBytes})};
        case ImageKind::cubin: return {code, elf_bytes(code)};
        case ImageKind::ptx: return {code, std::strlen(static_cast<const char*>(code))};
        case ImageKind::unknown: break;
    }
    return {code, 0};
}

/// A fatbin with only the members that the GPU may run, or all where none may.
std::string for_gpu(std::span<const std::byte> fatbin, int sm) {
    std::string kept;
    auto chosen = candidates(members(fatbin), sm);
    if (!chosen.empty() && chosen.front().kind == FatbinMember::Kind::cubin)
        std::erase_if(chosen, [](const FatbinMember& member) { return member.kind == FatbinMember::Kind::ptx; });
    if (chosen.empty()) chosen = members(fatbin);
    for (const auto& member : chosen)
        kept.append(reinterpret_cast<const char*>(member.entry.data()), member.entry.size());
    std::string whole(reinterpret_cast<const char*>(fatbin.data()), kFatbinHeaderBytes);
    const std::uint16_t header = kFatbinHeaderBytes;
    const std::uint64_t size = kept.size();
    std::memcpy(whole.data() + 6, &header, sizeof(header));
    std::memcpy(whole.data() + 8, &size, sizeof(size));
    return whole + kept;
}

std::vector<KernelEntry::Parameter> parameters_of(const void* handle, bool is_library_kernel, bool& known) {
    std::vector<KernelEntry::Parameter> all;
    const Driver& calls = driver();
    auto* const kernel = reinterpret_cast<abi::Kernel>(const_cast<void*>(handle));
    auto* const function = reinterpret_cast<abi::Function>(const_cast<void*>(handle));
    known = is_library_kernel ? calls.kernel_parameter != nullptr : calls.function_parameter != nullptr;
    while (known && all.size() < kMostParameters) {
        KernelEntry::Parameter parameter{};
        const auto result = is_library_kernel
                                ? calls.kernel_parameter(kernel, all.size(), &parameter.offset, &parameter.bytes)
                                : calls.function_parameter(function, all.size(), &parameter.offset, &parameter.bytes);
        if (result != abi::kSuccess) break;
        all.push_back(parameter);
    }
    return all;
}

std::string name_of(const void* handle, bool is_library_kernel) {
    const char* name = nullptr;
    auto result = abi::kNotFound;
    if (is_library_kernel && driver().kernel_name != nullptr)
        result = driver().kernel_name(&name, reinterpret_cast<abi::Kernel>(const_cast<void*>(handle)));
    if (!is_library_kernel && driver().function_name != nullptr)
        result = driver().function_name(&name, reinterpret_cast<abi::Function>(const_cast<void*>(handle)));
    return result == abi::kSuccess && name != nullptr ? name : std::string();
}

}  // namespace

Image::Image(std::string copy) : copy_(std::move(copy)) {}
Image::Image(const void* code, std::size_t bytes) : code_(code), bytes_(bytes) {}

std::shared_ptr<Image> Image::of(const void* code) {
    if (code == nullptr) return nullptr;
    const auto [start, size] = extent(code);
    Dl_info library;
    if (dladdr(start, &library) != 0) return std::shared_ptr<Image>(new Image(start, size));
    return std::shared_ptr<Image>(new Image(std::string(static_cast<const char*>(start), size)));
}

std::shared_ptr<Image> Image::of_file(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return std::shared_ptr<Image>(new Image(std::string{std::istreambuf_iterator<char>(file), {}}));
}

std::span<const std::byte> Image::bytes() const {
    if (code_ != nullptr) return {static_cast<const std::byte*>(code_), bytes_};
    return std::as_bytes(std::span(copy_));
}

const std::string& Image::file(Journal& journal, int sm) {
    if (file_) return *file_;
    file_ = std::string();
    if (image_kind(bytes()) != ImageKind::fatbin) return *(file_ = journal.write_image(bytes()));
    std::string part;
    try {
        part = for_gpu(bytes(), sm);
    } catch (const InputError&) {  // the command says what is wrong with it
        part.assign(reinterpret_cast<const char*>(bytes().data()), bytes().size());
    }
    return *(file_ = journal.write_image(std::as_bytes(std::span(part))));
}

void CodeRegistry::loaded(const void* owner, std::shared_ptr<Image> image) {
    const std::scoped_lock guard(lock_);
    images_[owner] = std::move(image);
}

void CodeRegistry::also(const void* same, const void* owner) {
    const std::scoped_lock guard(lock_);
    if (const auto found = images_.find(owner); found != images_.end()) {
        auto image = found->second;
        images_[same] = std::move(image);
    }
}

void CodeRegistry::unloaded(const void* owner) {
    const std::scoped_lock guard(lock_);
    const auto found = images_.find(owner);
    if (found == images_.end()) return;
    const auto image = found->second;
    std::erase_if(images_, [&](const auto& row) { return row.second == image; });
    std::erase_if(kernels_, [&](const auto& row) { return row.second.entry->image == image; });
}

void CodeRegistry::kernel(const void* handle, const void* owner, std::string name, bool is_library_kernel) {
    const std::scoped_lock guard(lock_);
    const auto image = images_.find(owner);
    const auto code = image == images_.end() ? nullptr : image->second;
    auto& row = kernels_[handle];
    if (row.entry != nullptr && row.entry->image == code && (name.empty() || row.entry->name == name)) return;
    row = {std::make_shared<KernelEntry>(), is_library_kernel};
    row.entry->name = std::move(name);
    row.entry->image = code;
    row.entry->owner = owner;
}

void CodeRegistry::function_of(const void* function, const void* kernel) {
    const std::scoped_lock guard(lock_);
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return;
    const auto entry = found->second.entry;
    kernels_[function] = {entry, false};
}

std::shared_ptr<KernelEntry> CodeRegistry::library_kernel_with(abi::Function function, const std::string& name) const {
    for (const auto& [handle, row] : kernels_) {
        if (!row.is_library_kernel || (!row.entry->name.empty() && row.entry->name != name)) continue;
        abi::Function found = nullptr;
        auto* const kernel = reinterpret_cast<abi::Kernel>(const_cast<void*>(handle));
        if (driver().kernel_function != nullptr && driver().kernel_function(&found, kernel) == abi::kSuccess &&
            found == function)
            return row.entry;
    }
    return nullptr;
}

CodeRegistry::Handle CodeRegistry::unknown(const void* handle) const {
    auto* const function = reinterpret_cast<abi::Function>(const_cast<void*>(handle));
    const std::string name = name_of(handle, false);
    if (auto entry = library_kernel_with(function, name); entry != nullptr) return {std::move(entry), false};
    Handle made{std::make_shared<KernelEntry>(), false};
    made.entry->name = name;
    abi::Module module = nullptr;
    if (driver().function_module == nullptr || driver().function_module(&module, function) != abi::kSuccess)
        return made;
    if (const auto image = images_.find(module); image != images_.end()) made.entry->image = image->second;
    return made;
}

std::shared_ptr<KernelEntry> CodeRegistry::find(const void* handle) {
    const std::scoped_lock guard(lock_);
    auto found = kernels_.find(handle);
    if (found == kernels_.end()) found = kernels_.emplace(handle, unknown(handle)).first;
    const auto& [entry, is_library_kernel] = found->second;
    if (!entry->asked) {
        entry->asked = true;
        entry->parameters = parameters_of(handle, is_library_kernel, entry->parameters_known);
        if (entry->name.empty()) entry->name = name_of(handle, is_library_kernel);
    }
    return entry;
}

}  // namespace gputomo::capture
