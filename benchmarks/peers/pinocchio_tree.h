/* pinocchio_tree.h: a peer_tree as Pinocchio's model, and what its peers have in common.
 *
 * Who includes it first, says what `evaluate` does, and defines peer_open has a peer.
 */
#ifndef PINOCCHIO_TREE_H
#define PINOCCHIO_TREE_H

#include <cstddef>
#include <cstdint>
#include <string>

#include <unsupported/Eigen/CXX11/Tensor>

/* Pinocchio's Data keeps four nv x nv x nv tensors for second derivatives, 108 GB for 500 ball joints. The
 * algorithms timed here never touch them, so they are given no storage. */
namespace Eigen
{
template <> class TensorStorage<double, DSizes<Index, 3>, 0>
{
  public:
    TensorStorage() = default;
    template <typename... Sizes> TensorStorage(const Sizes &...)
    {
    }
    void resize(Index, const array<Index, 3> &)
    {
    }
    const DSizes<Index, 3> &dimensions() const
    {
        return sizes_;
    }
    double *data()
    {
        return nullptr;
    }
    const double *data() const
    {
        return nullptr;
    }
    Index size() const
    {
        return 0;
    }

  private:
    DSizes<Index, 3> sizes_{0, 0, 0};
};
} // namespace Eigen

#include <pinocchio/multibody.hpp>

#include "peer.h"

namespace pin = pinocchio;
using Eigen::Vector3d;

/* The joints of these trees alone. They compile in a quarter of the time that Pinocchio's own collection of
 * all joints takes, and run about 10 percent faster than with it. */
template <typename S, int O> struct Joints {
    typedef S Scalar;
    enum { Options = O };
    typedef pin::JointModelRevoluteTpl<S, O, 0> JointModelRX;
    typedef pin::JointModelRevoluteTpl<S, O, 1> JointModelRY;
    typedef pin::JointModelRevoluteTpl<S, O, 2> JointModelRZ;
    typedef pin::JointModelSphericalTpl<S, O> JointModelSpherical;
    typedef boost::variant<JointModelRX, JointModelRY, JointModelRZ, JointModelSpherical> JointModelVariant;
    typedef boost::variant<pin::JointDataRevoluteTpl<S, O, 0>, pin::JointDataRevoluteTpl<S, O, 1>,
                           pin::JointDataRevoluteTpl<S, O, 2>, pin::JointDataSphericalTpl<S, O>>
        JointDataVariant;
};
typedef pin::ModelTpl<double, 0, Joints> Model;
typedef pin::DataTpl<double, 0, Joints> Data;

static pin::JointIndex add_joint(Model &model, pin::JointIndex parent, int kind, const Vector3d &hinge)
{
    const pin::SE3 place(Eigen::Matrix3d::Identity(), hinge);
    const std::string name = "joint" + std::to_string(model.njoints);
    switch (kind) {
    case PEER_REVOLUTE_X: return model.addJoint(parent, Joints<double, 0>::JointModelRX(), place, name);
    case PEER_REVOLUTE_Y: return model.addJoint(parent, Joints<double, 0>::JointModelRY(), place, name);
    case PEER_REVOLUTE_Z: return model.addJoint(parent, Joints<double, 0>::JointModelRZ(), place, name);
    default: return model.addJoint(parent, Joints<double, 0>::JointModelSpherical(), place, name);
    }
}

static Model build(const peer_tree &tree)
{
    Model model;
    model.gravity.linear() = Eigen::Map<const Vector3d>(tree.gravity);
    for (int i = 0; i < tree.bodies; ++i) {
        const auto parent = pin::JointIndex(tree.parent[i] + 1);
        const Eigen::Map<const Vector3d> hinge(tree.hinge + 3 * i), com(tree.com + 3 * i);
        const Eigen::Map<const Vector3d> moments(tree.inertia + 3 * i);
        const pin::JointIndex joint = add_joint(model, parent, tree.joint[i], hinge);
        const pin::Inertia inertia(tree.mass[i], com, Eigen::Matrix3d(moments.asDiagonal()));
        model.appendBodyToJoint(joint, inertia, pin::SE3::Identity());
    }
    return model;
}

struct peer {
    Model model;
    Data data;
    Eigen::VectorXd q, v, tau;

    explicit peer(const peer_tree &tree) : model(build(tree)), data(model), q(model.nq), v(model.nv), tau(model.nv)
    {
    }
    virtual ~peer() = default;
    virtual void evaluate(std::int64_t times) = 0;
};

extern "C" void peer_close(peer *p)
{
    delete p;
}

extern "C" void peer_set(peer *p, const double *position, const double *velocity, const double *torque)
{
    p->q = Eigen::Map<const Eigen::VectorXd>(position, p->model.nq);
    for (std::size_t j = 1; j < p->model.joints.size(); ++j)
        if (p->model.nqs[j] == 4) { /* w x y z to Pinocchio's x y z w */
            auto quaternion = p->q.segment<4>(p->model.idx_qs[j]);
            quaternion = Eigen::Vector4d(quaternion[1], quaternion[2], quaternion[3], quaternion[0]);
        }
    p->v = Eigen::Map<const Eigen::VectorXd>(velocity, p->model.nv);
    p->tau = Eigen::Map<const Eigen::VectorXd>(torque, p->model.nv);
}

extern "C" void peer_evaluate(peer *p, int64_t times)
{
    p->evaluate(times);
}

extern "C" void peer_accelerations(const peer *p, double *acceleration)
{
    Eigen::Map<Eigen::VectorXd>(acceleration, p->model.nv) = p->data.ddq;
}

#endif
