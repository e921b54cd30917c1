// Lets a test define a process's host names, and names for which the resolver hangs. It is loaded by LD_PRELOAD,
// with one variable:
//
//   HOSTS_FILE   lines of a name and an IPv4 address, or of a name and the word "hangs"; read for each lookup
//
// Other names are resolved as usual.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    const char *path = getenv("HOSTS_FILE");
    FILE *file = name != NULL && path != NULL ? fopen(path, "re") : NULL;
    char known[256], address[64], found[64] = "";
    while (file != NULL && fscanf(file, "%255s %63s", known, address) == 2)
        if (strcmp(known, name) == 0) strcpy(found, address);
    if (file != NULL) fclose(file);
    if (strcmp(found, "hangs") == 0) {
        sleep(60);
        return EAI_AGAIN;
    }
    return real(found[0] != '\0' ? found : name, service, hints, result);
}
