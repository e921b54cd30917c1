import FoundationEssentials

/// The host names that a process can resolve, set by a test through the library in `Tests/HostsFile`.
package struct HostNames: Sendable {
    private let path: String

    /// - Parameter path: The path of a new file.
    package init(path: String) {
        self.path = path
    }

    /// Sets the names' IPv4 addresses; `nil` for a lookup that takes a minute and then fails.
    package func set(_ addresses: [String: String?]) throws {
        let lines = addresses.map { "\($0) \($1 ?? "hangs")\n" }.sorted()
        try Data(lines.joined().utf8).write(to: URL(filePath: path), options: .atomic)
    }

    /// The environment of a process that uses these names.
    package var environment: [String: String] {
        let library = ServiceProcess.executables.appending(path: "libHostsFile.so").path(percentEncoded: false)
        return ["LD_PRELOAD": library, "HOSTS_FILE": path]
    }
}
