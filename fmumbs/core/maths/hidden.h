/* hidden.h: symbols declared between these two macros stay hidden outside the library they are linked into. */
#ifndef FM_HIDDEN_H
#define FM_HIDDEN_H

#if defined(__GNUC__)
#define FM_HIDDEN_BEGIN _Pragma("GCC visibility push(hidden)")
#define FM_HIDDEN_END _Pragma("GCC visibility pop")
#else
#define FM_HIDDEN_BEGIN
#define FM_HIDDEN_END
#endif

#endif
