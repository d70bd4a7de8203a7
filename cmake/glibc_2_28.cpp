// What glibc 2.28 lacks and the static libraries of GCC 12 and newer call, for packages that are linked against it.
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

namespace {

/// As glibc 2.35 has it in <dlfcn.h>, for machines with 64-bit pointers and no dlfo_eh_dbase.
struct FoundObject {
    unsigned long long flags;
    void* begin;
    void* end;
    void* link_map;
    void* eh_frame;
    unsigned long long reserved[7];
};

struct Search {
    std::uintptr_t address;
    FoundObject* found;
};

/// The object that has code at the address: its first and last byte, and where its table for unwinding is.
int look_at(dl_phdr_info* object, std::size_t, void* data) {
    auto& search = *static_cast<Search*>(data);
    std::uintptr_t begin = UINTPTR_MAX, end = 0, eh_frame = 0;
    bool has_address = false;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const auto& part = object->dlpi_phdr[i];
        const std::uintptr_t first = object->dlpi_addr + part.p_vaddr;
        if (part.p_type == PT_GNU_EH_FRAME) eh_frame = first;
        if (part.p_type != PT_LOAD) continue;
        has_address = has_address || (search.address >= first && search.address < first + part.p_memsz);
        if (first < begin) begin = first;
        if (first + part.p_memsz > end) end = first + part.p_memsz;
    }
    if (!has_address || eh_frame == 0) return 0;
    *search.found = {.flags = 0,
                     .begin = reinterpret_cast<void*>(begin),
                     .end = reinterpret_cast<void*>(end),
                     .link_map = nullptr,
                     .eh_frame = reinterpret_cast<void*>(eh_frame),
                     .reserved = {}};
    return 1;
}

}  // namespace

/// glibc 2.35 has this function. libgcc calls it to unwind for exceptions, and reads the begin, the end and the table.
extern "C" __attribute__((visibility("hidden"))) int find_object(void* address, FoundObject* found) noexcept
    __asm__("_dl_find_object");  // newer headers declare it with their own type
extern "C" int find_object(void* address, FoundObject* found) noexcept {
    Search search{reinterpret_cast<std::uintptr_t>(address), found};
    return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}

/// glibc 2.32 has this variable. libstdc++ leaves out locks where it is true; false is right for every process.
extern "C" __attribute__((visibility("hidden"))) char __libc_single_threaded;
char __libc_single_threaded = 0;
