import FoundationEssentials
import Base
import MobileApp

/// What happens in a step.
extension CasePhone {
    /// - Throws: ``CaseMistake``, ``Refused``, or why the app could not do it.
    func act(_ when: String, _ step: inout CaseMembers) async throws {
        switch when {
        case "start":
            language = try step.optionalText("language") ?? language
            try await start()
        case "end": await end()
        case "clear": try await clear()
        case "look": try await look()
        case "time": clock.set(try step.moment("to"))
        case "hub": try changeHub(&step)
        case "fcm": try changeFCM(&step)
        case "subscribe": try await app.subscriptions.subscribe(try topic(&step))
        case "leave": try await app.subscriptions.unsubscribe(try topic(&step))
        case "mute": try await app.subscriptions.mute(try topic(&step))
        case "unmute": try await app.subscriptions.mute(try topic(&step), false)
        case "channel broadcasts":
            let channel = names.identifier(of: try step.text("channel"))
            try await app.broadcasts.set(channel: channel, areOn: try step.flag("on"))
        case "close": try await close(try step.integer("broadcast"))
        case "quiet hours": try await app.badge.set(try quietHours(&step))
        case "receipts": try await app.receipts.set(try step.flag("on"))
        case "report": try await app.receipts.send()
        case "sign in": try await app.account.signIn(try credential(&step))
        case "register":
            let name = try step.text("account")
            try await app.account.register(name, with: try credential(of: name, &step), key: "\(name) \(step.place)")
        case "sign out": try await app.account.signOut()
        case "person":
            let answer = try await app.account.request(HubRequest(.get, "/user"))
            guard answer.status == 200 else { throw HubFailure.refused(status: answer.status, path: "/user") }
        default: try await actOnMessages(when, &step)
        }
    }

    /// Shows who the person is: the bearer of an ID token, or who knows the password.
    private func credential(_ step: inout CaseMembers) throws -> Account.Credential {
        if let token = try step.optionalText("token") { return .google(idToken: token) }
        return .password(account: try step.text("account"), password: try step.text("password"))
    }

    private func credential(of account: String, _ step: inout CaseMembers) throws -> Account.Credential {
        if let token = try step.optionalText("token") { return .google(idToken: token) }
        return .password(account: account, password: try step.text("password"))
    }

    private func actOnMessages(_ when: String, _ step: inout CaseMembers) async throws {
        let messages = app.messages
        switch when {
        case "read": try await messages.markRead(try await message(&step).msiKey)
        case "unread": try await messages.markRead(try await message(&step).msiKey, false)
        case "read all": try await messages.markRead(unopened: try step.texts("messages"), true)
        case "unread all": try await messages.markRead(unopened: try step.texts("messages"), false)
        case "keep": try await messages.keep(try await message(&step).msiKey)
        case "release": try await messages.keep(try await message(&step).msiKey, false)
        case "delete":
            let key = try await message(&step).msiKey
            deleted[key] = try await messages.remove(key)
        case "restore":
            let key = try step.text("message")
            guard let message = deleted[key] else { throw CaseMistake("\(step.place): \(key) was not deleted") }
            try await messages.restore(message)
        case "export": file = try await export(&step)
        case "calendar": file = try await calendarFile(&step)
        default: throw CaseMistake("\(step.place): unknown: \(when)")
        }
    }

    private func topic(_ step: inout CaseMembers) throws -> String { names.identifier(of: try step.text("subject")) }

    private func message(_ step: inout CaseMembers) async throws -> StoredMessage {
        let key = try step.text("message")
        guard let message = try await app.messages.all().first(where: { $0.msiKey == key }) else {
            throw CaseMistake("\(step.place): the app has no message \(key)")
        }
        return message
    }

    private func close(_ id: Int64) async throws {
        guard let card = try await app.broadcasts.cards(language: language).first(where: { $0.number == id }) else {
            throw CaseMistake("the app shows no broadcast \(id)")
        }
        guard try await app.broadcasts.close(card) else { throw Refused() }
    }

    /// - Returns: `nil` if the step has none.
    private func quietHours(_ step: inout CaseMembers) throws -> QuietHours? {
        guard let from = try step.optionalText("from") else { return nil }
        let to = try step.text("to")
        guard let hours = Self.minutes(from).flatMap({ from in Self.minutes(to).flatMap { QuietHours(from: from, to: $0) } })
        else {
            throw Refused()
        }
        return hours
    }

    /// The minutes of a time such as `22:00`.
    private static func minutes(_ time: String) -> Int? {
        guard let match = time.wholeMatch(of: /(\d\d):([0-5]\d)/), let hours = Int(match.1), let minutes = Int(match.2) else {
            return nil
        }
        return hours * 60 + minutes
    }

    // MARK: Files

    private func export(_ step: inout CaseMembers) async throws -> Data {
        let forms: [String: MessageExport] = ["text": .text, "json": .json]
        guard let form = forms[try step.text("format")] else { throw CaseMistake("\(step.place): unknown format") }
        let key = try step.optionalText("message")
        let channel = try step.optionalText("channel").map(names.identifier)
        let subjects = try await app.subscriptions.all()
        let topics = Set(subjects.filter { channel == nil || $0.subject.channelID == channel }.map(\.id))
        let messages = try await app.messages.all().filter { topics.contains($0.topicKey) && (key == nil || $0.msiKey == key) }
        let paths = Dictionary(subjects.map { ($0.id, $0.names) }) { first, _ in first }
        return try form.file(of: messages, names: { paths[$0] ?? [] }, time: localTime)
    }

    /// Such as `2026-11-24 12:00`.
    private func localTime(_ moment: Int64) -> String {
        let local = moment / 1_000 + Int64(clock.offset(at: moment))
        let text = Date(timeIntervalSince1970: Double(local)).formatted(.iso8601)
        return String(text.prefix(16)).replacing("T", with: " ")
    }

    private func calendarFile(_ step: inout CaseMembers) async throws -> Data {
        let message = try await message(&step)
        let names = try await app.subscriptions.info(message.topicKey).names
        let entry = CalendarEntry(
            message, names: names, start: try step.moment("start"), minutes: Int(try step.integer("minutes")))
        return Data(entry.file(now: clock.now).utf8)
    }
}
