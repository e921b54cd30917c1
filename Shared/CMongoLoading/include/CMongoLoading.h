#ifndef MSI_CMONGOLOADING_H
#define MSI_CMONGOLOADING_H

/// The last line that libmongoc has logged before a log handler was set; empty if there was none.
const char *msi_mongoc_loading_line(void);

#endif
