// Records a process's writes and syncs of files below one folder, so that a power cut can be simulated later: see Tests/PowerCut.
// It is loaded by LD_PRELOAD, with two variables:
//
//   WRITE_RECORDER_FOLDER   the folder, as an absolute path without symbolic links
//   WRITE_RECORDER_LOG      the log file; several processes may share it
//
// A change is recorded after the call has succeeded and before it returns. A sync is recorded before and after. It covers the
// changes that are recorded before its begin. Each record is one writev(2) to a file that is open for appending. So records of
// several threads and processes do not mix, and their order in the file is the order of events. If a process is killed during
// that call, its record is cut off, and others may follow it. So each record begins with a mark, at which a reader finds the next.
//
// stdio streams, memory maps and copy_file_range(2) are not recorded. The product uses none of them for durable data. SQLite maps
// only its -shm file, which is not needed after a power cut.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    WRITE = 1,       // inode, number = offset, data
    TRUNCATE = 2,    // inode, number = new size
    SYNC_BEGIN = 3,  // inode, number = identifies the sync
    SYNC_END = 4,    // the same
    CREATE = 5,      // inode, path
    RENAME = 6,      // path, data = new path
    LINK = 7,        // path, data = new path
    UNLINK = 8,      // path
    MAKE_FOLDER = 9, // inode, path
    REMOVE_FOLDER = 10, // path
};

#define MARK 0x8c52a1f06e3bd947

// Little-endian, followed by the path and the data.
struct header {
    uint64_t mark;
    uint32_t kind;
    uint32_t path_length;
    uint64_t inode;
    uint64_t number;
    uint64_t data_length;
};

static int log_file = -1;
static const char *folder = NULL;
static size_t folder_length = 0;
static atomic_uint_fast64_t syncs;

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("WRITE_RECORDER_LOG");
    folder = getenv("WRITE_RECORDER_FOLDER");
    if (path == NULL || folder == NULL) { return; }
    folder_length = strlen(folder);
    int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    // A high number, which does not collide with descriptors that the program expects.
    log_file = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, 100);
    syscall(SYS_close, file);
    if (log_file < 0) {
        static const char complaint[] = "the write recorder cannot open WRITE_RECORDER_LOG\n";
        syscall(SYS_write, 2, complaint, sizeof complaint - 1);
        _exit(70);
    }
    syncs = (uint64_t)getpid() << 32;
}

static int is_inside(const char *path) {
    return log_file >= 0 && strncmp(path, folder, folder_length) == 0
        && (path[folder_length] == '/' || path[folder_length] == '\0');
}

static void record(
    enum kind kind, uint64_t inode, uint64_t number, const char *path, const struct iovec *data, int pieces, size_t length
) {
    int saved = errno;
    struct header header = {MARK, kind, (uint32_t)strlen(path), inode, number, length};
    struct iovec parts[18] = {{&header, sizeof header}, {(void *)path, header.path_length}};
    int count = 2;
    size_t left = length;
    for (int index = 0; index < pieces && left > 0 && count < 18; index++) {
        parts[count] = data[index];
        if (parts[count].iov_len > left) { parts[count].iov_len = left; }
        left -= parts[count].iov_len;
        count++;
    }
    ssize_t expected = (ssize_t)(sizeof header + header.path_length + length);
    // A missing record would invalidate the simulation.
    if (left > 0 || syscall(SYS_writev, log_file, parts, count) != expected) {
        static const char complaint[] = "the write recorder cannot record\n";
        syscall(SYS_write, 2, complaint, sizeof complaint - 1);
        _exit(70);
    }
    errno = saved;
}

static void record_text(enum kind kind, uint64_t inode, const char *path, const char *text) {
    struct iovec piece = {(void *)text, strlen(text)};
    record(kind, inode, 0, path, &piece, 1, piece.iov_len);
}

/// Finds the path and the inode of an open file or folder; false if it is not inside the recorded folder.
static int find(int file, char path[PATH_MAX], uint64_t *inode) {
    if (log_file < 0 || file < 0) { return 0; }
    int saved = errno;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    struct stat state;
    int found = length > 0 && length < PATH_MAX - 1;
    if (found) {
        path[length] = '\0';
        found = is_inside(path) && fstat(file, &state) == 0 && (S_ISREG(state.st_mode) || S_ISDIR(state.st_mode));
        if (found) { *inode = state.st_ino; }
    }
    errno = saved;
    return found;
}

/// Makes a path absolute, without symbolic links; its last part need not exist. False if it is not inside the recorded folder.
static int resolve(int base, const char *given, char path[PATH_MAX]) {
    if (log_file < 0) { return 0; }
    int saved = errno;
    char parent[PATH_MAX], full[PATH_MAX];
    int length;
    if (given[0] == '/' || base == AT_FDCWD) {
        length = snprintf(full, sizeof full, "%s", given);
    } else {
        length = snprintf(full, sizeof full, "/proc/self/fd/%d/%s", base, given);
    }
    while (length > 1 && length < PATH_MAX && full[length - 1] == '/') { full[--length] = '\0'; }
    char *slash = length < PATH_MAX ? strrchr(full, '/') : NULL;
    const char *name = slash == NULL ? full : slash + 1;
    int found = length < PATH_MAX;
    if (found) {
        if (slash != NULL) { *slash = '\0'; }
        found = realpath(slash == NULL ? "." : slash == full ? "/" : full, parent) != NULL
            && snprintf(path, PATH_MAX, "%s/%s", parent, name) < PATH_MAX && is_inside(path);
    }
    errno = saved;
    return found;
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (real == NULL) { real = (__typeof__(&name))dlsym(RTLD_NEXT, #name); }

// Opening

static void opened(int file, int flags, int existed) {
    char path[PATH_MAX];
    uint64_t inode;
    if (file < 0 || !find(file, path, &inode)) { return; }
    if (!existed) {
        record_text(CREATE, inode, path, "");
    } else if (flags & O_TRUNC) {
        record(TRUNCATE, inode, 0, path, NULL, 0, 0);
    }
}

static int exists(int base, const char *path, int flags) {
    if (log_file < 0 || !(flags & O_CREAT)) { return 1; }
    int saved = errno;
    int found = faccessat(base, path, F_OK, 0) == 0;
    errno = saved;
    return found;
}

#define MODE(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list rest; \
        va_start(rest, flags); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

static int open_recorded(int base, const char *path, int flags, mode_t mode) {
    int existed = exists(base, path, flags);
    int file = syscall(SYS_openat, base, path, flags, mode);
    opened(file, flags, existed);
    return file;
}

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_recorded(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_recorded(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int base, const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_recorded(base, path, flags, mode);
}
int openat64(int base, const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_recorded(base, path, flags | O_LARGEFILE, mode);
}
int __open_2(const char *path, int flags) { return open_recorded(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_recorded(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
int creat(const char *path, mode_t mode) { return open_recorded(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

static int made_temporary(int file) {
    opened(file, 0, 0);
    return file;
}
int mkstemp(char *template) {
    REAL(mkstemp)
    return made_temporary(real(template));
}
int mkostemp(char *template, int flags) {
    REAL(mkostemp)
    return made_temporary(real(template, flags));
}

// Writing

static void written(int file, ssize_t count, int64_t offset, const struct iovec *data, int pieces) {
    char path[PATH_MAX];
    uint64_t inode;
    if (count <= 0 || !find(file, path, &inode)) { return; }
    if (offset < 0) { offset = lseek(file, 0, SEEK_CUR) - count; }
    record(WRITE, inode, (uint64_t)offset, "", data, pieces, (size_t)count);
}

ssize_t write(int file, const void *data, size_t length) {
    ssize_t count = syscall(SYS_write, file, data, length);
    struct iovec piece = {(void *)data, length};
    written(file, count, -1, &piece, 1);
    return count;
}
ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    ssize_t count = syscall(SYS_pwrite64, file, data, length, offset);
    struct iovec piece = {(void *)data, length};
    written(file, count, offset, &piece, 1);
    return count;
}
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return pwrite64(file, data, length, offset); }
ssize_t writev(int file, const struct iovec *data, int pieces) {
    ssize_t count = syscall(SYS_writev, file, data, pieces);
    written(file, count, -1, data, pieces);
    return count;
}

static int truncated(int outcome, int file, off64_t size) {
    char path[PATH_MAX];
    uint64_t inode;
    if (outcome == 0 && find(file, path, &inode)) { record(TRUNCATE, inode, (uint64_t)size, "", NULL, 0, 0); }
    return outcome;
}
int ftruncate(int file, off_t size) { return truncated(syscall(SYS_ftruncate, file, size), file, size); }
int ftruncate64(int file, off64_t size) { return truncated(syscall(SYS_ftruncate, file, size), file, size); }

// Syncing

static int sync_recorded(long call, int file) {
    char path[PATH_MAX];
    uint64_t inode;
    int is_recorded = find(file, path, &inode);
    uint64_t number = is_recorded ? atomic_fetch_add(&syncs, 1) : 0;
    if (is_recorded) { record(SYNC_BEGIN, inode, number, path, NULL, 0, 0); }
    int outcome = syscall(call, file);
    if (is_recorded && outcome == 0) { record(SYNC_END, inode, number, path, NULL, 0, 0); }
    return outcome;
}
int fsync(int file) { return sync_recorded(SYS_fsync, file); }
int fdatasync(int file) { return sync_recorded(SYS_fdatasync, file); }

// Names

static int moved(int outcome, enum kind kind, int known, const char *from, const char *to) {
    if (outcome == 0 && known) { record_text(kind, 0, from, to); }
    return outcome;
}

int renameat2(int old_base, const char *old, int new_base, const char *new, unsigned flags) {
    char from[PATH_MAX], to[PATH_MAX];
    int known = resolve(old_base, old, from) && resolve(new_base, new, to);
    return moved(syscall(SYS_renameat2, old_base, old, new_base, new, flags), RENAME, known, from, to);
}
int renameat(int old_base, const char *old, int new_base, const char *new) { return renameat2(old_base, old, new_base, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

int linkat(int old_base, const char *old, int new_base, const char *new, int flags) {
    char from[PATH_MAX], to[PATH_MAX];
    int known = resolve(old_base, old, from) && resolve(new_base, new, to);
    return moved(syscall(SYS_linkat, old_base, old, new_base, new, flags), LINK, known, from, to);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int base, const char *given, int flags) {
    char path[PATH_MAX];
    int known = resolve(base, given, path);
    int outcome = syscall(SYS_unlinkat, base, given, flags);
    if (outcome == 0 && known) { record_text(flags & AT_REMOVEDIR ? REMOVE_FOLDER : UNLINK, 0, path, ""); }
    return outcome;
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    int outcome = unlink(path);
    return outcome != 0 && errno == EISDIR ? rmdir(path) : outcome;
}

int mkdirat(int base, const char *given, mode_t mode) {
    char path[PATH_MAX];
    int known = resolve(base, given, path);
    int outcome = syscall(SYS_mkdirat, base, given, mode);
    struct stat state;
    int saved = errno;
    if (outcome == 0 && known && stat(path, &state) == 0) { record_text(MAKE_FOLDER, state.st_ino, path, ""); }
    errno = saved;
    return outcome;
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
