// Makes looking up one host name hang, as it does where no name server answers: loaded into a process by LD_PRELOAD, it takes the
// place of getaddrinfo. The name is in HANGING_RESOLVER_NAME, and stands for 127.0.0.1; looking it up hangs for as long as the file
// HANGING_RESOLVER_FILE exists.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    const char *hanging = getenv("HANGING_RESOLVER_NAME"), *file = getenv("HANGING_RESOLVER_FILE");
    if (name && hanging && file && strcmp(name, hanging) == 0) {
        while (access(file, F_OK) == 0) usleep(20000);
        name = "127.0.0.1";
    }
    lookup *next = (lookup *)dlsym(RTLD_NEXT, "getaddrinfo");
    return next ? next(name, service, hints, result) : EAI_SYSTEM;
}
