import FoundationEssentials
import HTTPRouting
import HTTPTypes
import Hummingbird
import JSON
import MobileApp
import NIOCore
import Synchronization

/// What a person does with messages.
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

    func add(to router: Router<BasicRequestContext>) {
        router.patch("/messages/:key") { [self] request, context in
            let message = try await find(context)
            let marks = try await PhonePage.body(Marks.self, of: request)
            if let read = marks.read { try await phone.app.messages.markRead(message.msiKey, read) }
            if let kept = marks.kept { try await phone.app.messages.keep(message.msiKey, kept) }
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

    private func find(_ context: BasicRequestContext) async throws -> StoredMessage {
        let key = try context.parameters.require("key")
        guard let message = try await phone.app.messages.all().first(where: { $0.msiKey == key }) else {
            throw Refusal(.notFound, "the phone has no message \(key.prefix(40))")
        }
        return message
    }

    private func export(_ request: Request) async throws -> Response {
        let query = request.queryParameters
        let form: MessageExport = query["format"] == "json" ? .json : .text
        let key = query["key"]
        let messages = try await phone.app.messages.all(channel: query["channel"]).filter {
            key == nil || $0.msiKey == key
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
