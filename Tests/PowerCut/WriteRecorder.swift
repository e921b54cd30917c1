import Glibc

/// The environment that loads the write recorder into a service.
package struct WriteRecorder: Sendable {
    private let folder: String
    private let log: String

    /// - Parameters:
    ///   - folder: The recorded folder, an absolute path without symbolic links.
    ///   - log: The log file, outside of that folder. Several processes may share it.
    package init(folder: String, log: String) {
        self.folder = folder
        self.log = log
    }

    /// The environment of a recorded process.
    ///
    /// - Parameter executables: The folder of the built products.
    package func variables(executables: String) -> [String: String] {
        [
            "LD_PRELOAD": executables + "/libWriteRecorder.so", "WRITE_RECORDER_FOLDER": folder,
            "WRITE_RECORDER_LOG": log,
        ]
    }

    /// The log's current length in bytes: one of ``WriteLog/cutPoints``, unless a record is cut off.
    package var logLength: Int {
        var state = stat()
        return stat(log, &state) == 0 ? Int(state.st_size) : 0
    }
}
