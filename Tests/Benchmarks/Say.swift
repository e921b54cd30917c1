import Glibc

/// Prints a line at once, also into a pipe, so that whoever reads along sees how far it is.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
