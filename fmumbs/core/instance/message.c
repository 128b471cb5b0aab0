/* message.c: the last message of an instance, a complete sentence. */
#include "message.h"
#include "../maths/text.h"

#include "instance.h"

#include <stdarg.h>

fm_status fm_say(fm_instance *s, fm_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fm_vprint(s->message, sizeof s->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *fm_message(const fm_instance *s)
{
    return s->message;
}

/* Refuses an instance that is not assembled. */
fm_status fm_check_assembled(fm_instance *s)
{
    if (s->clock[FM_ASSEMBLED] != 0.0) return FM_OK;
    return fm_say(s, FM_ERROR, "the instance is not assembled: assemble first");
}
