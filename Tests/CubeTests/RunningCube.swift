import Bus
import Base
import Schemas
import TestSupport
import Testing

/// The cube service as a process, and a client of it.
struct RunningCube {
    let process: ServiceProcess
    let bus: Bus
    let client: CommandClient
    private let folder: String

    /// Runs a test with a new cube, or with the one in a folder.
    static func with<Result>(
        in folder: String? = nil, isolation: isolated (any Actor)? = #isolation, _ body: (RunningCube) async throws -> Result
    ) async throws -> Result {
        guard let folder else { return try await withTemporaryFolder { try await with(in: $0, body) } }
        return try await withService("msi-cube", in: folder) { process in
            try await withBus { bus in
                let client = try CommandClient(bus: bus, endpoints: [endpoint(in: folder)], logger: quietLogger)
                return try await body(RunningCube(process: process, bus: bus, client: client, folder: folder))
            }
        }
    }

    var endpoint: String { Self.endpoint(in: folder) }

    private static func endpoint(in folder: String) -> String { "ipc://\(folder)/run/cube.sock" }

    /// Subscribes to announcements. The subscription works once the first one has come.
    func listen() async throws -> AsyncStream<CubeVersion> {
        let subscriber = try EventSubscriber(
            bus: bus, endpoints: ["ipc://\(folder)/run/cube-events.sock"], names: [CubeChanged.name], logger: quietLogger)
        let (versions, continuation) = AsyncStream<CubeVersion>.makeStream()
        Task {
            for await event in subscriber.events {
                guard case .event(_, let payload, _) = event else { continue }
                do {
                    continuation.yield(try JSONCoder.decode(CubeChanged.self, from: payload).version)
                } catch {
                    Issue.record("an announcement that is none: \(error)")
                }
            }
            continuation.finish()
        }
        for await _ in versions { break }
        return versions
    }

    func snapshot() async throws -> CubeSnapshot {
        let reply = try await client.request(ReadCube())
        return CubeSnapshot(version: reply.version, channels: try #require(reply.channels))
    }

    /// A channel with an area with a subject.
    func build() async throws -> (channel: Channel, area: Area, subject: Subject) {
        let channel = try await client.request(AddChannel(channel: NamedDraft(name: "Campus", desc: "All of it"))).value
        let area = try await client.request(
            AddArea(channelID: channel.id, area: NamedDraft(name: "Library", desc: "Hours"))
        ).value
        let subject = try await client.request(AddSubject(channelID: channel.id, areaID: area.id, subject: .closures)).value
        return (channel, area, subject)
    }
}

extension SubjectDraft {
    static let closures = SubjectDraft(
        name: "Closures", desc: "\"Quotes\", 🎓, مكتبة", opt: SubjectOptions(level: .forced, distribution: .alert))
}
