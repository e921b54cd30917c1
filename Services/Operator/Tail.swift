import ArgumentParser
import FoundationEssentials
import Glibc
import HTTPRouting
import Base
import Schemas

/// `msi tail`: what happens, as it happens.
struct Tail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows messages as they change their state, edits of the cube and changes of the health, until Ctrl-C.",
        discussion: """
            The events are those of GET /events; the gateway and the token are those of `msi send`. If the stream breaks, it resumes where \
            it broke. A token without the right `read` gets no messages.
            """)

    @Flag(name: .customLong("json"), help: "Print each event as a line of JSON.")
    var printsJSON = false

    func run() async throws {
        try await Self.withGateway { gateway, _ in
            let printsJSON = printsJSON
            try await untilInterrupted {
                try await gateway.follow { event in
                    // A keep-alive.
                    guard event.name != "alive" else { return }
                    print(printsJSON ? Self.json(event) : Self.line(event))
                    fflush(nil)
                }
            }
        }
    }

    private static func json(_ event: ServerSentEvent) -> String {
        let data = (try? JSONValue(parsing: Data(event.data.utf8))) ?? .string(event.data)
        let line = try? JSONCoder.encode(["event": .string(event.name), "data": data] as JSONValue)
        return line.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private struct ChangedMessage: Decodable {
        let msiKey: ObjectID
        let state: RelayState
        let changed: UnixMilliseconds
        let title: String
        let sender: String?

        private enum CodingKeys: String, CodingKey {
            case state, changed, title, sender
            case msiKey = "msi_key"
        }
    }

    private struct ChangedCube: Decodable {
        let version: Int64
    }

    private static func line(_ event: ServerSentEvent) -> String {
        let json = Data(event.data.utf8)
        do {
            switch event.name {
            case "message":
                let message = try JSONCoder.decode(ChangedMessage.self, from: json)
                let sender = message.sender.map { ", by \($0)" } ?? ""
                return "\(message.changed.inUTC)  \(message.state.rawValue): \(message.title)  (\(message.msiKey)\(sender))"
                    .onOneLine(maxLength: 300)
            case "health": return "\(now)  health: \(try JSONCoder.decode(ProductStatus.Health.self, from: json).summary)"
            case "cube": return "\(now)  cube: version \(try JSONCoder.decode(ChangedCube.self, from: json).version)"
            case "reset": return "\(now)  events may be missing here"
            default: return "\(now)  \(event.name): \(event.data)".onOneLine(maxLength: 300)
            }
        } catch {
            return "\(now)  \(event.name), which this version cannot read: \(error)".onOneLine(maxLength: 300)
        }
    }

    private static var now: String { UnixMilliseconds.now.inUTC }
}
