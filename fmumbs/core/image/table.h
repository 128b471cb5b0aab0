/* table.h: the single list of all sizes and arrays of an image, its header and its limits.
 *
 * The reader and its checks, the saved state, and the packer in Python (through fm_array) are all generated from it.
 * Layout of an image: header, sizes, then the arrays in this order, each padded to 8 bytes; each section begins with a
 * tag of 8 bytes.
 */
#ifndef FM_TABLE_H
#define FM_TABLE_H

#include <stdint.h>

#define FM_IMAGE_MAGIC "FMUMBS\r\n"
#define FM_IMAGE_VERSION 22u
#define FM_BYTE_ORDER 0x01020304u

/* The header of an image; `size`: of header and body [bytes], `hash`: SHA-256 of the body, `checksum`: fm_checksum of
 * it */
typedef struct fm_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order;
    uint64_t size;
    uint8_t hash[32];
    uint64_t checksum;
} fm_header;

/* Limits of an image */
#define FM_BODY_MODES 64     /* most modes of a flexible body, */
#define FM_BODY_SECONDS 64   /* and most shapes of second order */
#define FM_LARGEST_BOUND 1e299 /* larger bounds of the pieces of a force law are infinite */
#define FM_LEAST_PERIOD 1e-100 /* [s] of a path, so that quotients do not overflow */

/* Coefficients of a piece of a path (powers of time) and of a force law (powers of position times powers of velocity)
 */
#define FM_PATH_POWERS 8
#define FM_LAW_POWERS_X 6
#define FM_LAW_POWERS_V 4
#define FM_LAW_TERMS (FM_LAW_POWERS_X * FM_LAW_POWERS_V)

/* S(name, meaning): a count */
#define FM_SIZES(S)                                      \
    S(one, "one row")                                    \
    S(links, "links")   \
    S(positions, "position variables p")                 \
    S(speeds, "velocity variables u")                    \
    S(modes, "velocity variables u, then those of cut joints")   \
    S(cut_positions, "position variables of cut joints") \
    S(cut_speeds, "velocity variables of cut joints") \
    S(cut_modes, "modes of cut joints")            \
    S(joints, "joints of the model")            \
    S(coupled, "pairs of modes that springs of one joint couple") \
    S(bodies, "bodies of the model")            \
    S(points, "points")                                  \
    S(springs, "line springs")                           \
    S(ropes, "ropes")                                    \
    S(sides, "sides of ropes, from pulley to pulley")    \
    S(vias, "points and pulleys of these sides")         \
    S(pulleys, "pulleys of ropes")                       \
    S(laws, "force laws")                                \
    S(law_pieces, "pieces of force laws")                \
    S(frictions, "frictions of joints")                  \
    S(bristles, "bristle states of frictions, then own states of force elements") \
    S(controls, "inputs of actuators, and those that load or scale friction and force laws") \
    S(loads, "declared loads")                           \
    S(actuators, "actuators between points")             \
    S(motors, "motors on joints")                        \
    S(gears, "gears with play between joints")           \
    S(cylinders, "hydraulic cylinders between points")   \
    S(contacts, "contacts between bodies") \
    S(spots, "spots where contacts touch") \
    S(rolls, "spots that resist rolling and drilling") \
    S(roads, "roads")                                    \
    S(knots, "knots of the splines of roads")            \
    S(rows, "constraint rows")                           \
    S(couplings, "couplings of joint coordinates")       \
    S(terms, "coupled coordinates")             \
    S(excitations, "excited modes")                      \
    S(paths, "paths of excited modes and cams")          \
    S(pieces, "pieces of paths")                         \
    S(generals, "links of several screws")   \
    S(screws, "screws of these links")                   \
    S(velocity_rows, "velocity rows of these links") \
    S(modals, "flexible bodies")                         \
    S(shapes, "modes of flexible bodies, and shapes of second order") \
    S(shape_pairs, "pairs of shapes of one body")         \
    S(followers, "pairs of modes for each shape of second order") \
    S(frames, "frames that move with a body's modes")    \
    S(frame_shapes, "rows of frames and shapes")         \
    S(gauges, "nodes of flexible bodies whose stress is an output") \
    S(gauge_modes, "rows of these nodes and modes")      \
    S(dependent_p, "positions that follow from independent states")    \
    S(dependent_u, "velocities that follow from them")    \
    S(variables, "variables of the interface")      \
    S(characters, "bytes of text")

/* A(name, type, columns, rows, bound, lowest, unit, section): an array of shape (rows, columns), stored by rows. type:
 * i int32, d float64, b byte. bound: the size that its values index, from `lowest` on (-1 means none); `free` if they
 * are not indices. */
#define FM_IMAGE_ARRAYS(A)                                                                           \
    /* whole model: gravity in world axes; scheme, step, tolerance, equilibrium, dynamics, deformation; stop, \
     * interval, tolerance of \
     * the default experiment; loop correction: fm_correction, its tolerance relative to the         \
     * model's length, Baumgarte's alpha and beta; characteristic length */                          \
    A(gravity, d, 3, one, free, 0, "m/s2", "MODEL")                                                  \
    A(options, d, FM_OPTIONS, one, free, 0, "", "MODEL")                                                      \
    A(experiment, d, 3, one, free, 0, "s", "MODEL")                                                  \
    A(closure, d, 4, one, free, 0, "", "MODEL")                                                      \
    A(length, d, 1, one, free, 0, "m", "MODEL")                                                      \
    A(model_name, i, 1, one, characters, 0, "", "MODEL")                                             \
    A(model_text, i, 1, one, characters, 0, "", "MODEL")                                             \
    /* what it looks like, as JSON, which the core does not read (fmumbs/scene) */                   \
    A(model_scene, i, 1, one, characters, 0, "", "MODEL")                                            \
    /* links: parents before children, depth first. R: rotation from link axes to parent axes at     \
     * zero position; r: its origin in the parent's axes at zero [m] */                              \
    A(link_kind, i, 1, links, free, 0, "", "LINKS")                                                  \
    A(link_parent, i, 1, links, links, -1, "", "LINKS")                                              \
    A(link_p, i, 1, links, positions, -1, "", "LINKS")                                               \
    A(link_u, i, 1, links, speeds, -1, "", "LINKS")                                                  \
    A(link_joint, i, 1, links, joints, 0, "", "LINKS")                                               \
    A(link_sign, d, 1, links, free, 0, "", "LINKS")                                                  \
    A(link_screw, d, 6, links, free, 0, "", "LINKS")                                                 \
    A(link_general, i, 1, links, generals, -1, "", "LINKS")                                          \
    A(link_R, d, 9, links, free, 0, "", "LINKS")                                                     \
    A(link_r, d, 3, links, free, 0, "m", "LINKS")                                                    \
    /* one row per mode, in the order of the velocity variables; those of the cut joints follow */    \
    A(stiffness, d, 1, modes, free, 0, "N.m/rad|N/m", "MODES")                                      \
    A(damping, d, 1, modes,  free, 0, "N.m.s/rad|N.s/m", "MODES")                                    \
    A(rest, d, 1, modes,  free, 0, "rad|m", "MODES")                                                 \
    A(rotor_inertia, d, 1, modes,  free, 0, "kg.m2|kg", "MODES")                                     \
    A(mode_linear, i, 1, modes,  free, 0, "", "MODES")                                               \
    /* rotation [rad] or strain that a unit of the coordinate makes; 0: it is no deformation (linear_range.c) */ \
    A(mode_strain, d, 1, modes,  free, 0, "1|1/m", "MODES")                                          \
    A(start_p, d, 1, positions, free, 0, "rad|m", "MODES")                                           \
    A(start_u, d, 1, speeds, free, 0, "rad/s|m/s", "MODES")                                          \
    /* inputs at the start: applied forces; of excited modes the prescribed value */                 \
    A(start_tau, d, 1, modes, free, 0, "N.m|N", "MODES")                                             \
    /* whether the model gives the position and the velocity: fm_given */                            \
    A(given_p, i, 1, modes, free, 0, "", "MODES")                                                    \
    A(given_u, i, 1, modes, free, 0, "", "MODES")                                                    \
    /* bodies: pose of the body frame in its link, mass, centre of mass, and inertia about it (xx    \
     * yy zz xy xz yz) in body axes */                                                               \
    A(body_link, i, 1, bodies, links, 0, "", "BODIES")                                               \
    A(body_R, d, 9, bodies, free, 0, "", "BODIES")                                                   \
    A(body_r, d, 3, bodies, free, 0, "m", "BODIES")                                                  \
    A(mass, d, 1, bodies, free, 0, "kg", "BODIES")                                                   \
    A(com, d, 3, bodies, free, 0, "m", "BODIES")                                                     \
    A(inertia, d, 6, bodies, free, 0, "kg.m2", "BODIES")                                             \
    /* 1: the inertia was measured, and may break the triangle inequality (bounds.c) */              \
    A(body_measured, i, 1, bodies, free, 0, "", "BODIES")                                            \
    /* sequence of their Euler angles (fm_euler_axes), 0: none */                                    \
    A(body_euler, i, 1, bodies, free, 0, "", "BODIES")                                               \
    /* joints: kind, their links and variables, rotation of frame F in the link before the first and   \
     * of frame M in the last */                                                                       \
    A(joint_kind, i, 1, joints, free, 0, "", "JOINTS")                                               \
    A(joint_first, i, 1, joints, links, -1, "", "JOINTS")                                             \
    A(joint_last, i, 1, joints, links, -1, "", "JOINTS")                                              \
    A(joint_p, i, 1, joints, free, 0, "", "JOINTS")                                                  \
    A(joint_np, i, 1, joints, free, 0, "", "JOINTS")                                                 \
    A(joint_u, i, 1, joints, free, 0, "", "JOINTS")                                                  \
    A(joint_nu, i, 1, joints, free, 0, "", "JOINTS")                                                 \
    A(joint_F, d, 9, joints, free, 0, "", "JOINTS")                                                  \
    A(joint_M, d, 9, joints, free, 0, "", "JOINTS")                                                  \
    /* where a joint's frames are: the link of F (-1: ground) and F's origin in it, the same of M */ \
    A(joint_F_link, i, 1, joints, links, -1, "", "JOINTS")                                           \
    A(joint_F_r, d, 3, joints, free, 0, "m", "JOINTS")                                               \
    A(joint_M_link, i, 1, joints, links, -1, "", "JOINTS")                                           \
    A(joint_M_r, d, 3, joints, free, 0, "m", "JOINTS")                                               \
    /* whether its reaction components f 1 2 3, t 1 2 3 are unique: fm_uniqueness */                 \
    A(joint_unique, i, 6, joints, free, 0, "", "JOINTS")                                             \
    /* cut joints (joint_first and joint_last are -1): their modes, with joint_p and joint_u          \
     * counted on from those of the tree; each mode: kind, axis in the frame of the mode before,      \
     * rotation and translation per unit of position, position if locked; the start positions, up     \
     * to whole turns */                                                                              \
    A(joint_mode, i, 1, joints, free, 0, "", "JOINTS")                                               \
    A(joint_modes, i, 1, joints, free, 0, "", "JOINTS")                                              \
    A(cut_kind, i, 1, cut_modes, free, 0, "", "JOINTS")                                              \
    A(cut_axis, d, 3, cut_modes, free, 0, "", "JOINTS")                                              \
    A(cut_turn, d, 1, cut_modes, free, 0, "", "JOINTS")                                              \
    A(cut_slide, d, 1, cut_modes, free, 0, "m", "JOINTS")                                            \
    A(cut_value, d, 1, cut_modes, free, 0, "rad|m", "JOINTS")                                        \
    A(cut_start, d, 1, cut_positions, free, 0, "rad|m", "JOINTS")                                    \
    A(cut_start_u, d, 1, cut_speeds, free, 0, "rad/s|m/s", "JOINTS")                                 \
    /* a joint's excited modes: the first and the number; their variables follow those of the free   \
     * modes */                                                                                      \
    A(joint_excitation, i, 1, joints, free, 0, "", "JOINTS")                                         \
    A(joint_excited, i, 1, joints, free, 0, "", "JOINTS")                                            \
    /* 1: the joint is traversed from M to F, its last link is F's (reversed.c) */                   \
    A(joint_reversed, i, 1, joints, free, 0, "", "JOINTS")                                           \
    /* its index in the model's order; 1: assembly keeps its start values exactly (held_values.c) */       \
    A(joint_order, i, 1, joints, joints, 0, "", "JOINTS")                                            \
    A(joint_held, i, 1, joints, free, 0, "", "JOINTS")                                               \
    /* entries of its stiffness and damping matrices beside the diagonals: the first, the number; each: two of its \
     * modes, \
     * the stiffness and damping between them (matrix_laws.c) */                                     \
    A(joint_coupled, i, 1, joints, free, 0, "", "JOINTS")                                            \
    A(joint_couplings, i, 1, joints, free, 0, "", "JOINTS")                                          \
    /* the first of its three turns whose springs and dampers act on their rotation vector; -1: none */ \
    A(joint_bends, i, 1, joints, free, 0, "", "JOINTS")                                              \
    A(coupled_modes, i, 2, coupled, free, 0, "", "JOINTS")                                           \
    A(coupled_stiffness, d, 1, coupled, free, 0, "N.m/rad|N/m|N", "JOINTS")                          \
    A(coupled_damping, d, 1, coupled, free, 0, "N.m.s/rad|N.s/m|N.s", "JOINTS") \
    /* constraint rows of cut joints: a vector fixed in F's link, one in M's link, a length          \
     * (constraints.c) */                                                                                \
    A(row_joint, i, 1, rows, joints, 0, "", "ROWS")                                                  \
    A(row_kind, i, 1, rows, free, 0, "", "ROWS")                                                     \
    A(row_f, d, 3, rows, free, 0, "", "ROWS")                                                        \
    A(row_g, d, 3, rows, free, 0, "", "ROWS")                                                        \
    A(row_length, d, 1, rows, free, 0, "m", "ROWS")                                                  \
    /* rows that prescribe a start value of a cut joint: which velocity variable; rows of programs:    \
     * fm_row_level */                                                                               \
    A(row_part, i, 1, rows, free, 0, "", "ROWS")                                                     \
    /* rows of couplings: which coupling; couplings: their terms; terms: the link of the coordinate and its        \
     * ratio */                                                                                                    \
    A(row_coupling, i, 1, rows, couplings, -1, "", "ROWS")                                           \
    /* rows of programs: the excited mode that they follow (programs.c) */                            \
    A(row_excitation, i, 1, rows, excitations, -1, "", "ROWS")                                       \
    /* rows of f . angular velocity + g . velocity whose vectors are f + df q and g + dg q: the link with this q, and \
     * df, dg */ \
    A(row_vary, i, 1, rows, links, -1, "", "ROWS")                                                   \
    A(row_df, d, 3, rows, free, 0, "", "ROWS")                                                       \
    A(row_dg, d, 3, rows, free, 0, "", "ROWS")                                                       \
    A(coupling_first, i, 1, couplings, terms, 0, "", "ROWS")                                         \
    A(coupling_count, i, 1, couplings, free, 0, "", "ROWS")                                          \
    A(term_link, i, 1, terms, links, 0, "", "ROWS")                                                  \
    A(term_ratio, d, 1, terms, free, 0, "", "ROWS")                                                  \
    /* cams (profiles.c): the path whose value takes the coordinate's place (-1: none); of the coupling the     \
     * coordinate at which the path is that at 0, a constant beside row_length, and the path's factor */        \
    A(term_path, i, 1, terms, paths, -1, "", "ROWS")                                                 \
    A(coupling_phase, d, 1, couplings, free, 0, "rad|m", "ROWS")                                     \
    A(coupling_offset, d, 1, couplings, free, 0, "rad|m", "ROWS")                                    \
    A(coupling_scale, d, 1, couplings, free, 0, "", "ROWS")                                          \
    /* excited modes: kind (excitation.c), their variables, a path, the filter's cut-off frequency */ \
    A(excitation_kind, i, 1, excitations, free, 0, "", "MOTION")                                     \
    A(excitation_joint, i, 1, excitations, joints, 0, "", "MOTION")                                  \
    A(excitation_p, i, 1, excitations, positions, 0, "", "MOTION")                                   \
    A(excitation_u, i, 1, excitations, speeds, 0, "", "MOTION")                                      \
    A(excitation_path, i, 1, excitations, paths, -1, "", "MOTION")                                   \
    A(excitation_cutoff, d, 1, excitations, free, 0, "rad/s", "MOTION")                              \
    /* those of a program: the row that follows it, the time in which its start is faded out (0: none) */ \
    A(excitation_row, i, 1, excitations, rows, -1, "", "MOTION")                                     \
    A(excitation_transition, d, 1, excitations, free, 0, "s", "MOTION")                              \
    /* of a program realised by drives: the velocity variable of the drive in place of this coordinate's ideal force, \
     * and whether unstable internal dynamics is accepted */                                         \
    A(excitation_drive, i, 1, excitations, speeds, -1, "", "MOTION")                                 \
    A(excitation_insist, i, 1, excitations, free, 0, "", "MOTION")                                   \
    /* paths: their pieces, the period (0: none), and of a coordinate on a circle, whose angle the    \
     * polynomials give, the centre, the radius (0: none) and the angle at zero; pieces: start time, 1 \
     * if an integration step must end there, the polynomial in the time since then, lowest power first */ \
    A(path_piece, i, 1, paths, pieces, 0, "", "MOTION")                                              \
    A(path_pieces, i, 1, paths, free, 0, "", "MOTION")                                               \
    A(path_period, d, 1, paths, free, 0, "s", "MOTION")                                              \
    A(path_wave, d, 3, paths, free, 0, "m|rad", "MOTION")                                            \
    A(piece_time, d, 1, pieces, free, 0, "s", "MOTION")                                              \
    A(piece_stop, i, 1, pieces, free, 0, "", "MOTION")                                               \
    A(piece_polynomial, d, FM_PATH_POWERS, pieces, free, 0, "rad|m", "MOTION")                                    \
    /* links of several screws (general.c): the screws; as many velocity rows as free screws, the    \
     * first of which define the speeds; the number of screws before the axes that the rows refer    \
     * to; M's origin after the last screw */                                                        \
    A(general_link, i, 1, generals, links, 0, "", "MOTION")                                          \
    A(general_screw, i, 1, generals, screws, 0, "", "MOTION")                                        \
    A(general_screws, i, 1, generals, free, 0, "", "MOTION")                                         \
    A(general_row, i, 1, generals, velocity_rows, 0, "", "MOTION")                                   \
    A(general_rows, i, 1, generals, free, 0, "", "MOTION")                                           \
    A(general_speeds, i, 1, generals, free, 0, "", "MOTION")                                         \
    A(general_after, i, 1, generals, free, 0, "", "MOTION")                                          \
    A(general_tail, d, 3, generals, free, 0, "m", "MOTION")                                          \
    /* screws about and along z: rotation and origin at zero in the screw before, rotation and          \
     * translation per unit, spring and damper, 1: excited */ \
    A(screw_R, d, 9, screws, free, 0, "", "MOTION")                                                  \
    A(screw_r, d, 3, screws, free, 0, "m", "MOTION")                                                 \
    A(screw_pitch, d, 1, screws, free, 0, "", "MOTION")                                              \
    A(screw_slide, d, 1, screws, free, 0, "m", "MOTION")                                             \
    A(screw_stiffness, d, 1, screws, free, 0, "N.m/rad|N/m", "MOTION")                               \
    A(screw_damping, d, 1, screws, free, 0, "N.m.s/rad|N.s/m", "MOTION")                             \
    A(screw_rest, d, 1, screws, free, 0, "rad|m", "MOTION")                                          \
    A(screw_excited, i, 1, screws, free, 0, "", "MOTION")                                            \
    A(velocity_row, d, 6, velocity_rows, free, 0, "", "MOTION")                                      \
    /* flexible bodies (modal.c): their modes and pairs of modes; the frame that attaches the body to its parent, and \
     * that frame's origin in link axes, undeformed; of each mode the integrals of phi and r phi' over the mass, of \
     * each pair that of phi phi', in link axes; modal mass, stiffness and damping matrices */ \
    A(link_modal, i, 1, links, modals, -1, "", "MODAL")                                              \
    A(link_frame, i, 1, links, frames, -1, "", "MODAL")                                              \
    A(modal_link, i, 1, modals, links, 0, "", "MODAL")                                               \
    A(modal_shape, i, 1, modals, shapes, 0, "", "MODAL")                                             \
    A(modal_shapes, i, 1, modals, free, 0, "", "MODAL")                                              \
    /* after the modes shapes of second order: the coordinate of each is q C q / 2, C its follower matrix */ \
    A(modal_seconds, i, 1, modals, free, 0, "", "MODAL")                                             \
    A(modal_follower, i, 1, modals, followers, -1, "", "MODAL")                                       \
    A(follower, d, 1, followers, free, 0, "1/m", "MODAL")                                            \
    A(modal_pair, i, 1, modals, shape_pairs, 0, "", "MODAL")                                         \
    A(modal_r, d, 3, modals, free, 0, "m", "MODAL")                                                  \
    A(shape_first, d, 3, shapes, free, 0, "kg", "MODAL")                                             \
    A(shape_moment, d, 9, shapes, free, 0, "kg.m", "MODAL")                                          \
    /* what a mode is, for the table of modes, which the core does not read */                       \
    A(shape_kind, i, 1, shapes, characters, 0, "", "MODAL")                                          \
    A(pair_product, d, 9, shape_pairs, free, 0, "kg", "MODAL")                                       \
    A(pair_mass, d, 1, shape_pairs, free, 0, "kg", "MODAL")                                          \
    A(pair_stiffness, d, 1, shape_pairs, free, 0, "N/m", "MODAL")                                    \
    A(pair_damping, d, 1, shape_pairs, free, 0, "N.s/m", "MODAL")                                    \
    /* one row per frame and shape: translation, rotation vector in the axes of the floating frame */     \
    A(frame_link, i, 1, frames, links, 0, "", "MODAL")                                               \
    A(frame_first, i, 1, frames, frame_shapes, 0, "", "MODAL")                                       \
    A(frame_shape, d, 6, frame_shapes, free, 0, "rad/m", "MODAL")                                    \
    /* nodes where stress is an output: one row per node and mode, xx yy zz xy xz yz in the body's axes */ \
    A(gauge_modal, i, 1, gauges, modals, 0, "", "MODAL")                                             \
    A(gauge_first, i, 1, gauges, gauge_modes, 0, "", "MODAL")                                        \
    A(gauge_stress, d, 6, gauge_modes, free, 0, "Pa/m", "MODAL")                                     \
    /* points fixed to a link (-1: ground): position and axes, in link axes */                           \
    A(point_link, i, 1, points, links, -1, "", "POINTS")                                             \
    A(point_r, d, 3, points, free, 0, "m", "POINTS")                                                 \
    A(point_R, d, 9, points, free, 0, "", "POINTS")                                                  \
    A(spring_P, i, 1, springs, points, 0, "", "FORCES")                                              \
    A(spring_Q, i, 1, springs, points, 0, "", "FORCES")                                              \
    A(spring_stiffness, d, 1, springs, free, 0, "N/m", "FORCES")                                     \
    A(spring_damping, d, 1, springs, free, 0, "N.s/m", "FORCES")                                     \
    A(spring_free_length, d, 1, springs, free, 0, "m", "FORCES")                                     \
    /* ropes (rope.c): EA, damping, unstretched length, the input that is the length (-1: a parameter); their sides  \
     * and pulleys; a side: its rope, its force law, its points and pulleys in order, its share of the length */     \
    A(rope_stiffness, d, 1, ropes, free, 0, "N", "FORCES")                                           \
    A(rope_damping, d, 1, ropes, free, 0, "N.s", "FORCES")                                           \
    A(rope_length, d, 1, ropes, free, 0, "m", "FORCES")                                              \
    A(rope_winch, i, 1, ropes, controls, -1, "", "FORCES")                                           \
    A(rope_side, i, 1, ropes, sides, 0, "", "FORCES")                                                \
    A(rope_sides, i, 1, ropes, free, 0, "", "FORCES")                                                \
    A(rope_pulley, i, 1, ropes, free, 0, "", "FORCES")                                               \
    A(rope_pulleys, i, 1, ropes, free, 0, "", "FORCES")                                              \
    A(side_rope, i, 1, sides, ropes, 0, "", "FORCES")                                                \
    A(side_law, i, 1, sides, laws, 0, "", "FORCES")                                                  \
    A(side_via, i, 1, sides, vias, 0, "", "FORCES")                                                  \
    A(side_vias, i, 1, sides, free, 0, "", "FORCES")                                                 \
    A(side_share, d, 1, sides, free, 0, "", "FORCES")                                                \
    /* where a side passes: a point, of a pulley on what carries it, with z along its axis and x towards where the   \
     * side touches it at the start; the pulley (-1: none), and whether it leaves that about z (1) or against (-1) */ \
    A(via_point, i, 1, vias, points, 0, "", "FORCES")                                                \
    A(via_pulley, i, 1, vias, pulleys, -1, "", "FORCES")                                             \
    A(via_turn, d, 1, vias, free, 0, "", "FORCES")                                                   \
    /* pulleys: radius; a point of the disc; its angle's variables, and the angle at the start */     \
    A(pulley_radius, d, 1, pulleys, free, 0, "m", "FORCES")                                          \
    A(pulley_disc, i, 1, pulleys, points, 0, "", "FORCES")                                           \
    A(pulley_p, i, 1, pulleys, positions, 0, "", "FORCES")                                           \
    A(pulley_u, i, 1, pulleys, speeds, 0, "", "FORCES")                                              \
    A(pulley_angle, d, 1, pulleys, free, 0, "rad", "FORCES")                                         \
    /* force laws: on a joint's mode, on a spring or on the side of a rope (-1: not), their pieces; a piece: ranges of \
     * position and velocity, origin, and coefficients c[power of x][power of v] */                   \
    A(law_p, i, 1, laws, positions, -1, "", "FORCES")                                                \
    A(law_u, i, 1, laws, speeds, -1, "", "FORCES")                                                   \
    A(law_spring, i, 1, laws, springs, -1, "", "FORCES")                                             \
    A(law_side, i, 1, laws, sides, -1, "", "FORCES")                                                 \
    A(law_first, i, 1, laws, free, 0, "", "FORCES")                                                  \
    A(law_count, i, 1, laws, free, 0, "", "FORCES")                                                  \
    A(law_range, d, 5, law_pieces, free, 0, "rad|m", "FORCES")                                       \
    A(law_polynomial, d, FM_LAW_TERMS, law_pieces, free, 0, "N.m|N", "FORCES")                                 \
    /* their scale, the factor of the range in which they stick, and the input that scales them (-1: none) */ \
    A(law_scale, d, 1, laws, free, 0, "", "FORCES")                                                  \
    A(law_breakaway, d, 1, laws, free, 0, "", "FORCES")                                              \
    A(law_scaled, i, 1, laws, controls, -1, "", "FORCES")                                            \
    /* the gear whose teeth they are: law_p and law_u are its first coordinate, and its parameters make their pieces \
     * (gear.c) */                                                                                   \
    A(law_gear, i, 1, laws, gears, -1, "", "FORCES")                                                 \
    /* the cylinder whose valve or whose pressures they watch, without force (cylinder.c) */         \
    A(law_cylinder, i, 1, laws, cylinders, -1, "", "FORCES")                                         \
    /* the motor whose limits they watch, or what its gear loses, on its mode: its torque is their position (motor.c) \
     */                                                                                           \
    A(law_motor, i, 1, laws, motors, -1, "", "FORCES")                                               \
    /* the spot of a contact that they watch, without force (contact.c) */                           \
    A(law_spot, i, 1, laws, spots, -1, "", "FORCES")                                                 \
    /* 1: a stop at which velocities jump, and its restitution (impacts.c) */                        \
    A(law_hard, i, 1, laws, free, 0, "", "FORCES")                                                   \
    A(law_restitution, d, 1, laws, free, 0, "", "FORCES")                                            \
    /* friction of joints (friction.c): the joint, its first mode among `modes` and how many, the bristle's first   \
     * state; sliding velocity of each mode per unit of its velocity; 1: it slides in m; inputs that add to its     \
     * normal force and that scale it (-1: none); what of the joint's own reaction makes its normal force: factors  \
     * of the force across the axis, along it, and of the torque; the axis, and 1: it is fixed in M's frame, not \
     * F's */ \
    A(friction_joint, i, 1, frictions, joints, 0, "", "FORCES")                                      \
    A(friction_u, i, 1, frictions, modes, 0, "", "FORCES")                                           \
    A(friction_count, i, 1, frictions, free, 0, "", "FORCES")                                        \
    A(friction_z, i, 1, frictions, bristles, 0, "", "FORCES")                                        \
    A(friction_arm, d, 3, frictions, free, 0, "m", "FORCES")                                         \
    A(friction_linear, i, 1, frictions, free, 0, "", "FORCES")                                       \
    A(friction_pressed, i, 1, frictions, controls, -1, "", "FORCES")                                 \
    A(friction_scaled, i, 1, frictions, controls, -1, "", "FORCES")                                  \
    A(friction_own, d, 3, frictions, free, 0, "m", "FORCES")                                         \
    A(friction_axis, d, 3, frictions, free, 0, "", "FORCES")                                         \
    A(friction_on_M, i, 1, frictions, free, 0, "", "FORCES")                                         \
    A(friction_static, d, 1, frictions, free, 0, "", "FORCES")                                       \
    A(friction_kinetic, d, 1, frictions, free, 0, "", "FORCES")                                      \
    A(friction_stribeck, d, 1, frictions, free, 0, "rad/s|m/s", "FORCES")                            \
    A(friction_stiffness, d, 1, frictions, free, 0, "1/rad|1/m", "FORCES")                           \
    A(friction_damping, d, 1, frictions, free, 0, "s/rad|s/m", "FORCES")                             \
    A(friction_viscous, d, 1, frictions, free, 0, "s/rad|s/m", "FORCES")                             \
    A(friction_preload, d, 1, frictions, free, 0, "N.m|N", "FORCES")                                 \
    A(friction_scale, d, 1, frictions, free, 0, "", "FORCES")                                        \
    /* bristles: which friction (-1: an own state of a force element), their start values; inputs: their start \
     * values */                                                                                     \
    A(bristle_friction, i, 1, bristles, frictions, -1, "", "FORCES")                                  \
    A(start_z, d, 1, bristles, free, 0, "rad|m|A|Pa", "FORCES")                                           \
    A(control_start, d, 1, controls, free, 0, "", "FORCES")                                          \
    A(load_P, i, 1, loads, points, 0, "", "FORCES")                                              \
    A(load_force, d, 3, loads, free, 0, "N", "FORCES")                                               \
    A(load_torque, d, 3, loads, free, 0, "N.m", "FORCES")                                            \
    A(load_axes, i, 1, loads, free, 0, "", "FORCES") /* fm_load_axes */                              \
    /* actuators: the input that is their force */                                                   \
    A(actuator_P, i, 1, actuators, points, 0, "", "FORCES")                                          \
    A(actuator_Q, i, 1, actuators, points, 0, "", "FORCES")                                          \
    A(actuator_force, i, 1, actuators, controls, 0, "", "FORCES")                                    \
    /* motors: the joint and the velocity variable that they act on, the input that is their voltage, the current \
     * among the bristles (-1: none, without inductance); the laws that watch the limits of both, and that of what the \
     * gear loses (-1: none); what is small of the current */                 \
    A(motor_joint, i, 1, motors, joints, 0, "", "FORCES")                                            \
    A(motor_u, i, 1, motors, speeds, 0, "", "FORCES")                                                \
    A(motor_voltage, i, 1, motors, controls, 0, "", "FORCES")                                        \
    A(motor_state, i, 1, motors, bristles, -1, "", "FORCES")                                         \
    A(motor_voltage_law, i, 1, motors, laws, -1, "", "FORCES")                                       \
    A(motor_current_law, i, 1, motors, laws, -1, "", "FORCES")                                       \
    A(motor_loss_law, i, 1, motors, laws, -1, "", "FORCES")                                          \
    A(motor_nominal, d, 1, motors, free, 0, "A", "FORCES")                                           \
    A(motor_resistance, d, 1, motors, free, 0, "Ohm", "FORCES")                                      \
    A(motor_inductance, d, 1, motors, free, 0, "H", "FORCES")                                        \
    A(motor_constant, d, 1, motors, free, 0, "N.m/A", "FORCES")                                      \
    A(motor_gear, d, 1, motors, free, 0, "1|rad/m", "FORCES")                                        \
    A(motor_rotor_inertia, d, 1, motors, free, 0, "kg.m2", "FORCES")                                 \
    A(motor_voltage_limit, d, 1, motors, free, 0, "V", "FORCES")                                     \
    A(motor_current_limit, d, 1, motors, free, 0, "A", "FORCES")                                     \
    A(motor_efficiency, d, 1, motors, free, 0, "", "FORCES")                                         \
    /* gears: the law of their teeth, and their second coordinate */                                 \
    A(gear_law, i, 1, gears, laws, 0, "", "FORCES")                                                  \
    A(gear_p, i, 1, gears, positions, 0, "", "FORCES")                                               \
    A(gear_u, i, 1, gears, speeds, 0, "", "FORCES")                                                  \
    A(gear_ratio, d, 1, gears, free, 0, "", "FORCES")                                                \
    A(gear_offset, d, 1, gears, free, 0, "rad|m", "FORCES")                                          \
    A(gear_backlash, d, 1, gears, free, 0, "rad|m", "FORCES")                                        \
    A(gear_stiffness, d, 1, gears, free, 0, "N.m/rad|N/m", "FORCES")                                 \
    A(gear_damping, d, 1, gears, free, 0, "N.m.s/rad|N.s/m", "FORCES")                               \
    /* cylinders: the law of the valve (-1: none), the first of two that watch where chambers cavitate, the inputs \
     * that are the opening or else the flows, the pressures among the bristles, and what is small of these */ \
    A(cylinder_P, i, 1, cylinders, points, 0, "", "FORCES")                                          \
    A(cylinder_Q, i, 1, cylinders, points, 0, "", "FORCES")                                          \
    A(cylinder_law, i, 1, cylinders, laws, -1, "", "FORCES")                                         \
    A(cylinder_vapour_law, i, 1, cylinders, laws, 0, "", "FORCES")                                   \
    A(cylinder_opening, i, 1, cylinders, controls, -1, "", "FORCES")                                 \
    A(cylinder_flow_A, i, 1, cylinders, controls, -1, "", "FORCES")                                  \
    A(cylinder_flow_B, i, 1, cylinders, controls, -1, "", "FORCES")                                  \
    A(cylinder_state, i, 1, cylinders, bristles, 0, "", "FORCES")                                    \
    A(cylinder_nominal, d, 1, cylinders, free, 0, "Pa", "FORCES")                                    \
    A(cylinder_area_A, d, 1, cylinders, free, 0, "m2", "FORCES")                                     \
    A(cylinder_area_B, d, 1, cylinders, free, 0, "m2", "FORCES")                                     \
    A(cylinder_stroke, d, 1, cylinders, free, 0, "m", "FORCES")                                      \
    A(cylinder_closed_length, d, 1, cylinders, free, 0, "m", "FORCES")                               \
    A(cylinder_dead_volume_A, d, 1, cylinders, free, 0, "m3", "FORCES")                              \
    A(cylinder_dead_volume_B, d, 1, cylinders, free, 0, "m3", "FORCES")                              \
    A(cylinder_bulk_modulus, d, 1, cylinders, free, 0, "Pa", "FORCES")                               \
    A(cylinder_leakage, d, 1, cylinders, free, 0, "m3/s.Pa", "FORCES")                               \
    A(cylinder_vapour, d, 1, cylinders, free, 0, "Pa", "FORCES")                                     \
    A(cylinder_rated_flow, d, 1, cylinders, free, 0, "m3/s", "FORCES")                               \
    A(cylinder_rated_drop, d, 1, cylinders, free, 0, "Pa", "FORCES")                                 \
    A(cylinder_supply, d, 1, cylinders, free, 0, "Pa", "FORCES")                                     \
    A(cylinder_tank, d, 1, cylinders, free, 0, "Pa", "FORCES")                                       \
    /* contacts: their spots, how they rub, fm_rubs, the first of their bristles (-1: none) and of those against \
     * rolling and drilling (-1: none), and the numbers of their laws (contact.c, tyre.c, rolling.c) */     \
    A(contact_spot, i, 1, contacts, spots, 0, "", "FORCES")                                          \
    A(contact_spots, i, 1, contacts, free, 0, "", "FORCES")                                          \
    A(contact_rubs, i, 1, contacts, free, 0, "", "FORCES")                                           \
    A(contact_state, i, 1, contacts, bristles, -1, "", "FORCES")                                     \
    A(contact_turn, i, 1, contacts, bristles, -1, "", "FORCES")                                      \
    A(contact_stiffness, d, 1, contacts, free, 0, "", "FORCES")                                      \
    A(contact_exponent, d, 1, contacts, free, 0, "", "FORCES")                                       \
    A(contact_damping, d, 1, contacts, free, 0, "s/m", "FORCES")                                     \
    A(contact_mu, d, 1, contacts, free, 0, "", "FORCES")                                             \
    A(contact_static, d, 1, contacts, free, 0, "", "FORCES")                                         \
    A(contact_stribeck, d, 1, contacts, free, 0, "m/s", "FORCES")                                    \
    A(contact_tangential, d, 1, contacts, free, 0, "N/m", "FORCES")                                  \
    A(contact_tangential_damping, d, 1, contacts, free, 0, "N.s/m", "FORCES")                        \
    A(contact_creep, d, 1, contacts, free, 0, "m/s", "FORCES")                                       \
    A(contact_rolling, d, 1, contacts, free, 0, "m", "FORCES")                                       \
    A(contact_drilling, d, 1, contacts, free, 0, "m", "FORCES")                                      \
    A(contact_turning, d, 1, contacts, free, 0, "N.m/rad", "FORCES")                                 \
    A(contact_turning_damping, d, 1, contacts, free, 0, "N.m.s/rad", "FORCES")                       \
    A(contact_slip_stiffness, d, 2, contacts, free, 0, "N", "FORCES")                                \
    A(contact_relaxation, d, 2, contacts, free, 0, "m", "FORCES")                                    \
    /* spots: a centre and half axes of an ellipsoid on A, all zero for a point; on B a plane across z at its point, \
     * or a sphere, of a radius below 0 where A is inside; the first of its laws, its bristles (-1: none), and what is \
     * small of these */                                                                             \
    A(spot_contact, i, 1, spots, contacts, 0, "", "FORCES")                                          \
    A(spot_P, i, 1, spots, points, 0, "", "FORCES")                                                  \
    A(spot_Q, i, 1, spots, points, 0, "", "FORCES")                                                  \
    A(spot_half, d, 3, spots, free, 0, "m", "FORCES")                                                \
    A(spot_plane, i, 1, spots, free, 0, "", "FORCES")                                                \
    A(spot_reach, d, 1, spots, free, 0, "m", "FORCES")                                               \
    /* the road in place of the plane, -1: none; roads: their knots, two or more, with height and slope */ \
    A(spot_road, i, 1, spots, roads, -1, "", "FORCES")                                               \
    A(road_knot, i, 1, roads, knots, 0, "", "FORCES")                                                \
    A(road_knots, i, 1, roads, free, 0, "", "FORCES")                                                \
    A(knot_x, d, 1, knots, free, 0, "m", "FORCES")                                                   \
    A(knot_z, d, 1, knots, free, 0, "m", "FORCES")                                                   \
    A(knot_slope, d, 1, knots, free, 0, "", "FORCES")                                                \
    A(spot_law, i, 1, spots, laws, 0, "", "FORCES")                                                  \
    A(spot_state, i, 1, spots, bristles, -1, "", "FORCES")                                           \
    A(spot_nominal, d, 1, spots, free, 0, "m", "FORCES")                                             \
    /* what resists rolling at a spot (-1: nothing), and its spot, bristles, and what is small of these */ \
    A(spot_roll, i, 1, spots, rolls, -1, "", "FORCES")                                               \
    A(roll_spot, i, 1, rolls, spots, 0, "", "FORCES")                                                \
    A(roll_state, i, 1, rolls, bristles, 0, "", "FORCES")                                            \
    A(roll_nominal, d, 1, rolls, free, 0, "rad", "FORCES")                                           \
    /* states of a host that integrates: positions and velocities that follow from the others by the loops, in order; \
     * none: all are states (independent.c) */                                                       \
    A(dependent_p, i, 1, dependent_p, positions, 0, "", "STATES")                                    \
    A(dependent_u, i, 1, dependent_u, speeds, 0, "", "STATES")                                       \
    /* variables: kind, owning element, component; name -1: composed from the element's name */         \
    A(variable_kind, i, 1, variables, free, 0, "", "NAMES")                                          \
    A(variable_object, i, 1, variables, free, 0, "", "NAMES")                                        \
    A(variable_component, i, 1, variables, free, 0, "", "NAMES")                                     \
    A(variable_name, i, 1, variables, characters, -1, "", "NAMES")                                   \
    A(joint_name, i, 1, joints, characters, 0, "", "NAMES")                                          \
    A(body_name, i, 1, bodies, characters, 0, "", "NAMES")                                           \
    A(point_name, i, 1, points, characters, 0, "", "NAMES")                                          \
    A(spring_name, i, 1, springs, characters, 0, "", "NAMES")                                        \
    A(load_name, i, 1, loads, characters, 0, "", "NAMES")                                            \
    A(rope_name, i, 1, ropes, characters, 0, "", "NAMES")                                            \
    A(actuator_name, i, 1, actuators, characters, 0, "", "NAMES")                                    \
    A(motor_name, i, 1, motors, characters, 0, "", "NAMES")                                          \
    A(gear_name, i, 1, gears, characters, 0, "", "NAMES")                                            \
    A(cylinder_name, i, 1, cylinders, characters, 0, "", "NAMES")                                    \
    A(contact_name, i, 1, contacts, characters, 0, "", "NAMES")                                      \
    A(spot_name, i, 1, spots, characters, 0, "", "NAMES")                                            \
    A(roll_name, i, 1, rolls, characters, 0, "", "NAMES")                                            \
    A(law_name, i, 1, laws, characters, 0, "", "NAMES")                                              \
    A(friction_name, i, 1, frictions, characters, 0, "", "NAMES")                                    \
    A(coupling_name, i, 1, couplings, characters, 0, "", "NAMES")                                    \
    A(gauge_name, i, 1, gauges, characters, 0, "", "NAMES")                                          \
    A(text, b, 1, characters, free, 0, "", "NAMES")

/* Columns of options, closure and experiment */
typedef enum fm_option {
    FM_OPTION_SCHEME,
    FM_OPTION_STEP,
    FM_OPTION_TOLERANCE,
    FM_OPTION_EQUILIBRIUM,
    FM_OPTION_DYNAMICS,
    FM_OPTION_DEFORMATION,
    FM_OPTIONS
} fm_option;
typedef enum fm_closure {
    FM_CLOSURE_CORRECTION, /* fm_correction */
    FM_CLOSURE_TOLERANCE,  /* of the direct correction, relative to the length */
    FM_CLOSURE_ALPHA,      /* of Baumgarte's stabilisation [1/s] */
    FM_CLOSURE_BETA,
    FM_CLOSURE_COLUMNS
} fm_closure;
typedef enum fm_experiment {
    FM_EXPERIMENT_STOP,
    FM_EXPERIMENT_INTERVAL,
    FM_EXPERIMENT_TOLERANCE,
    FM_EXPERIMENT_COLUMNS
} fm_experiment;

typedef enum fm_dynamics { /* how accelerations are found */
                           FM_RICCATI, /* Riccati sweeps, and multipliers of the loops */
                           FM_COPCOD,  /* the reduced form with independent velocities (loops/reduced.c) */
                           FM_DYNAMICS_COUNT
} fm_dynamics;

/* Links: the motion between a link and its parent. Axis kinds have axes parallel to their parent's at zero. */
typedef enum fm_link_kind {
    FM_LINK_REVOLUTE_X,
    FM_LINK_REVOLUTE_Y,
    FM_LINK_REVOLUTE_Z,
    FM_LINK_REVOLUTE, /* about the link's z, any frame at zero */
    FM_LINK_PRISMATIC, /* along the link's z, any frame */
    FM_LINK_SPHERICAL, /* quaternion w x y z, any frame at zero */
    FM_LINK_SCREW, /* one-DOF screw about and along z, also with rotor inertia */
    FM_LINK_FIXED,
    FM_LINK_DRIVEN,    /* a screw whose acceleration is prescribed */
    FM_LINK_GENERAL,   /* several screws and linear relations between their velocities (general.c) */
    FM_LINK_MODAL,     /* the floating frame of a flexible body (modal.c) */
    FM_LINK_FRAME,     /* a frame that moves with the modes of its parent, a flexible body */
    FM_LINK_KINDS
} fm_link_kind;

typedef enum fm_joint_kind { /* determines which outputs a joint has */
                             FM_JOINT_WELD,
                             FM_JOINT_SCALAR,   /* one degree of freedom, or several one-DOF modes in series */
                             FM_JOINT_SPHERICAL,
                             FM_JOINT_FREE,
                             FM_JOINT_NONHOLONOMIC, /* fewer speeds than positions */
                             FM_JOINT_KINDS
} fm_joint_kind;

typedef enum fm_uniqueness {
    FM_NOT_UNIQUE,
    FM_UNIQUE,
    FM_UNIQUENESS_UNKNOWN, /* assembly failed: the loops do not close, or are singular */
    FM_UNIQUENESSES
} fm_uniqueness;

typedef enum fm_load_axes {
    FM_WORLD_AXES,
    FM_POINT_AXES, /* a load turns with its point */
    FM_LOAD_AXES
} fm_load_axes;

typedef enum fm_rubs { /* friction of a contact */
                       FM_RUBS_NOT,
                       FM_RUBS_BY_BRISTLES,
                       FM_RUBS_SMOOTHLY,
                       FM_RUBS_AS_TYRE,
                       FM_RUBS_KINDS
} fm_rubs;

typedef enum fm_spot_law { /* what watches a spot, in order: the first two any, the third bristles, the others turning
                            */
                           FM_SPOT_TOUCHES,
                           FM_SPOT_RELEASED,
                           FM_SPOT_SLIPS,
                           FM_SPOT_ROLLS,
                           FM_SPOT_DRILLS,
                           FM_SPOT_LAWS
} fm_spot_law;

typedef enum fm_given { /* origin of a start value in the model */
                        FM_NOT_GIVEN,     /* a default */
                        FM_GIVEN,         /* given, but assembly may change it: a guess */
                        FM_GIVEN_AND_HOLDS, /* given, and assembly kept it when the image was compiled */
                        FM_GIVEN_KINDS
} fm_given;

typedef enum fm_cut_kind { /* modes of cut joints */
                           FM_CUT_SCREW,
                           FM_CUT_BALL,
                           FM_CUT_LOCKED,
                           FM_CUT_KINDS
} fm_cut_kind;

typedef enum fm_excitation_kind {
    FM_EXCITED_BY_ACCELERATION,
    FM_EXCITED_BY_POSITION,
    FM_EXCITED_BY_PATH,
    FM_EXCITATION_KINDS
} fm_excitation_kind;

typedef enum fm_correction { /* how drift off the constraints is corrected after a step */
                             FM_CORRECT_DIRECTLY, /* positions, then velocities (correct.c) */
                             FM_CORRECT_BAUMGARTE, /* c'' + 2 alpha c' + beta^2 c = 0 in place of c'' = 0 */
                             FM_CORRECT_NEVER
} fm_correction;

/* The most iterations of what a step iterates, with which real time counts (fmumbs/export/realtime.py). */
typedef enum fm_most {
    FM_MOST_CORRECTIONS = 25, /* Newton steps of a correction of a level, and again if velocities then do not fit */
    FM_MOST_NORMAL_STEPS = 60, /* Newton steps for own normal forces */
    FM_MOST_HALVINGS = 30, /* of one of these */
    FM_MOST_SEARCHES =
        30, /* Newton steps for a cut joint's coordinates: 4 reach any rotation, 16 reduce what is left */
    FM_MOST_STUCK = 5, /* evaluations in place of one while one law sticks: without it and with it, both without
                        * multipliers as well, and with its force (motion/sticking.c) */
    FM_MOST_CHOICE =
        7, /* evaluations for whether it does: those four, two of an impulse, one of the side it leaves to */
    FM_MOST_STRUCK =
        10, /* more, of a stop with a restitution: four, and three in each of two turns (motion/impacts.c) */
    FM_MOST_WIDTHS = 6, /* distances of the nodes of an interpolation across a singular position */
    FM_NODES = 12 /* these nodes */
} fm_most;

/* Where the motion starts, by solver.equilibrium: at the start values, or in the equilibrium near them, where drives
 * hold their programs, or without these. */
typedef enum fm_start_at { FM_START_GIVEN, FM_START_HELD, FM_START_RELEASED } fm_start_at;

typedef enum fm_row_level {
    FM_OF_POSITION,
    FM_OF_VELOCITY,
    FM_OF_ACCELERATION,
    FM_OF_LOCK,
    FM_ROW_LEVELS
} fm_row_level;

typedef enum fm_row_kind {
    FM_ROW_ALONG,         /* f . p_FM = length; p_FM: from F's origin to M's; f fixed in F's link, g in M's */
    FM_ROW_PERPENDICULAR, /* f . g = length */
    FM_ROW_DISTANCE,      /* |p_FM| = length */
    FM_ROW_GIVEN,         /* a prescribed start value of a cut joint, used by assembly only */
    FM_ROW_COUPLED,       /* sum of ratio q over several coordinates of joints = length; of a cam profiles.c */
    FM_ROW_ALONG_M,       /* g . p_FM = length */
    FM_ROW_SCREW,         /* f . p_FM = length times the angle about f */
    FM_ROW_MODES, /* along one of the directions that the joint's modes leave out; f: reference (mode_rows.c) */
    FM_ROW_MODES_M, /* the same with the reference g */
    /* of velocities and accelerations (velocity_rows.c) */
    FM_ROW_SPEED, /* f . velocity of M's origin in F */
    FM_ROW_SPEED_M, /* g . velocity of M's origin in F */
    FM_ROW_SPIN, /* f . angular velocity of M in F */
    FM_ROW_SPIN_M, /* g . angular velocity of M in F */
    FM_ROW_TWIST, /* f . angular velocity of M in F + g . velocity of M's origin in F, f and g fixed in F's link */
    FM_ROW_TWIST_M, /* the same with f and g fixed in M's link */
    FM_ROW_ROLLING, /* f . velocity in F of the point of M's rim that is lowest along F's z */
    FM_ROW_CONTACT, /* this point is in the plane of F's x and y; radius: length, g: axis of the disc; or a ball of
                       -length */
    FM_ROW_KINDS
} fm_row_kind;

#endif
