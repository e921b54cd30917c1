#ifndef MSI_CMONGOC_SHIM_H
#define MSI_CMONGOC_SHIM_H

#include <mongoc/mongoc.h>
#include <stdalign.h>
#include <stdlib.h>

// Debian's bson_t is aligned to 128 bytes. Swift has no values of such a type, and imports a pointer to it as an OpaquePointer.

/// Memory for the reply that a function of libmongoc fills in. bson_new() does not work here: such a function makes the memory an
/// empty document on the stack, and bson_destroy() does not free that.
static inline bson_t *cmongoc_reply_new(void) {
    bson_t *reply = (bson_t *) aligned_alloc(alignof(bson_t), sizeof(bson_t));
    if (!reply) abort();
    bson_init(reply);
    return reply;
}

static inline void cmongoc_reply_destroy(bson_t *reply) {
    bson_destroy(reply);
    free(reply);
}

static inline uint32_t cmongoc_length(const bson_t *document) {
    return document->len;
}

/// Swift would see the message as a tuple of 504 characters.
static inline const char *cmongoc_error_message(const bson_error_t *error) {
    return error->message;
}

/// Swift would see it as a tuple.
static inline const char *cmongoc_host_and_port(const mongoc_host_list_t *host) {
    return host->host_and_port;
}

#endif
