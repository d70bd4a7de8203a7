// The fields of a cubin that are NVIDIA's own, for its reader and its writer.
#pragma once

#include <cstdint>

namespace gputomo::sass {

// EI_OSABI and EI_ABIVERSION. They say where e_flags holds the compute capability: in the lowest byte up to version 7
// of the old ABI, in the next byte since.
inline constexpr unsigned char kOldAbi = 51, kNewAbi = 65;
inline constexpr unsigned char kLastOldVersion = 7, kNewVersion = 8;

/// Attributes of .nv.info sections, by the names that nvdisasm prints (EIATTR_...). In the file, a byte that says how
/// the value is stored comes first, then the attribute, then the value or its size.
enum InfoAttribute : std::uint8_t {
    kMaxThreads = 0x05,
    kParamCbank = 0x0a,
    kReqntid = 0x10,
    kFrameSize = 0x11,
    kMinStackSize = 0x12,
    kKparamInfo = 0x17,
    kCtaPerCluster = 0x3d,
    kCbankParamSize = 0x19,
    kMaxregCount = 0x1b,
    kExitInstrOffsets = 0x1c,
    kRegcount = 0x2f,
    kCudaApiVersion = 0x37,
    kNumBarriers = 0x4c,
};
enum InfoValue : std::uint8_t { kByteValue = 2, kShortValue = 3, kSizedValue = 4 };

/// Bit of the last word of KPARAM_INFO from which on the parameter's size stands.
inline constexpr int kParameterSizeBit = 18;

}  // namespace gputomo::sass
