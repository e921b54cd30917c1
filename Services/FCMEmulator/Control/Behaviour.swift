import JSON

/// How the emulator behaves: the settings of its start, and changes made since.
struct Behaviour: Sendable {
    let faults: Adjustable<FaultPlan>
    let quotas: Adjustable<Quotas>
    let connections: Adjustable<ConnectionLimits>
    let oauth: Adjustable<OAuthRules>
    let archive: Adjustable<ArchiveLimit>
    let platforms: Adjustable<PlatformRules>

    private static let form = MessageForm(
        "emulator.Behaviour",
        [
            "faults": .message(FaultPlan.form), "quotas": .message(Quotas.form),
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
        connections = Adjustable(try .init(section("connections")))
        oauth = Adjustable(try .init(section("oauth")))
        archive = Adjustable(try .init(section("archive")))
        platforms = Adjustable(try .init(section("platforms")))
    }
}
