#ifndef MSI_CZLIB_SHIM_H
#define MSI_CZLIB_SHIM_H

#include <zlib.h>

// Swift cannot call deflateInit2, which is a macro.

/// Prepares a stream that makes the gzip format (RFC 1952).
static inline int czlib_begin_gzip(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
}

#endif
