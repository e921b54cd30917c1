/// Why a backup could not be written, read or restored.
struct BackupFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
