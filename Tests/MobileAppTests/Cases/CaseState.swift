import FoundationEssentials
import Base
import MobileApp

/// What the app shows, and what it has asked and told, in the words of the cases.
extension CasePhone {
    /// - Parameter name: A member of `then`.
    /// - Throws: ``CaseMistake`` if there is no such member.
    func actual(_ name: String) async throws -> JSONValue {
        switch name {
        case "initialized": return .boolean(try await app.isInitialized())
        case "messages": return .array(try await messageDocuments())
        case "message_count": return .integer(try await app.messages.all().count)
        case "badge": return .integer(try await app.badge.count(try await app.messages.all()))
        case "subjects": return .array(try await app.subscriptions.all().map(document))
        case "subscribed":
            return .list(try await app.subscriptions.subscribedTopics().map(names.name).sorted())
        case "muted": return .list(try await app.subscriptions.all().filter(\.isMuted).map { path(of: $0) }.sorted())
        case "channels_off": return .list(try await app.broadcasts.channelsOff().map(names.name).sorted())
        case "cards": return .array(try await app.broadcasts.cards(language: language).map(Self.document))
        case "features":
            return .object(try await app.broadcasts.features().map { JSONValue.Member($0.name, .boolean($0.isOn)) })
        case "data": return .array(try await app.broadcasts.data().map(Self.document))
        case "quiet_hours": return try await quietHours()
        case "account": return try await app.account.name().map { .string($0) } ?? .null
        case "signed_out": return .boolean(try await app.account.wasSignedOut())
        case "receipts": return .boolean(try await app.receipts.areOn())
        case "reports": return .array(reports())
        case "file": return .list(try fileLines())
        case "json": return try JSONValue(parsing: file ?? Data())
        case "topics": return .list(phone.push.allTopics.map(names.name).sorted())
        case "popups": return .list(phone.push.shown.dropFirst(before.popups).map(\.title))
        case "removed_popups": return .list(phone.push.removed.dropFirst(before.removedPopups))
        default: throw CaseMistake("unknown: then.\(name)")
        }
    }

    private func messageDocuments() async throws -> [JSONValue] {
        var documents: [JSONValue] = []
        for message in try await app.messages.all() {
            let info = try await app.subscriptions.info(message.topicKey)
            documents.append([
                "key": .string(message.msiKey), "dist": .string(message.dist), "title": .string(message.title),
                "desc": .string(message.desc), "message": .string(message.message), "timestamp": .integer(message.timestamp),
                "names": .list(info.names), "known": .boolean(info != .placeholder), "kept": .boolean(message.isKept),
                "read": .boolean(message.isRead), "omitted": .list(message.omitted), "lost": .boolean(message.isTextLost),
                "corrected_by": message.correctedBy.map { .string($0) } ?? .null,
                "corrects": message.corrects.map { .string($0) } ?? .null, "link": message.link.map { .string($0) } ?? .null,
            ])
        }
        return documents
    }

    private func path(of subject: Subscriptions.Subject) -> String { subject.names.joined(separator: "/") }

    private func document(_ subject: Subscriptions.Subject) -> JSONValue {
        [
            "path": .string(path(of: subject)), "level": .string(subject.subject.level.rawValue),
            "dist": .string(subject.subject.isAlert ? "Alert" : "Information"), "subscribed": .boolean(subject.isSubscribed),
            "muted": .boolean(subject.isMuted),
        ]
    }

    private static func document(_ card: BroadcastCard) -> JSONValue {
        [
            "id": .string(card.id), "version": .integer(card.version), "origin": .string(card.origin.rawValue),
            "kind": .string(card.kind.rawValue), "title": .string(card.title), "message": .string(card.message),
            "poster": card.poster.map { .string($0) } ?? .null, "notificationtype": .string(card.notificationType.rawValue),
            "data": card.data.map { .string($0) } ?? .null, "cancellable": .boolean(card.isCancellable),
            "expires": card.expires.map { .integer($0) } ?? .null,
        ]
    }

    private static func document(_ data: BroadcastData) -> JSONValue {
        [
            "id": .integer(data.id), "notificationtype": .string(data.notificationType.rawValue), "data": .string(data.data),
            "expires": .integer(data.expires),
        ]
    }

    private func quietHours() async throws -> JSONValue {
        guard let hours = try await app.badge.quietHours() else { return .null }
        func time(_ minutes: Int) -> JSONValue {
            func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return .string("\(two(minutes / 60)):\(two(minutes % 60))")
        }
        return ["from": time(hours.from), "to": time(hours.to)]
    }

    // MARK: What the hub got in this step

    private func reports() -> [JSONValue] {
        var installation = before.installation
        var different: [JSONValue] = []
        for report in hub.reports.dropFirst(before.reports) where !different.contains(report) { different.append(report) }
        return different.map { report in
            func keys(_ kind: String) -> [String] { report[kind]?.texts?.sorted() ?? [] }
            let sender = report["installation"]?.string
            defer { installation = sender }
            return [
                "report": report["report"] ?? .null, "received": .list(keys("received")), "opened": .list(keys("opened")),
                "received_count": .integer(keys("received").count), "opened_count": .integer(keys("opened").count),
                "installation": Self.installation(sender, after: installation),
            ]
        }
    }

    private static func installation(_ id: String?, after previous: String?) -> JSONValue {
        guard let id, id.wholeMatch(of: /[0-9a-f]{24}/) != nil else { return "no id" }
        return id == previous ? "same" : "new"
    }

    /// The requests of this step with a method and a path, such as `GET /channel`.
    func requests(_ name: String) throws -> [JSONValue] {
        try hub.requests.enumerated().dropFirst(before.requests).filter { _, request in
            "\(request.method.rawValue) \(Self.path(of: request))" == name
        }.map { number, request in
            let body = request.body.isEmpty ? nil : try JSONValue(parsing: request.body)
            let position = body?["after"]?.string?.prefix { $0 != "-" }
            let channels = request.path.split(separator: "=").dropFirst().first?.split(separator: ",") ?? []
            return [
                "after": position.map { .number(String($0)) } ?? .null,
                "tag": .boolean(request.headers["If-None-Match"] != nil),
                "channels": .list(channels.map { names.name(of: String($0)) }.sorted()),
                "token": TestPersons.tokenNumber(of: request).map { .integer($0) } ?? .null,
                "proof": hub.proof(ofRequest: number).map { .boolean($0) } ?? .null,
            ]
        }
    }

    /// Without the query, and with `ID` for the id of a device.
    private static func path(of request: HubRequest) -> String {
        request.path.hasPrefix("/user/devices/") ? "/user/devices/ID" : String(request.path.prefix { $0 != "?" })
    }

    // MARK: Files

    /// The lines of the file that this step has exported.
    private func fileLines() throws -> [String] {
        guard let file else { throw CaseMistake("then.file: the step exports nothing") }
        let text = String(decoding: file, as: UTF8.self)
        guard text.hasPrefix("BEGIN:VCALENDAR") else {
            guard text.hasSuffix("\n") else { throw CaseFailure("the file does not end with a line") }
            return text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        }
        let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard lines.last == "", lines.allSatisfy({ $0.utf8.count <= 75 }) else {
            throw CaseFailure("a line of the calendar's file is longer than 75 bytes, or the last one has no end")
        }
        return text.split(separator: "\r\n ").joined().split(separator: "\r\n").map(String.init)
    }
}
