import ArgumentParser
import DurableFiles
import FoundationEssentials
import Glibc
import JSON
import Schemas
import ServiceKit

/// `msi broadcast`: broadcasts for the time while the hub is away.
struct BroadcastCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broadcast", abstract: "Writes the active broadcasts to a file, or sends one while the hub is down.",
        subcommands: [ExportBroadcasts.self, SendBroadcast.self])
}

/// `msi broadcast export`.
struct ExportBroadcasts: ServiceCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the active broadcasts for a server that phones ask while the hub is away.",
        discussion: """
            The file is as MSI_BROADCAST_FILE keeps it: JSON like the answer of GET /broadcast/active, for the phones of every channel. \
            Broadcasts that have not begun are left out: export again when they begin. Everyone may read it. The broadcast service is that of \
            MSI_BROADCAST_ENDPOINTS; by default the one of MSI_STATE_DIR on this machine.

            A file that exists is replaced only with --replace, and only when the new one is complete. A link is replaced by a file. A \
            pipe, or a path in /dev, is written to. /dev/stdout is standard output, as - is. Run it as the user that the file's folder \
            belongs to.

            Exit status: 1 if the service refuses the command, 65 if the file exists or cannot be written, 75 if the broadcast service does \
            not answer, 78 if a setting is wrong.
            """)

    static var service: ServiceEntry { .broadcast }

    @Argument(help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var file: String

    @Flag(help: "Replace the file if it exists.")
    var replace = false

    func run(_ client: ServiceClient, _ settings: SettingValues) async throws -> String {
        guard replace || !Self.exists(file) else {
            throw InputFailure(description: "\(file) exists already; --replace replaces it")
        }
        let active = try await client.request(ReadCurrentBroadcasts()).active(at: .now)
        let text = String(decoding: try JSONCoder.encode(active), as: UTF8.self) + "\n"
        guard file != "-", file != "/dev/stdout" else {
            try OutputFile.write(text, to: "-")
            return ""
        }
        if Self.isWrittenTo(file) {
            try OutputFile.write(text, to: file)
        } else {
            do throws(DurableFileFailure) {
                DurableFiles.removeOldDrafts(of: file)
                try DurableFiles.replace(file, text, isPublic: true)
            } catch {
                throw InputFailure(description: "\(error)")
            }
        }
        return Self.summary(of: active, in: file)
    }

    static func summary(of active: ActiveBroadcasts, in file: String) -> String {
        let count = active.broadcasts.count
        return "\(file): \(count) active broadcast\(count == 1 ? "" : "s"), \(active.withdrawn.count) withdrawn or over"
    }

    /// Whether there is a file, or a link, that would be replaced.
    static func exists(_ file: String) -> Bool {
        var status = stat()
        return file != "-" && lstat(file, &status) == 0 && !isWrittenTo(file)
    }

    /// Whether the document is written into it, as into a pipe. A link of a common folder may be a stranger's, so none is followed but those
    /// of /dev.
    static func isWrittenTo(_ file: String) -> Bool {
        if file.hasPrefix("/dev/") { return true }
        var status = stat()
        guard lstat(file, &status) == 0 else { return false }
        return ![S_IFREG, S_IFLNK, S_IFDIR].contains(status.st_mode & S_IFMT)
    }
}
