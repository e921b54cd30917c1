import Base
import NIOHTTP1
import Schemas
import Synchronization

/// A call that an app of a student makes.
enum StudyCall: String, CaseIterable, Encodable, CodingKeyRepresentable, Sendable {
    /// The map, and the bar with the own session, which an open app fetches again and again.
    case near, own
    case join, start, leave, edit, position
    case posts, post
}

/// A session that a student has seen.
struct SeenSession: Hashable, Sendable {
    let id: String
    let classID: String

    var path: String { "/classes/\(classID)/sessions/\(id)" }

    init(id: String, classID: String) {
        self.id = id
        self.classID = classID
    }

    /// - Returns: `nil` for a document of another kind.
    init?(_ document: JSONValue?) {
        guard let id = document?["id"]?.string, let classID = document?["class"]?.string else { return nil }
        self.init(id: id, classID: classID)
    }
}

/// What a student's app knows of the student. Pure.
struct StudyKnowledge: Sendable {
    /// The session in which the student is.
    var current: SeenSession?
    var isHost = false
    /// The sessions around the student.
    var seen: [SeenSession] = []
}

/// A student of the load, with an open app. It makes one call at a time unless the hub is slow.
final class StudyUser: Sendable {
    /// A call with what it asks for.
    struct Request: Sendable {
        let call: StudyCall
        let method: HTTPMethod
        let path: String
        var body: JSONValue?
        var hasKey = false
    }

    let account: String
    let token: String
    let classes: [String]
    /// Where the student is, in degrees.
    private let place: (latitude: Double, longitude: Double)
    private let knowledge = Mutex(StudyKnowledge())

    /// How many calls an app makes in one period: for the map, for the own session, and for what the student does.
    static let callsPerPeriod = 3
    /// The radius of the search for sessions, in metres: the campus.
    private static let radius: Int64 = 3_000

    /// - Parameter random: Where the student is, on a campus of 2 km.
    init(account: String, token: String, classes: [String], random: inout SeededGenerator) {
        self.account = account
        self.token = token
        self.classes = classes
        place = (51.5 + Double.random(in: -0.009...0.009, using: &random), Double.random(in: -0.014...0.014, using: &random))
    }

    /// What the app knows now.
    var known: StudyKnowledge { knowledge.withLock(\.self) }

    private var position: JSONValue {
        ["latitude": .number("\(place.latitude)"), "longitude": .number("\(place.longitude)"), "accuracy": 15]
    }

    // MARK: What to ask

    /// The call of a step.
    ///
    /// - Parameter step: From 0. In turns the map, the own session, and what the student does.
    func request(_ step: Int, random: inout SeededGenerator) -> Request {
        let known = known
        switch step % Self.callsPerPeriod {
        case 0:
            let body: JSONValue = ["position": position, "radius": .integer(Self.radius)]
            return Request(call: .near, method: .POST, path: "/user/sessions/near", body: body)
        case 1:
            return Request(call: .own, method: .GET, path: "/user/sessions")
        default:
            guard let session = known.current else { return idle(known, &random) }
            return known.isHost ? hosting(session, &random) : attending(session, &random)
        }
    }

    /// A session of the student's own, where the student is.
    func start(random: inout SeededGenerator) -> Request {
        let classID = classes.randomElement(using: &random) ?? ""
        let body: JSONValue = [
            "topics": [.string("Chapter \(Int.random(in: 1...20, using: &random))")], "place": place(named: "Library"),
            "minutes": .integer(Int.random(in: 30...180, using: &random)), "position": position, "leave": true,
        ]
        return Request(call: .start, method: .POST, path: "/classes/\(classID)/sessions", body: body, hasKey: true)
    }

    /// To join a session that the student has seen, instead of the one in which the student is.
    func join(_ session: SeenSession) -> Request {
        Request(call: .join, method: .POST, path: session.path, body: ["leave": true])
    }

    private func place(named name: String) -> JSONValue {
        ["latitude": .number("\(place.latitude)"), "longitude": .number("\(place.longitude)"), "name": .string(name)]
    }

    private func idle(_ known: StudyKnowledge, _ random: inout SeededGenerator) -> Request {
        guard Int.random(in: 0..<100, using: &random) < 90, let session = known.seen.randomElement(using: &random) else {
            return start(random: &random)
        }
        return join(session)
    }

    private func attending(_ session: SeenSession, _ random: inout SeededGenerator) -> Request {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<50: return post(to: session, &random)
        case ..<85: return Request(call: .posts, method: .GET, path: session.path + "/posts?limit=20")
        default: return Request(call: .leave, method: .DELETE, path: session.path)
        }
    }

    private func hosting(_ session: SeenSession, _ random: inout SeededGenerator) -> Request {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<60: return Request(call: .position, method: .POST, path: session.path + "/position", body: position)
        case ..<85: return post(to: session, &random)
        case ..<95:
            let topic = JSONValue.string("Chapter \(Int.random(in: 1...20, using: &random))")
            return Request(call: .edit, method: .PUT, path: session.path, body: ["topics": [topic]])
        default: return Request(call: .leave, method: .DELETE, path: session.path)
        }
    }

    private func post(to session: SeenSession, _ random: inout SeededGenerator) -> Request {
        let length = Int.random(in: 10...300, using: &random)
        let sentences = String(repeating: "Does anyone understand exercise four? ", count: length / 38 + 1)
        let text = sentences.prefix(length) + "?"
        return Request(
            call: .post, method: .POST, path: session.path + "/posts", body: ["text": .string(String(text))], hasKey: true)
    }

    // MARK: What the answer says

    /// Learns from an answer.
    func learn(from answer: StudyHub.Answer, to request: Request) {
        knowledge.withLock { known in
            switch (request.call, answer.status) {
            case (.near, 200):
                known.seen = (answer.document["sessions"]?.elements ?? []).compactMap { SeenSession($0["session"]) }
            case (.own, 200):
                known.current = SeenSession(answer.document["current"])
                known.isHost = answer.document["current"]?["host"]?.string == account
            case (.join, 200), (.start, 201):
                known.current = SeenSession(answer.document["session"])
                known.isHost = request.call == .start
            case (.join, 404), (.join, 409):
                known.seen.removeAll { $0.path == request.path }
            case (.leave, 204), (.leave, 404), (.position, 404), (.position, 409), (.post, 404), (.post, 409), (.edit, 409):
                // It has ended.
                known.current = nil
            default: break
            }
        }
    }
}
