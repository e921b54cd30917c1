import FoundationEssentials
import Glibc
import TestSupport

/// A server of the peers. It runs for a benchmark only, with its files in a separate folder. It does not run as root, which PostgreSQL refuses.
struct PeerServer {
    /// The signal that ends it.
    enum End: String {
        /// PostgreSQL closes its connections and its files.
        case interrupt = "INT"
        case kill = "KILL"
    }

    /// Debian's `nobody` and `nogroup`.
    private static let user: UInt32 = 65_534

    let process: ChildProcess

    /// Starts it.
    ///
    /// - Parameters:
    ///   - command: The executable's path and its arguments.
    ///   - tracer: The tracer of its system calls, if they are counted.
    ///   - folder: A folder from ``makeFolder(_:)``.
    init(
        _ command: [String], environment: [String: String] = [:], end: End, tracer: SyncLog? = nil, in folder: String
    ) async throws {
        // The shell waits for the end of its standard input, so the server also ends with this process. If the shell is killed, the
        // server is, too.
        let script = #"cd "$0"; "$@" & server=$!; read -r _; kill -\#(end.rawValue) "$server"; wait "$server""#
        let variables = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "HOME": folder]
        process = try await ChildProcess(
            URL(filePath: "/bin/sh"),
            ["-c", script, folder] + (tracer?.command ?? []) + Self.setpriv + ["--pdeathsig", "KILL"] + command,
            environment: variables.merging(environment) { $1 },
            logFile: "\(folder)/\(UInt32.random(in: 0...UInt32.max)).log")
    }

    /// The processor time of all its processes so far, in seconds.
    var processorTime: Double { ProcessTree.processorTime(of: process.identifier) }

    /// Ends it.
    func stop() async throws {
        try process.endInput()
        _ = await process.end()
    }

    /// Makes a new folder that belongs to the servers' user.
    static func makeFolder(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        guard geteuid() != 0 || chown(path, user, user) == 0 else {
            throw PeerFailure(description: "\(path) cannot get another owner")
        }
    }

    /// Runs a command as the servers' user in a folder, and waits for its end.
    static func run(_ command: [String], in folder: String) async throws {
        let script = #"cd "$0" && exec "$@""#
        _ = try await Peer(path: "/bin/sh").output(["-c", script, folder] + setpriv + command)
    }

    /// Starts a command as the servers' user, if this is root.
    private static var setpriv: [String] {
        ["/usr/bin/setpriv"] + (geteuid() == 0 ? ["--reuid=\(user)", "--regid=\(user)", "--clear-groups"] : [])
    }
}
