// Keeps what libmongoc logs while it is loaded off standard error, where it would look like a line of the program.
//
// libmongoc is initialized by the dynamic linker, before main and in every program that is linked with it, and writes its log to
// standard error as long as no handler is set. It then warns that it is "Falling back to malloc for counters" if it cannot make
// its file in shared memory: there is no shared memory, or a killed process with the same id has left its file. The counters are
// for a tool that the product does not use, so the warning is harmless.
//
// The functions in .preinit_array of an executable are called before those of its libraries (ld.so(8)). By then the libraries are
// relocated but not initialized; setting the handler takes only a mutex.

#include "CMongoLoading.h"

#include <mongoc/mongoc.h>
#include <stddef.h>

static char line[256];

static void keep(mongoc_log_level_t level, const char *domain, const char *message, void *context) {
    (void)level, (void)domain, (void)context;
    size_t size = 0;
    for (; message[size] != '\0' && size < sizeof line - 1; size++) line[size] = message[size];
    line[size] = '\0';
}

static void set_handler(void) { mongoc_log_set_handler(keep, NULL); }

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)(void) = set_handler;

const char *msi_mongoc_loading_line(void) { return line; }
