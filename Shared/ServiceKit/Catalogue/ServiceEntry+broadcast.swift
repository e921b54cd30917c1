import Schemas

extension ServiceEntry {
    /// The service of broadcasts at app launch.
    package static let broadcast = ServiceEntry(
        "broadcast", "keeps broadcasts at app launch and feature switches, and pushes them.",
        title: "broadcast service",
        sockets: [.commands, .events],
        uses: [
            BusUse(service: .messageLog, sockets: [.commands], isNeededAtStart: false),
            // For the audit log.
            BusUse(service: .people, sockets: [.commands], isNeededAtStart: false),
        ],
        gatewayUses: [.commands, .events],
        gatewayNeed: .other,
        keepsData: true,
        stateFiles: ["broadcast.sqlite"],
        settings: [
            Setting.broadcastLanguage.declaration, Setting.broadcastFile.declaration, Setting.fcmTopicPayloadLimit.declaration,
        ])
}

extension Setting where Value == String {
    package static let broadcastFile = text(
        "broadcast.file",
        "A file that always has the active broadcasts, for another server that gives it to phones while the hub is away; without it there "
            + "is none.",
        expected: "a file in a folder that exists")
    package static let broadcastLanguage = Setting(
        "broadcast.language",
        "The default language of broadcasts: each must have texts in it, which phones of other languages show.",
        expected: "a language tag such as en, hi or pt-BR", default: "en"
    ) { LanguageTag($0) == nil ? nil : $0 }
}
