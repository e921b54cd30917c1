import Glibc
import TestSupport

/// A wall clock that can be set for several processes at once.
///
/// It does not use libfaketime, which also shifts timers of monotonic clocks: a timer that started while the clock was an hour
/// behind came an hour late.
struct SetClock: Sendable {
    /// Eight bytes with the clock's offset in seconds. The processes map the file into memory.
    private let file: String

    init(file: String) throws {
        self.file = file
        try set(ahead: 0)
    }

    /// A process's environment, in addition to the library of ``source``.
    var variables: [String: String] { ["CHAOS_CLOCK": file] }

    /// - Parameter seconds: How far the clock is ahead from now on. Negative means behind.
    func set(ahead seconds: Int64) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw TooLate("\(file) cannot be opened: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        let isWritten = withUnsafeBytes(of: seconds) { pwrite(descriptor, $0.baseAddress, $0.count, 0) == $0.count }
        guard isWritten else { throw TooLate("\(file) cannot be written: \(String(cString: strerror(errno)))") }
    }

    /// C source for ``PreloadedLibrary``.
    static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <fcntl.h>
        #include <pthread.h>
        #include <semaphore.h>
        #include <stdint.h>
        #include <stdlib.h>
        #include <sys/mman.h>
        #include <sys/syscall.h>
        #include <sys/time.h>
        #include <time.h>
        #include <unistd.h>

        static const volatile int64_t *seconds_ahead;

        __attribute__((constructor)) static void start(void) {
            const char *path = getenv("CHAOS_CLOCK");
            int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
            if (file < 0) return;
            void *page = mmap(NULL, sizeof *seconds_ahead, PROT_READ, MAP_SHARED, file, 0);
            close(file);
            if (page != MAP_FAILED) seconds_ahead = page;
        }

        static int64_t ahead(void) { return seconds_ahead == NULL ? 0 : *seconds_ahead; }

        int clock_gettime(clockid_t clock, struct timespec *time) {
            int outcome = syscall(SYS_clock_gettime, clock, time);
            if (outcome == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += ahead();
            return outcome;
        }

        int gettimeofday(struct timeval *time, void *zone) {
            int outcome = syscall(SYS_gettimeofday, time, zone);
            if (outcome == 0 && time != NULL) time->tv_sec += ahead();
            return outcome;
        }

        time_t time(time_t *result) {
            struct timespec now;
            clock_gettime(CLOCK_REALTIME, &now);
            if (result != NULL) *result = now.tv_sec;
            return now.tv_sec;
        }

        /* The deadline of a wait as the kernel's clock shows it. libmongoc's threads wait so. Otherwise each wait that begins while
           the clock is an hour ahead would take an hour. */
        static struct timespec real(const struct timespec *deadline) {
            struct timespec time = *deadline;
            time.tv_sec -= ahead();
            return time;
        }

        int sem_timedwait(sem_t *semaphore, const struct timespec *deadline) {
            struct timespec time = real(deadline);
            return sem_clockwait(semaphore, CLOCK_REALTIME, &time);
        }

        int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
            /* A condition whose clock is monotonic has deadlines since the machine's start: less than thirty years. */
            if (deadline->tv_sec < 1000000000) return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, deadline);
            struct timespec time = real(deadline);
            return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &time);
        }
        """
}
