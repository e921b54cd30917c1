import FoundationEssentials
import HTTPRouting
import HTTPTypes
import Hummingbird
import Base
import MobileApp
import NIOCore
import Synchronization

/// The person's actions on messages.
final class MessageActions: Sendable {
    private let phone: SimulatedPhone
    private let files: PageFiles
    /// Deleted messages, which can be restored.
    private let deleted = Mutex<[StoredMessage]>([])
    private static let maxDeleted = 50

    init(phone: SimulatedPhone, files: PageFiles) {
        self.phone = phone
        self.files = files
    }

    private struct Marks: Codable {
        var read: Bool?
        var kept: Bool?
    }

    private struct ReadMarks: Codable {
        let keys: [String]
        let read: Bool
    }

    /// Enough for the keys of 20,000 messages.
    private static let maxReadMarksBytes = 1 << 20

    func add(to router: Router<BasicRequestContext>) {
        router.patch("/messages/:key") { [self] request, context in
            let marks = try await PhonePage.body(Marks.self, of: request)
            let message = try await find(context, orDeleted: marks.kept == nil)
            if let read = marks.read { try await phone.app.messages.markRead(message.msiKey, read) }
            if let kept = marks.kept { try await phone.app.messages.keep(message.msiKey, kept) }
            return changed()
        }
        router.post("/messages/read") { [self] request, _ in
            let marks = try await PhonePage.body(ReadMarks.self, of: request, upTo: Self.maxReadMarksBytes)
            try await phone.app.messages.markRead(unopened: marks.keys, marks.read)
            return changed()
        }
        router.delete("/messages/:key") { [self] _, context in
            let message = try await find(context)
            guard let removed = try await phone.app.messages.remove(message.msiKey) else { return changed() }
            deleted.withLock { $0 = Array(($0 + [removed]).suffix(Self.maxDeleted)) }
            return changed()
        }
        router.post("/messages/:key/restore") { [self] _, context in
            let key = try context.parameters.require("key")
            guard let message = deleted.withLock({ $0.last { $0.msiKey == key } }) else {
                throw Refusal(.notFound, "no message \(key.prefix(40)) was deleted lately")
            }
            try await phone.app.messages.restore(message)
            return changed()
        }
        router.get("/messages/:key/calendar.ics") { [self] request, context in
            let message = try await find(context)
            let starts = 0...CalendarEntry.moments.upperBound
            guard let start = request.queryParameters["start"].flatMap({ Int64($0) }), starts.contains(start) else {
                throw Refusal(.badRequest, "start: expected a time in Unix milliseconds, up to the year 9999")
            }
            let minutes = request.queryParameters["minutes"].flatMap { Int($0) } ?? 60
            guard (1...10_080).contains(minutes) else { throw Refusal(.badRequest, "minutes: expected 1 to 10080") }
            let names = try await phone.app.subscriptions.info(message.topicKey).names
            let entry = CalendarEntry(message, names: names, start: start, minutes: minutes)
            return Self.file(Data(entry.file(now: phone.clock.now).utf8), "text/calendar; charset=utf-8", "event.ics")
        }
        router.get("/export") { [self] request, _ in try await export(request) }
    }

    private func changed() -> Response {
        phone.changes.tell()
        return PhonePage.noContent
    }

    /// - Parameter isDeletedAllowed: Whether the message may have been deleted lately: a page marks a card as read that it has shown
    ///   for a while, and that may arrive after the message's deletion.
    private func find(_ context: BasicRequestContext, orDeleted isDeletedAllowed: Bool = false) async throws -> StoredMessage {
        let key = try context.parameters.require("key")
        if let message = try await phone.app.messages.all().first(where: { $0.msiKey == key }) { return message }
        if isDeletedAllowed, let message = deleted.withLock({ $0.last { $0.msiKey == key } }) { return message }
        throw Refusal(.notFound, "the phone has no message \(key.prefix(40))")
    }

    private func export(_ request: Request) async throws -> Response {
        let query = request.queryParameters
        let form: MessageExport = query["format"] == "json" ? .json : .text
        let key = query["key"]
        let wanted = query["channel"]
        let subjects = try await phone.app.subscriptions.all()
        let channels = Dictionary(subjects.map { ($0.id, $0.subject.channelID) }) { first, _ in first }
        let messages = try await phone.app.messages.all().filter { message in
            let isInChannel = wanted == nil || wanted == channels[message.topicKey] ?? String(message.topicKey.prefix(24))
            return isInChannel && (key == nil || message.msiKey == key)
        }
        var names: [String: [String]] = [:]
        let language = phone.memory.system.control.language
        for topic in Set(messages.map(\.topicKey)) {
            let info = try await phone.app.subscriptions.info(topic)
            names[topic] = info == .placeholder ? [files.text("message.unknown", language)] : info.names
        }
        let clock = phone.clock
        let words = MessageExport.Words(
            alert: files.text("message.alert", language), missing: files.text("export.missing", language))
        let file = try form.file(of: messages, words: words, names: { names[$0] ?? [] }) { moment in
            let local = moment / 1_000 + Int64(clock.offset(at: moment))
            let day = Date(timeIntervalSince1970: Double(local)).formatted(.iso8601.year().month().day())
            func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return "\(day) \(two(local / 3_600 % 24)):\(two(local / 60 % 60))"
        }
        return form == .json
            ? Self.file(file, "application/json", "messages.json")
            : Self.file(file, "text/plain; charset=utf-8", "messages.txt")
    }

    private static func file(_ bytes: Data, _ type: String, _ name: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: type, .contentDisposition: "attachment; filename=\"\(name)\"", .cacheControl: "no-store",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
