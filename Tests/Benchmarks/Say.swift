import Glibc

/// Prints a line and flushes it, so that a reader of a pipe sees the progress.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
