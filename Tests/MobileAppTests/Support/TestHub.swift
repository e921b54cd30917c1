import FoundationEssentials
import Base
import MobileApp
import Synchronization

/// A hub in memory: the cube, the accepted messages, and what FCM knows of the phone.
final class TestHub: HubConnection {
    struct Offline: Error {}

    /// A subject: its place in the cube follows from its name, as in `Campus/Weather/Storms`.
    struct Subject {
        var path: String
        var level = ""
        var distribution = "Information"
        /// The path before the subject was moved, from which its topic key follows.
        var movedFrom: String?

        /// Three identifiers that follow from the names.
        var topicKey: String {
            let parts = (movedFrom ?? path).split(separator: "/").map(String.init)
            return parts.indices.map { TestHub.identifier(of: parts[...$0].joined(separator: "/")) }.joined(separator: "-")
        }
    }

    /// The identifier of a channel, an area or a subject, by its path.
    static func identifier(of path: String) -> String {
        let hash = path.utf8.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        let digits = String(hash, radix: 16)
        return "00000000" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    private struct State {
        var subjects: [Subject] = []
        var version = 1
        var isOnline = true
        var isStalled = false
        /// The requests that it leaves without an answer.
        var unanswered = 0
        /// How many more pages of messages the hub gives.
        var pages = Int.max
        var accepted: [JSONValue] = []
        /// The Alerts that wait for FCM, and the keys of those that were recalled.
        var waiting: [JSONValue] = []
        var recalled: [String] = []
        /// FCM does not answer the hub.
        var isFCMSilent = false
        var requests: [HubRequest] = []
        /// By the number of the request: whether its proof of a device is right.
        var proofs: [Int: Bool] = [:]
        var persons = TestPersons()
        var clock: (any DeviceClock)?
        var pageSize = 2
        var push: TestPush?
        var receiptStatus = 204
        var reports: [JSONValue] = []
        var broadcasts: JSONValue = ["broadcasts": [], "withdrawn": []]
    }

    private let state = Mutex(State())

    var requests: [HubRequest] { state.withLock { $0.requests } }

    /// Whether the proof of a request is right; `nil` if it has none.
    func proof(ofRequest number: Int) -> Bool? { state.withLock { $0.proofs[number] } }

    /// The clock of the phone, from which the hub's follows.
    func setClock(_ clock: any DeviceClock) { state.withLock { $0.clock = clock } }

    /// Reads or changes the persons that have accounts.
    func persons<Value>(_ body: (inout sending TestPersons) -> sending Value) -> sending Value {
        state.withLock { body(&$0.persons) }
    }

    func set(_ subjects: [Subject]) {
        state.withLock {
            $0.subjects = subjects; $0.version += 1
        }
    }

    func setOnline(_ isOnline: Bool) { state.withLock { $0.isOnline = isOnline } }

    /// How many requests wait for a hub that does not end its answers.
    var unanswered: Int { state.withLock { $0.unanswered } }

    /// The hub begins to answer, and does not end.
    func setStalled(_ isStalled: Bool) { state.withLock { $0.isStalled = isStalled } }

    /// The number of further pages of messages after which the hub cannot be reached for them; `nil` for no limit.
    func fail(afterPages pages: Int?) { state.withLock { $0.pages = pages ?? .max } }

    /// What the hub does with reports: any but 503 means that it has counted them.
    func setReceiptStatus(_ status: Int) { state.withLock { $0.receiptStatus = status } }

    /// The reports that were sent, in their order, also the refused ones.
    var reports: [JSONValue] { state.withLock { $0.reports } }

    /// The FCM that the hub asks for the phone's topics.
    func setPush(_ push: TestPush) { state.withLock { $0.push = push } }

    /// FCM has accepted a message.
    func accept(_ key: String, topic: String, timestamp: Int64) {
        let document: JSONValue = [
            "msi_key": .string(key), "topic_key": .string(topic), "dist": "Information", "title": .string("Title \(key)"),
            "desc": "", "message": "A text.", "timestamp": .integer(timestamp),
        ]
        accept(document)
    }

    /// FCM has accepted a message, or whatever a later version of the hub takes for one.
    func accept(_ document: JSONValue) { state.withLock { $0.accepted.append(document) } }

    /// An Alert waits for FCM.
    func wait(_ key: String, topic: String, corrects: String? = nil, timestamp: Int64) {
        var document: JSONValue = [
            "msi_key": .string(key), "topic_key": .string(topic), "dist": "Alert", "title": .string("Title \(key)"),
            "desc": "Look out.", "message": "A text.", "timestamp": .integer(timestamp),
        ]
        document["corrects"] = corrects.map { .string($0) }
        wait(document)
    }

    func wait(_ alert: JSONValue) { state.withLock { $0.waiting.append(alert) } }

    /// FCM does not answer the hub, which therefore does not answer what the phone's topics are.
    func silenceFCM() { state.withLock { $0.isFCMSilent = true } }

    /// FCM has accepted an Alert that waited.
    func acceptWaiting(_ key: String) {
        state.withLock { state in
            state.accepted += state.waiting.filter { $0["msi_key"]?.string == key }
            state.waiting.removeAll { $0["msi_key"]?.string == key }
        }
    }

    /// An Alert that waited is recalled.
    ///
    /// - Parameter isStale: The answers still have it among those that wait, as a copy that is behind may.
    func recall(_ key: String, isStale: Bool = false) {
        state.withLock { state in
            if !isStale { state.waiting.removeAll { $0["msi_key"]?.string == key } }
            state.recalled.append(key)
        }
    }

    /// The answer of `GET /broadcast/active`.
    func setBroadcasts(_ active: JSONValue) { state.withLock { $0.broadcasts = active } }

    /// The channels of one question for broadcasts.
    static let maxChannels = 200

    /// The position before an accepted message.
    private static func position(_ number: Int) -> String { "\(number)-000000000000000000000000" }

    func answer(to request: HubRequest) async throws -> HubAnswer {
        if state.withLock({ $0.isFCMSilent && request.path == "/phone/topics" }) { try await Task.sleep(for: .seconds(3_600)) }
        let isStalled = state.withLock { state in
            if state.isStalled { state.unanswered += 1 }
            return state.isStalled
        }
        if isStalled {
            defer { state.withLock { $0.unanswered -= 1 } }
            try await Task.sleep(for: .seconds(3_600))
        }
        return try state.withLock { state in
            guard state.isOnline else { throw Offline() }
            state.requests.append(request)
            switch (request.method, request.path) {
            case (.get, "/channel"):
                let tag = "\"\(state.version)\""
                if request.headers["If-None-Match"] == tag { return HubAnswer(status: 304, entityTag: tag, body: Data()) }
                return HubAnswer(status: 200, entityTag: tag, body: Self.cube(state.subjects).data)
            case (.post, "/message/since"):
                guard state.pages > 0 else { throw Offline() }
                state.pages -= 1
                let body = try JSONValue(parsing: request.body)
                let topics = Set(body["topics"]?.elements?.compactMap(\.string) ?? [])
                let after = body["after"]?.string.flatMap { Int($0.prefix { $0 != "-" }) } ?? 0
                let rest = state.accepted.enumerated().dropFirst(after).filter {
                    topics.contains($0.element["topic_key"]?.string ?? "")
                }
                let page = rest.prefix(state.pageSize)
                let next = page.count < rest.count ? page.last!.offset + 1 : state.accepted.count
                var answer: JSONValue = ["messages": .array(page.map(\.element)), "next": .string(Self.position(next))]
                guard page.count == rest.count else { return HubAnswer(status: 200, body: answer.data) }
                let waiting = state.waiting.filter { topics.contains($0["topic_key"]?.string ?? "") }
                if !waiting.isEmpty { answer["waiting"] = .array(waiting) }
                if !state.recalled.isEmpty { answer["recalled"] = .array(state.recalled.map { .string($0) }) }
                return HubAnswer(status: 200, body: answer.data)
            case (.get, _) where request.path.hasPrefix("/broadcast/active"):
                guard request.path.split(separator: ",").count <= Self.maxChannels else {
                    return HubAnswer(status: 400, body: Data())
                }
                let active = state.broadcasts
                let tag = "\"\(active.hashValue)\""
                if request.headers["If-None-Match"] == tag { return HubAnswer(status: 304, entityTag: tag, body: Data()) }
                return HubAnswer(status: 200, entityTag: tag, body: active.data)
            case (.post, "/receipt"):
                state.reports.append(try JSONValue(parsing: request.body))
                return HubAnswer(status: state.receiptStatus, body: Data())
            case (.post, "/phone/topics"):
                let topics = state.push?.allTopics.sorted() ?? []
                return HubAnswer(status: 200, body: (["topics": .array(topics.map { .string($0) })] as JSONValue).data)
            default:
                guard let (answer, proof) = state.persons.answer(to: request, phone: state.clock?.now ?? 0) else {
                    return HubAnswer(status: 404, body: Data())
                }
                state.proofs[state.requests.count - 1] = proof
                return answer
            }
        }
    }

    private static func cube(_ subjects: [Subject]) -> JSONValue {
        let paths = subjects.map { $0.path.split(separator: "/").map(String.init) }
        func unique(_ texts: [String]) -> [String] { texts.reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
        return .array(
            unique(paths.map { $0[0] }).map { channel in
                [
                    "_id": .string(identifier(of: channel)), "name": .string(channel), "desc": "", "access": [],
                    "areas": .array(
                        unique(paths.filter { $0[0] == channel }.map { $0[1] }).map { area in
                            [
                                "id": .string(identifier(of: "\(channel)/\(area)")), "name": .string(area), "desc": "",
                                "access": [],
                                "subjects": .array(
                                    subjects.filter { $0.path.hasPrefix("\(channel)/\(area)/") }.map { subject in
                                        [
                                            "id": .string(identifier(of: subject.path)),
                                            "name": .string(String(subject.path.split(separator: "/")[2])), "desc": "",
                                            "access": [],
                                            "topic_key": .string(subject.topicKey),
                                            "opt": [
                                                "level": .string(subject.level), "distribution": .string(subject.distribution),
                                            ],
                                            "tags": [],
                                        ]
                                    }),
                            ]
                        }),
                ]
            })
    }
}
