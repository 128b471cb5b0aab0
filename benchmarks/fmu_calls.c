/* fmu_calls.c: loads an FMU's library and makes its calls in a C loop, as a master without overhead would. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmi2FunctionTypes.h"

typedef struct fmu {
    void *library;
    fmi2Component component;
    double time;
    fmi2CallbackFunctions callbacks; /* the component may keep a pointer to them */
} fmu;

static void print_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                          fmi2String message, ...)
{
    (void)environment;
    fprintf(stderr, "%s: %s %d: %s\n", name, category, (int)status, message);
}

void fmu_free(fmu *f)
{
    if (f->component) ((fmi2FreeInstanceTYPE *)dlsym(f->library, "fmi2FreeInstance"))(f->component);
    if (f->library) dlclose(f->library);
    free(f);
}

/* Loads the library and makes one instance; NULL on failure. */
fmu *fmu_load(const char *library, const char *guid, const char *resources)
{
    fmu *f = calloc(1, sizeof *f);
    f->callbacks.logger = print_message;
    f->callbacks.allocateMemory = calloc;
    f->callbacks.freeMemory = free;
    f->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (f->library)
        f->component = ((fmi2InstantiateTYPE *)dlsym(f->library, "fmi2Instantiate"))(
            "benchmark", fmi2CoSimulation, guid, resources, &f->callbacks, fmi2False, fmi2False);
    if (f->component) return f;
    fmu_free(f);
    return NULL;
}

/* Through initialisation, to time 0. The status of the first call that fails, else 0. */
int fmu_start(fmu *f)
{
    fmi2SetupExperimentTYPE *setup = (fmi2SetupExperimentTYPE *)dlsym(f->library, "fmi2SetupExperiment");
    fmi2EnterInitializationModeTYPE *enter =
        (fmi2EnterInitializationModeTYPE *)dlsym(f->library, "fmi2EnterInitializationMode");
    fmi2ExitInitializationModeTYPE *leave =
        (fmi2ExitInitializationModeTYPE *)dlsym(f->library, "fmi2ExitInitializationMode");
    fmi2Status status = setup(f->component, fmi2False, 0, 0, fmi2False, 0);
    if (status == fmi2OK) status = enter(f->component);
    if (status == fmi2OK) status = leave(f->component);
    return (int)status;
}

/* So many communication steps [s]. The status of the first call that fails, else 0. */
int fmu_do_steps(fmu *f, double step, int count)
{
    fmi2DoStepTYPE *do_step = (fmi2DoStepTYPE *)dlsym(f->library, "fmi2DoStep");
    for (int i = 0; i < count; ++i) {
        const fmi2Status status = do_step(f->component, f->time, step, fmi2True);
        if (status != fmi2OK) return (int)status;
        f->time += step;
    }
    return 0;
}
