// Kernels of the pointer chase and the layout of what they leave behind.
#pragma once

#include "experiments/pointer_chase.hpp"

namespace gputomo::experiments {

/// `wanted_sm` of a chase that may run anywhere.
inline constexpr std::uint32_t kAnySm = 0xffff'ffff;
/// Results: u32 claim flag, u32 begin, u32 end, padding, u64 last address; then the records.
inline constexpr std::int64_t kHeaderBytes = 32;
/// A record: u32 clock before, u32 clock after, u32 low half of the address that was loaded.
inline constexpr std::int64_t kRecordBytes = 12;

[[nodiscard]] ptx::KernelBuilder link_writer_kernel(ptx::Target target);

}  // namespace gputomo::experiments
