#include "models/models.hpp"

#include <array>
#include <span>

namespace gputomo::models {

std::span<const Model> catalogue() {
    static const std::array rows = {
        volkov_basic(),
        volkov_contention(),
        cuda_guide(),
        cuda_guide_refined(),
        hong_kim(),
        baghsorkhi(),
        zhang_owens_max(),
        zhang_owens_add(),
        sim_2012(),
        huang_round_robin(),
        huang_greedy(),
        huang_round_robin_bandwidth(),
        huang_greedy_bandwidth(),
        saavedra_barrera(),
        agarwal(),
        mowry(),
        chen_aamodt_1(),
        chen_aamodt_2(),
        chen_aamodt_3(),
        roofline(),
        gputomo_replay(),
    };
    return rows;
}

}  // namespace gputomo::models
