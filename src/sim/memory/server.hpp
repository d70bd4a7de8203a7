// A resource that serves one request after the other: a port, a DRAM channel or bank.
#pragma once

#include "costs/calendar.hpp"

namespace gputomo::sim {

using Server = costs::Calendar;

}  // namespace gputomo::sim
