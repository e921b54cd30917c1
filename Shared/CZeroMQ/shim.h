#ifndef MSI_CZEROMQ_SHIM_H
#define MSI_CZEROMQ_SHIM_H

#include <sys/eventfd.h>
#include <zmq.h>

#endif
