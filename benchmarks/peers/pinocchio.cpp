/* pinocchio.cpp: Pinocchio's articulated body algorithm as a peer. Variant 0: WORLD, 1: LOCAL convention. */
#include "pinocchio_tree.h"

#include <pinocchio/algorithm/aba.hpp>

namespace {
struct Aba : peer {
    pin::Convention convention;

    Aba(const peer_tree &tree, pin::Convention c) : peer(tree), convention(c) {}
    void evaluate(std::int64_t times) override {
        for (std::int64_t i = 0; i < times; ++i)
            pin::aba(model, data, q, v, tau, convention);
    }
};
} // namespace

extern "C" peer *peer_open(const peer_tree *tree, int32_t variant) {
    return new Aba(*tree, variant == 0 ? pin::Convention::WORLD : pin::Convention::LOCAL);
}
