/* pinocchio_loops.cpp: Pinocchio's forward dynamics of closed loops as peers. Variant 0: constraintDynamics, 1: lcaba.
 *
 * Both are proximal algorithms: they repeat until what is left of the constraints is below ACCURACY. A pin is three
 * rows, of which one is redundant in a plane; the weight MU is what both need against that.
 */
#include <vector>

#include "pinocchio_tree.h"

#include <pinocchio/constraints.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

namespace {
using Constraint = pin::RigidConstraintModelTpl<double, 0>;
using ConstraintData = pin::RigidConstraintDataTpl<double, 0>;
using Settings = pin::ProximalSettingsTpl<double>;

constexpr double ACCURACY = 1e-12;
constexpr int MOST_ITERATIONS = 20;

struct Closed : peer {
    std::vector<Constraint> constraints;
    std::vector<ConstraintData> constraint_data;

    explicit Closed(const peer_tree &tree) : peer(tree) {
        for (int i = 0; i < tree.loops; ++i) {
            const auto joint = [&](int side) { return pin::JointIndex(tree.closing[2 * i + side] + 1); };
            const auto place = [&](int side) {
                const Eigen::Map<const Vector3d> point(tree.point + 6 * i + 3 * side);
                return pin::SE3(Eigen::Matrix3d::Identity(), point);
            };
            constraints.emplace_back(pin::CONTACT_3D, model, joint(0), place(0), joint(1), place(1), pin::LOCAL);
        }
        for (const Constraint &constraint : constraints)
            constraint_data.emplace_back(constraint);
    }
};

struct ConstraintDynamics : Closed {
    static constexpr double MU = 1e-8;

    explicit ConstraintDynamics(const peer_tree &tree) : Closed(tree) {
        pin::initConstraintDynamics(model, data, constraints, constraint_data);
    }
    void evaluate(std::int64_t times) override {
        for (std::int64_t i = 0; i < times; ++i) {
            Settings settings(ACCURACY, MU, MOST_ITERATIONS);
            pin::constraintDynamics(model, data, q, v, tau, constraints, constraint_data, settings);
        }
    }
};

struct Lcaba : Closed {
    static constexpr double MU = 1e-6;

    explicit Lcaba(const peer_tree &tree) : Closed(tree) {
        pin::computeJointMinimalOrdering(model, data, constraints);
    }
    void evaluate(std::int64_t times) override {
        for (std::int64_t i = 0; i < times; ++i) {
            Settings settings(ACCURACY, MU, MOST_ITERATIONS);
            pin::lcaba(model, data, q, v, tau, constraints, constraint_data, settings);
        }
    }
};
} // namespace

extern "C" peer *peer_open(const peer_tree *tree, int32_t variant) {
    if (variant == 0)
        return new ConstraintDynamics(*tree);
    return new Lcaba(*tree);
}
