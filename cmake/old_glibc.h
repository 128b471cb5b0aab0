/* old_glibc.h: included before every file of the core on Linux.
 *
 * Newer C libraries contain two versions of some functions of <math.h>, and the linker selects the newer one, which
 * older hosts do not have. These lines select the older version, so that an FMU built here can be loaded there.
 */
#if defined(__GLIBC__) || defined(__linux__)
#if defined(__x86_64__)
#define FM_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.2.5")
#elif defined(__aarch64__)
#define FM_OLD(name) __asm__(".symver " #name "," #name "@GLIBC_2.17")
#endif
#ifdef FM_OLD
FM_OLD(exp);
FM_OLD(exp2);
FM_OLD(fmod);
FM_OLD(log);
FM_OLD(log2);
FM_OLD(pow);
#undef FM_OLD
#endif
#endif
