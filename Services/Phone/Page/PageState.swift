import FoundationEssentials
import Glibc
import Base
import MobileApp

extension SimulatedPhone {
    /// Everything that the page shows.
    func state() async throws -> JSONValue {
        let system = memory.system
        let app = app
        let now = clock.now
        let subjects = (try? await app.subscriptions.all()) ?? []
        let messages = try await app.messages.all()
        let names = Dictionary(subjects.map { ($0.id, $0.names) }) { first, _ in first }
        return [
            "name": .string(name), "now": .integer(now), "zone": .string(TimeZoneName.current(offset: clock.offset(at: now))),
            "control": system.control.json, "permission": .string(permission(system)),
            "initialized": .boolean(try await app.isInitialized()), "hub": .string(platform.hub.rawValue),
            "messages": .array(messages.map { Self.document($0, names) }),
            "badge": .integer(Int64(try await app.badge.count(messages))),
            "channels": .array(Self.channels(of: subjects, without: try await app.broadcasts.channelsOff())),
            "popups": .array(
                platform.popups.all.map { popup in
                    [
                        "id": .string(popup.id), "msi_key": popup.msiKey.map { .string($0) } ?? .null,
                        "title": .string(popup.title), "body": .string(popup.body), "at": .integer(popup.at),
                    ]
                }),
            "broadcasts": try await broadcastState(), "features": try await featureState(),
            "broadcast_data": try await broadcastDataState(),
            "settings": try await settingsState(), "account": try await accountState(),
        ]
    }

    private func permission(_ system: PhoneMemory.System) -> String {
        guard system.control.platform == .ios else { return "not_needed" }
        if platform.isAsking { return "asked" }
        return system.permission?.rawValue ?? "asked"
    }

    private func settingsState() async throws -> JSONValue {
        var settings: JSONValue = ["receipts": .boolean(try await app.receipts.areOn()), "quiet_hours": .null]
        if let hours = try await app.badge.quietHours() {
            settings["quiet_hours"] = ["from": .string(DayTime.text(hours.from)), "to": .string(DayTime.text(hours.to))]
        }
        return settings
    }

    private static func document(_ message: StoredMessage, _ names: [String: [String]]) -> JSONValue {
        let known = names[message.topicKey]
        let placeholder = Subscriptions.Info.placeholder.names
        return [
            "msi_key": .string(message.msiKey), "topic_key": .string(message.topicKey), "dist": .string(message.dist),
            "title": .string(message.title), "desc": .string(message.desc), "message": .string(message.message),
            "timestamp": .integer(message.timestamp), "names": .array((known ?? placeholder).map { .string($0) }),
            "known": .boolean(known != nil), "kept": .boolean(message.isKept), "read": .boolean(message.isRead),
            "omitted": .array(message.omitted.map { .string($0) }), "lost": .boolean(message.isTextLost),
            "corrected_by": message.correctedBy.map { .string($0) } ?? .null,
            "corrects": message.corrects.map { .string($0) } ?? .null, "link": message.link.map { .string($0) } ?? .null,
        ]
    }

    /// The tree of the cube. The subjects are in its order.
    ///
    /// - Parameter off: The channels whose broadcasts are switched off.
    private static func channels(of subjects: [Subscriptions.Subject], without off: Set<String>) -> [JSONValue] {
        grouped(subjects, by: \.subject.channelID).map { id, subjects in
            [
                "id": .string(id), "name": .string(subjects[0].names[0]), "areas": .array(areas(of: subjects)),
                "broadcasts": .boolean(!off.contains(id)),
            ]
        }
    }

    private static func areas(of subjects: [Subscriptions.Subject]) -> [JSONValue] {
        grouped(subjects, by: \.subject.areaID).map { id, subjects in
            ["id": .string(id), "name": .string(subjects[0].names[1]), "subjects": .array(subjects.map(document))]
        }
    }

    private static func document(_ subject: Subscriptions.Subject) -> JSONValue {
        [
            "topic_key": .string(subject.id), "name": .string(subject.subject.name), "desc": .string(subject.subject.desc),
            "level": .string(subject.subject.level.rawValue), "dist": .string(subject.subject.isAlert ? "Alert" : "Information"),
            "subscribed": .boolean(subject.isSubscribed), "muted": .boolean(subject.isMuted),
        ]
    }

    private static func grouped<Element>(_ elements: [Element], by key: (Element) -> String) -> [(String, [Element])] {
        var groups: [(String, [Element])] = []
        for element in elements {
            let key = key(element)
            if groups.last?.0 == key { groups[groups.count - 1].1.append(element) } else { groups.append((key, [element])) }
        }
        return groups
    }
}

extension PhoneControl {
    var json: JSONValue {
        [
            "platform": .string(platform.rawValue), "offline": .boolean(offline), "killed": .boolean(killed),
            "foreground": .boolean(foreground), "language": .string(language.rawValue),
            "clock_offset": .integer(Int64(clockOffset)),
        ]
    }
}

/// A time of the day, such as 22:00.
enum DayTime {
    /// `{"from":"22:00","to":"07:00"}`
    struct Period: Decodable {
        let from: String
        let to: String
    }

    /// The minutes of the day; `nil` if the text is not such a time.
    static func minutes(_ text: String) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hours = Int(parts[0]), let minutes = Int(parts[1]),
            (0..<24).contains(hours), (0..<60).contains(minutes)
        else { return nil }
        return hours * 60 + minutes
    }

    static func text(_ minutes: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60))"
    }
}

/// The name of this machine's time zone, as browsers know it. The C library reads the same settings.
enum TimeZoneName {
    /// A name such as "Europe/Berlin".
    ///
    /// - Parameter offset: The difference from UTC in seconds; for a machine whose zone has no name. The result is then "+01:00".
    static func current(offset: Int) -> String {
        let file = "/etc/localtime"
        let path = getenv("TZ").map { String(cString: $0) } ?? (try? FileManager.default.destinationOfSymbolicLink(atPath: file))
        return path.flatMap(name) ?? fixed(offset)
    }

    /// The name in a path such as "/usr/share/zoneinfo/Europe/Berlin" or in the value ":Europe/Berlin" of `TZ`.
    private static func name(in path: String) -> String? {
        let name = path.split(separator: "zoneinfo/").last ?? ""
        let trimmed = name.drop { $0 == ":" }
        let isFile = FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/\(trimmed)")
        return isFile && trimmed.first?.isLetter == true ? String(trimmed) : nil
    }

    private static func fixed(_ offset: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = abs(offset) / 60
        return "\(offset < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
    }
}
