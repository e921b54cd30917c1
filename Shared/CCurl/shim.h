#ifndef MSI_CCURL_SHIM_H
#define MSI_CCURL_SHIM_H

#include <curl/curl.h>

#endif
