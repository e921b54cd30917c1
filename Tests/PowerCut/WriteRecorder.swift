import Glibc

/// The write recorder, as a service is told of it.
package struct WriteRecorder: Sendable {
    private let folder: String
    private let log: String

    /// - Parameters:
    ///   - folder: What to record the changes of: an absolute path without symbolic links.
    ///   - log: Where to record them, outside of that folder; several processes may share it.
    package init(folder: String, log: String) {
        self.folder = folder
        self.log = log
    }

    /// The variables of a process that is to be recorded.
    ///
    /// - Parameter executables: The folder that the build puts all products in.
    package func variables(executables: String) -> [String: String] {
        [
            "LD_PRELOAD": executables + "/libWriteRecorder.so", "WRITE_RECORDER_FOLDER": folder,
            "WRITE_RECORDER_LOG": log,
        ]
    }

    /// How long the log is now, in bytes: a moment of ``WriteLog/moments``.
    package var logLength: Int {
        var state = stat()
        return stat(log, &state) == 0 ? Int(state.st_size) : 0
    }
}
