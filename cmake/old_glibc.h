/* old_glibc.h: included before every file of the core on Linux.
 *
 * Newer C libraries carry some functions of <math.h> twice, and the linker takes the newer one, which an older
 * host does not have. These lines ask for the older one, so that an FMU made here loads there.
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
