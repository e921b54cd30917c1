import FCM
import FoundationEssentials
import Hummingbird
import Base
import ServiceKit

/// How the emulator behaves: the settings of its start, and changes made since.
struct Behaviour: Sendable {
    let faults: Adjustable<FaultPlan>
    let quotas: Adjustable<Quotas>
    let fanOuts: Adjustable<FanOuts>
    let connections: Adjustable<ConnectionLimits>
    let oauth: Adjustable<OAuthRules>
    let archive: Adjustable<ArchiveLimit>
    let platforms: Adjustable<PlatformRules>

    private static let form = FCMForm(
        "emulator.Behaviour",
        [
            "faults": .message(FaultPlan.form), "quotas": .message(Quotas.form),
            "fanout": .message(FanOuts.form),
            "connections": .message(ConnectionLimits.form), "oauth": .message(OAuthRules.form),
            "archive": .message(ArchiveLimit.form), "platforms": .message(PlatformRules.form),
        ])

    /// - Parameter document: One member for each section. A missing section has FCM's own behaviour.
    /// - Throws: ``GoogleError`` naming each invalid field.
    init(_ document: JSONValue = [:]) throws {
        let sections = try FormReader.read(document, as: Self.form, repeats: .refused)
        func section(_ name: String) -> ControlFields { ControlFields(sections[name] ?? [:], at: name) }
        faults = Adjustable(try .init(section("faults")))
        quotas = Adjustable(try .init(section("quotas")))
        fanOuts = Adjustable(try .init(section("fanout")))
        connections = Adjustable(try .init(section("connections")))
        oauth = Adjustable(try .init(section("oauth")))
        archive = Adjustable(try .init(section("archive")))
        platforms = Adjustable(try .init(section("platforms")))
    }
}

extension Behaviour {
    /// Reads a JSON file.
    ///
    /// - Throws: `ConfigurationError` with the file's name and the problem.
    init(file path: String) throws {
        do {
            try self.init(JSONValue(requestBody: try Data(contentsOf: URL(filePath: path))))
        } catch {
            // Google's further lines quote the document. This may be another file than was meant.
            let problem = (error as? GoogleError)?.message.prefix { !$0.isNewline } ?? "it cannot be read: \(error)"
            throw ConfigurationError(
                "\(Setting.fcmEmulatorBehaviourFile.declaration.name): \(path): \(problem)")
        }
    }
}

/// How many accepted sends are stored with their bodies. All of them are counted.
struct ArchiveLimit: Hashable, Sendable {
    let keep: Int
}

extension ArchiveLimit: ControlSection {
    static let form = FCMForm("emulator.Archive", ["keep": .int32])

    init(_ fields: ControlFields) throws {
        keep = try fields.integer("keep", in: 0...Int(Int32.max)) ?? 1_000_000
    }

    var document: JSONValue { ["keep": .integer(keep)] }
}

/// `/emulator/<section>`: how the emulator treats its clients. GET reads it, PUT changes it, DELETE restores
/// the initial settings.
struct ControlRoutes: Sendable {
    private static let maxBodyBytes = 1_048_576

    let behaviour: Behaviour

    func add(to router: some RouterMethods<EmulatorRequestContext>) {
        add("faults", behaviour.faults, to: router)
        add("quotas", behaviour.quotas, to: router)
        add("fanout", behaviour.fanOuts, to: router)
        add("connections", behaviour.connections, to: router)
        add("oauth", behaviour.oauth, to: router)
        add("archive", behaviour.archive, to: router)
        add("platforms", behaviour.platforms, to: router)
    }

    private func add<Section>(
        _ name: String, _ section: Adjustable<Section>, to router: some RouterMethods<EmulatorRequestContext>
    ) {
        router.resource(
            "emulator/\(name)",
            [
                .get: { _, _ in Response(.ok, section.document) },
                .put: { request, _ in
                    try section.replace(by: try JSONValue(requestBody: try await request.bytes(max: Self.maxBodyBytes)))
                    return Response(.ok, section.document)
                },
                .delete: { _, _ in
                    section.reset()
                    return Response(.ok, section.document)
                },
            ])
    }
}
