import ArgumentParser
import FoundationEssentials
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
            Everyone may read it. The broadcast service is that of MSI_BROADCAST_ENDPOINTS; by default the one of MSI_STATE_DIR on this \
            machine.

            A file that exists is replaced only with --replace, and only when the new one is complete. A device or a pipe, such as \
            /dev/stdout, is written to.

            Exit status: 1 if the service refuses the command, 65 if the file exists or cannot be written, 75 if the broadcast service does \
            not answer, 78 if a setting is wrong.
            """)

    static var service: ServiceEntry { .broadcast }

    @Argument(help: ArgumentHelp("The file to write; - for standard output.", valueName: "file"))
    var file: String

    @Flag(help: "Replace the file if it exists.")
    var replace = false

    func run(_ client: ServiceClient, _ settings: SettingValues) async throws -> String {
        guard replace || !OutputFile.exists(file) else {
            throw InputFailure(description: "\(file) exists already; --replace replaces it")
        }
        let active = ActiveBroadcasts(try await client.request(ReadCurrentBroadcasts()))
        let text = String(decoding: try JSONCoder.encode(active), as: UTF8.self)
        guard file != "-" else { return text }
        try OutputFile.write(text, to: file, isPublic: true)
        return "\(file): \(active.broadcasts.count) broadcasts, \(active.withdrawn.count) that are over"
    }
}
