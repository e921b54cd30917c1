package import Base
package import Schemas

extension ServiceEntry {
    /// The service of messages between persons, statuses and pictures.
    package static let messaging: ServiceEntry = ServiceEntry(
        "messaging", "keeps messages between friends until they are read, statuses for a day, and pictures.",
        title: "messaging service",
        sockets: [.commands, .events],
        uses: [
            // It logs pushes to persons.
            BusUse(service: .messageLog, sockets: [.commands], isNeededAtStart: false),
            // It knows who is whose friend, and takes entries for the audit log.
            BusUse(service: .people, sockets: [.commands], isNeededAtStart: false),
        ],
        gatewayUses: [.commands, .events],
        gatewayNeed: .otherLater,
        keepsData: true, keepsPersonalData: true,
        stateFiles: ["messaging.sqlite", MessagingFiles.removed],
        settings: SettingDeclaration.messaging)
}

/// The files of the messaging service beside its database.
package enum MessagingFiles {
    /// The log of removed messages: which of a backup are removed again after a restore.
    package static let removed = "removed-messages.log"
}

extension SettingDeclaration {
    /// The settings of the messaging service.
    static let messaging: [SettingDeclaration] = [
        Setting.messagingDays.declaration, Setting.messagingDigestDays.declaration, Setting.messagingReportDays.declaration,
        Setting.messagingPublishedDays.declaration, Setting.messagingPoll.declaration,
        Setting.messagingPerMinute.declaration, Setting.messagingCalls.declaration, Setting.messagingPictures.declaration,
    ]
}

extension Setting where Value == Int {
    package static let messagingDays = integer(
        "messaging.days",
        "For how many days a message between persons waits at most; half of that while nine tenths of the storage are used.",
        in: 1...28, default: 28
    ).changingLive()
    package static let messagingDigestDays = integer(
        "messaging.digest.days",
        "For how many days the keyed digest of a message is kept, by which a report of a removed message is verified.",
        in: 28...3_650, default: 90
    ).changingLive()
    package static let messagingReportDays = integer(
        "messaging.report.days", "For how many days a closed report of a message is kept.", in: 1...3_650, default: 90
    ).changingLive()
    package static let messagingPublishedDays = integer(
        "messaging.published.days", "For how many days a picture that was uploaded for messages of the hub is kept.",
        in: 1...36_500, default: 365
    ).changingLive()
    package static let messagingPerMinute = integer(
        "messaging.per.minute", "The maximum number of a person's messages and statuses within a minute.", in: 1...6_000,
        default: 60
    ).changingLive()
    package static let messagingCalls = integer(
        "messaging.calls",
        "How many calls of the messaging service a month may have: at 90 % the log, the health and the portal warn; 0 is any "
            + "number. No call is refused.",
        in: 0...1_000_000_000, default: 0
    ).changingLive()
}

extension Setting where Value == Int64 {
    package static let messagingPictures = bytes(
        "messaging.pictures", "The maximum size of all pictures: from there on uploads are refused.", default: "10GiB"
    ).changingLive()
}

extension Setting where Value == Seconds {
    package static let messagingPoll = seconds(
        "messaging.poll",
        "How many seconds have to be between two polls of a device for messages or statuses. Fetches after events and pushes are "
            + "not polls.",
        in: 1...3_600, default: 30
    ).changingLive()
}

extension Setting where Value == Bool {
    package static let messagingClassmates = Setting(
        "messaging.classmates", "Whether classmates may write to each other, or friends alone.", expected: "on or off",
        default: "off"
    ) { ["on": true, "off": false][$0] }.changingLive()
}

extension SettingValues {
    /// The limits of messages between persons, which change at a reload.
    ///
    /// - Returns: A function that returns the present ones.
    /// - Throws: ``ConfigurationError``.
    package func messagingRules() throws -> @Sendable () -> MessagingRules {
        let days = try live(.messagingDays)
        let digestDays = try live(.messagingDigestDays)
        let reportDays = try live(.messagingReportDays)
        let publishedDays = try live(.messagingPublishedDays)
        let poll = try live(.messagingPoll)
        let perMinute = try live(.messagingPerMinute)
        let calls = try live(.messagingCalls)
        let pictures = try live(.messagingPictures)
        return {
            MessagingRules(
                days: days.value, digestDays: digestDays.value, reportDays: reportDays.value,
                publishedDays: publishedDays.value, poll: poll.value, perMinute: perMinute.value,
                calls: calls.value == 0 ? nil : calls.value, pictures: pictures.value)
        }
    }
}
