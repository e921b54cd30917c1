import ArgumentParser
import Base
import Schemas

/// `msi sample`: makes a few channels, areas and subjects to try the product out.
struct Sample: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Adds a few channels, areas and subjects to try the product out.",
        discussion: "What exists by the same names stays as it is. The gateway and the token are those of `msi send`.")

    /// The subjects by the names of channel and area.
    private static let subjects: [(channel: String, area: String, subject: SubjectDraft)] = [
        ("Campus", "Weather", draft("Storms", "Closures and warnings", .forced, .alert)),
        ("Campus", "Transport", draft("Shuttle buses", "Delays and detours", .optional, .information)),
        ("Library", "Main building", draft("Opening hours", "When it is open", .recommended, .information)),
    ]

    func run() async throws {
        try await Self.withGateway { gateway, _ in
            for (channel, area, subject) in Self.subjects {
                let channels: [Channel] = try await gateway.get("/channel")
                let inChannel = try await existing(channel, among: channels) { try await add(channel, "/channel", to: gateway) }
                let inArea = try await existing(area, among: inChannel.areas) {
                    try await add(area, "/area/\(inChannel.id)", to: gateway)
                }
                let isThere = inArea.subjects.contains { $0.name == subject.name }
                if !isThere {
                    let _: Subject = try await gateway.post(
                        "/subject/\(inChannel.id)/\(inArea.id)", try JSONCoder.encode(subject))
                }
                let name = "\(channel)/\(area)/\(subject.name) (\(subject.opt.distribution.rawValue))"
                print("\(name): \(isThere ? "already there" : "added")")
            }
            print("students' app: \(gateway.url)/app/")
            print("send by the portal, \(gateway.url)/, or by: msi send Campus/Weather/Storms 'Campus closed'")
        }
    }

    private func existing<Value: CubePart>(
        _ name: String, among values: [Value], orElse add: () async throws -> Value
    ) async throws -> Value {
        if let value = values.first(where: { $0.name == name }) { return value }
        return try await add()
    }

    private func add<Value: Decodable>(_ name: String, _ path: String, to gateway: GatewayClient) async throws -> Value {
        try await gateway.post(path, try JSONCoder.encode(NamedDraft(name: name, desc: "")))
    }

    private static func draft(
        _ name: String, _ desc: String, _ level: SubscriptionLevel, _ distribution: Distribution
    ) -> SubjectDraft {
        SubjectDraft(name: name, desc: desc, opt: SubjectOptions(level: level, distribution: distribution))
    }
}
