// Puts encoded instructions into a cubin, the ELF file that the driver loads.
#pragma once

#include "sass/word.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace gputomo::sass {

/// A kernel and what the driver has to know of it.
struct CubinKernel {
    std::string name;
    std::vector<Word> code;
    int registers = 0;                   ///< for each thread, the highest number plus one
    std::vector<int> parameter_bytes{};  ///< each a power of two of at most 16, to which the parameter is aligned
    int barriers = 0;                    ///< named barriers that BAR uses
    int shared_bytes = 0;                ///< static shared memory of a block
    int local_bytes = 0;                 ///< stack of a thread
};

/// Where the first parameter is in constant bank 0 on compute capability 9.0.
inline constexpr int kFirstParameter = 0x210;

/// A cubin of these kernels, as ptxas 13.0 lays it out. Throws InputError for a kernel that the driver could not load,
/// or for another compute capability than 9.0.
[[nodiscard]] std::vector<std::byte> write_cubin(std::span<const CubinKernel> kernels, int sm);

}  // namespace gputomo::sass
