#ifndef MSI_CCURL_SHIM_H
#define MSI_CCURL_SHIM_H

#include <curl/curl.h>
// For malloc_trim, which returns the memory of closed handles to the system. Swift's own module of glibc lacks it.
#include <malloc.h>

// Swift cannot call variadic functions, nor the macros that check their arguments. Each function below passes one kind of
// argument on.

typedef size_t (*ccurl_write_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_socket_callback)(void *context, curl_socket_t socket, curlsocktype purpose);
typedef curl_socket_t (*ccurl_open_socket_callback)(void *context, curlsocktype purpose, struct curl_sockaddr *address);
typedef int (*ccurl_request_callback)(void *context, char *peer, char *local, int peer_port, int local_port);

static inline CURLcode ccurl_easy_setopt_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_write_callback(CURL *handle, CURLoption option, ccurl_write_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_socket_callback(CURL *handle, CURLoption option, ccurl_socket_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_open_socket_callback(
    CURL *handle, CURLoption option, ccurl_open_socket_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_setopt_request_callback(CURL *handle, CURLoption option, ccurl_request_callback value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_easy_getinfo_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode ccurl_easy_getinfo_pointer(CURL *handle, CURLINFO info, void **value) {
    return curl_easy_getinfo(handle, info, (char **)value);
}

static inline CURLMcode ccurl_multi_setopt_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

#endif
