#ifndef MSI_CZEROMQ_SHIM_H
#define MSI_CZEROMQ_SHIM_H

#include <sys/prctl.h>
#include <zmq.h>

/// Names the calling thread as `ps` and debuggers show it; at most 15 bytes. Swift cannot call variadic functions.
static inline void msi_name_thread(const char *name) {
    prctl(PR_SET_NAME, name);
}

#endif
