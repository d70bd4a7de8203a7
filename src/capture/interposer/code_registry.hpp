// Which module each kernel handle belongs to, and the code that the program gave the driver for that module.
#pragma once

#include "capture/interposer/abi.hpp"
#include "capture/interposer/journal.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gputomo::capture {

/// What a program gave the driver as a module. Code in a loaded library stays where it is; other code is copied,
/// because the program may free it after loading.
class Image {
public:
    /// `code` as cuModuleLoadData and cuLibraryLoadData take it.
    static std::shared_ptr<Image> of(const void* code);
    static std::shared_ptr<Image> of_file(const char* path);

    /// The name of the file with the part that a GPU of compute capability `sm` runs, written when first asked for;
    /// empty when it cannot be written.
    const std::string& file(Journal& journal, int sm);

private:
    explicit Image(std::string copy);
    Image(const void* code, std::size_t bytes);
    [[nodiscard]] std::span<const std::byte> bytes() const;

    std::string copy_;
    const void* code_ = nullptr;
    std::size_t bytes_ = 0;
    std::optional<std::string> file_;
};

/// A kernel, as a launch names it: a CUfunction or a CUkernel.
struct KernelEntry {
    int id = -1;  ///< in the journal; -1 until its first launch
    std::string name;
    bool recorded = true;  ///< whether its name is one that the user asked for
    std::shared_ptr<Image> image;
    const void* owner = nullptr;  ///< its module or library
    struct Parameter {
        std::size_t offset, bytes;
    };
    std::vector<Parameter> parameters;
    bool parameters_known = false;
    bool asked = false;  ///< whether the driver was asked for its name and parameters
};

class CodeRegistry {
public:
    /// Module or library `owner` was loaded from `image`.
    void loaded(const void* owner, std::shared_ptr<Image> image);
    /// `same` is another handle of what `owner` names: the module of a library.
    void also(const void* same, const void* owner);
    void unloaded(const void* owner);
    /// The handle of a kernel was handed out. `name` may be empty where it must be asked for.
    void kernel(const void* handle, const void* owner, std::string name, bool is_library_kernel);
    /// `function` is what a library's kernel is in the current context.
    void function_of(const void* function, const void* kernel);

    /// The kernel of a launch, with its parameters. Asks the driver about handles that were never handed out.
    std::shared_ptr<KernelEntry> find(const void* handle);

private:
    struct Handle {
        std::shared_ptr<KernelEntry> entry;
        bool is_library_kernel = false;
    };
    /// The kernel of a handle that was never handed out: graphs name kernels of libraries by their functions.
    Handle unknown(const void* handle) const;
    [[nodiscard]] std::shared_ptr<KernelEntry> library_kernel_with(abi::Function function,
                                                                   const std::string& name) const;

    std::mutex lock_;
    std::unordered_map<const void*, std::shared_ptr<Image>> images_;
    std::unordered_map<const void*, Handle> kernels_;
};

}  // namespace gputomo::capture
