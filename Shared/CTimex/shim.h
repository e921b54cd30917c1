#ifndef MSI_CTIMEX_SHIM_H
#define MSI_CTIMEX_SHIM_H

// Swift's module of glibc lacks this header.
#include <sys/timex.h>

#endif
