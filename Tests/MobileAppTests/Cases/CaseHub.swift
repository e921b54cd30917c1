import Base
import MobileApp

/// What a case says of the hub and of FCM.
extension CasePhone {
    /// The hub has, or changes, what the case names.
    ///
    /// - Throws: ``CaseMistake``.
    func changeHub(_ members: inout CaseMembers) throws {
        if let cube = try members.optionalElements("cube") {
            try names.set(cube, members.place)
            hub.set(names.subjects)
        }
        for document in try messages("accepts", &members) { hub.accept(document) }
        for document in try messages("waits", &members) { hub.wait(document) }
        for key in try members.optionalTexts("delivers") ?? [] { hub.acceptWaiting(key) }
        for key in try members.optionalTexts("recalls") ?? [] { hub.recall(key) }
        for key in try members.optionalTexts("recalls_stale") ?? [] { hub.recall(key, isStale: true) }
        if let broadcasts = try members.optionalElements("broadcasts") {
            active["broadcasts"] = .array(try broadcasts.map(broadcast))
        }
        if let withdrawn = try members.optionalElements("withdrawn") {
            active["withdrawn"] = .array(try withdrawn.map(withdrawal))
        }
        hub.setBroadcasts(active)
        if let isAway = try members.optionalFlag("away") { hub.setOnline(!isAway) }
        if let isStalled = try members.optionalFlag("hangs") { hub.setStalled(isStalled) }
        if let status = try members.optionalInteger("receipt_status") { hub.setReceiptStatus(Int(status)) }
        try changePersons(&members)
        switch members.take("pages") {
        case nil: break
        case .null?: hub.fail(afterPages: nil)
        case let pages?:
            guard let number = pages.integer else { throw CaseMistake("\(members.place).pages: expected an integer or null") }
            hub.fail(afterPages: Int(number))
        }
    }

    private func changePersons(_ members: inout CaseMembers) throws {
        let added = try members.optionalTexts("accounts") ?? []
        let ended = try members.optionalTexts("ends") ?? []
        let forgotten = try members.optionalTexts("forgets") ?? []
        guard Set(forgotten).isSubset(of: ["tokens", "next challenge"]) else {
            throw CaseMistake("\(members.place).forgets: expected tokens or next challenge, got \(forgotten)")
        }
        let takesTokens = try members.optionalFlag("takes_tokens")
        let challengeStatus = try members.optionalInteger("challenge_status")
        let tokenStatus = try members.optionalInteger("token_status")
        let ahead = try members.optionalInteger("ahead")
        hub.persons { persons in
            persons.add(added)
            persons.end(ended)
            if forgotten.contains("tokens") { persons.forgetTokens() }
            if forgotten.contains("next challenge") { persons.forgetNextChallenge() }
            persons.takesTokens = takesTokens ?? persons.takesTokens
            persons.challengeStatus = challengeStatus.map { Int($0) } ?? persons.challengeStatus
            persons.tokenStatus = tokenStatus.map { Int($0) } ?? persons.tokenStatus
            persons.ahead = ahead.map { $0 * 1_000 } ?? persons.ahead
        }
    }

    /// FCM does what the case names.
    ///
    /// - Throws: ``CaseMistake``.
    func changeFCM(_ members: inout CaseMembers) throws {
        for element in try members.optionalElements("brings") ?? [] {
            let part = element.members?.count == 1 ? element.members?.first : nil
            switch part?.name {
            case "broadcast": phone.push.receive(Self.data(try broadcast(part?.value ?? .null)))
            case "withdrawn":
                var document = try withdrawal(part?.value ?? .null)
                document["withdrawn"] = true
                phone.push.receive(Self.data(document))
            default: for document in try message(element, "\(members.place).brings") { phone.push.receive(Self.data(document)) }
            }
        }
        if let isAway = try members.optionalFlag("away") { phone.push.fail(after: isAway ? 0 : nil) }
    }

    /// A document as FCM brings it: all texts, without those that FCM could not carry.
    private static func data(_ document: JSONValue) -> PushMessage {
        var data: [String: String] = [:]
        for member in document.members ?? [] {
            data[member.name] = member.value.string ?? member.value.number ?? member.value.text
        }
        if let omitted = document["omitted"]?.texts {
            data["omitted"] = omitted.joined(separator: ",")
            for name in omitted { data[name] = nil }
        }
        return PushMessage(data: data)
    }

    private func messages(_ name: String, _ members: inout CaseMembers) throws -> [JSONValue] {
        try (members.optionalElements(name) ?? []).flatMap { try message($0, "\(members.place).\(name)") }
    }

    /// A message, or as many as it stands for.
    private func message(_ element: JSONValue, _ place: String) throws -> [JSONValue] {
        var members = try CaseMembers(element, place)
        let path = try members.optionalText("subject") ?? names.subjects.first?.path ?? ""
        guard let subject = names.subjects.first(where: { $0.path == path }) else {
            throw CaseMistake("\(place): the cube has no subject \(path)")
        }
        if try members.optionalFlag("unreadable") == true {
            try members.end()
            return [["topic_key": .string(subject.topicKey), "timestamp": "later"]]
        }
        let keys = CaseNames.numbered(try members.text("key"), try members.optionalInteger("count"))
        var document: JSONValue = [
            "topic_key": .string(subject.topicKey), "dist": .string(try members.optionalText("dist") ?? subject.distribution),
            "desc": .string(try members.optionalText("desc") ?? ""),
            "message": .string(try members.optionalText("message") ?? "A text."),
            "timestamp": .integer(try members.optionalMoment("at") ?? clock.now),
        ]
        let title = try members.optionalText("title")
        for name in ["corrects", "link"] { document[name] = try members.optionalText(name).map { .string($0) } }
        document["omitted"] = try members.optionalTexts("omitted").map { .list($0) }
        try members.end()
        return keys.map { key in
            var numbered = document
            numbered["msi_key"] = .string(key)
            numbered["title"] = .string(title ?? "Title \(key)")
            return numbered
        }
    }

    private func broadcast(_ element: JSONValue) throws -> JSONValue {
        var members = try CaseMembers(element, "a broadcast")
        let title = try members.optionalText("title") ?? "Hello"
        var document: JSONValue = [
            "id": .integer(try members.integer("id")), "type": .integer(try members.optionalInteger("type") ?? 2),
            "epoch": "2026-11-24T11:00:00+0000", "expiry": 120, "language": "en",
            "version": .integer(try members.optionalInteger("version") ?? 1),
            "starts": .integer(try members.optionalMoment("starts") ?? milliseconds("2026-11-24T11:00:00Z")),
            "expires": .integer(try members.optionalMoment("expires") ?? milliseconds("2026-11-24T13:00:00Z")),
            "actiondata": members.take("action") ?? [
                "translations": [
                    "en": ["title": .string(title), "msg": "m"], "ar": ["title": .string("ع \(title)"), "msg": "m"],
                ]
            ],
        ]
        document["channels"] = try members.optionalTexts("channels").map { .list($0.map(names.identifier)) }
        document["condition"] = try members.optionalText("condition").map { names.filled(.string($0)) }
        try members.end()
        return document
    }

    private func withdrawal(_ element: JSONValue) throws -> JSONValue {
        var members = try CaseMembers(element, "a withdrawn broadcast")
        let document: JSONValue = [
            "id": .integer(try members.integer("id")), "version": .integer(try members.integer("version")),
            "expires": .integer(try members.optionalMoment("expires") ?? milliseconds("2026-11-24T13:00:00Z")),
        ]
        try members.end()
        return document
    }
}
