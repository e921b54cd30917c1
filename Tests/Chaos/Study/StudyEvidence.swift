import Base
import Bus
import Schemas
import TestSupport

/// What the hub says at the end of a run about the people who studied, and what they had been answered.
struct StudyEvidence: Sendable {
    /// A push for one person, from the message log.
    struct Push: Hashable, Sendable {
        let kind: PushKind
        /// The session that it is about.
        let session: ObjectID
        /// Empty if the message log has forgotten it: the push has expired before its person's devices were known.
        let account: String
        let state: DeliveryState
        /// FCM's name for it; `nil` if FCM has not accepted it.
        var name: String?
        /// Whether nothing more is tried.
        var hasEnded = true
    }

    /// A push about a session that a phone has got, by the emulator's archive.
    struct Arrival: Hashable, Sendable {
        /// What the phone cannot tell apart.
        struct Place: Hashable, Sendable {
            let kind: String
            let session: String
            /// Each has one phone.
            let account: String
        }

        let place: Place
        /// FCM's name for it.
        let name: String
        /// When FCM accepted it, in Unix milliseconds.
        let received: Int64
    }

    /// When the machine's clock was set, in Unix milliseconds.
    var steps: [ClosedRange<Int64>]
    var injectedFaults: [InjectedFault] = []
    /// How long the database may take to store what a relay has answered, in milliseconds.
    var storing: Int64 = 0
    /// `nil` if no variety is expected.
    var plan: StudyVariety.Plan?
    var records = StudyRecords()
    /// Those that were open when everybody had stopped.
    var open: [StudySession] = []
    /// All sessions, which have ended by then.
    var past: [ObjectID: PastSession] = [:]
    /// The posts by their sessions, as the professor sees them, and as one of the people who were there.
    var posts: [ObjectID: [SessionPost]] = [:]
    var publicPosts: [ObjectID: [SessionPost]] = [:]
    /// Who gets pushes about new sessions.
    var announced: Set<String> = []
    /// The accounts by the registration tokens of their phones, and by the ids of their devices.
    var phones: [String: String] = [:]
    var devices: [String: String] = [:]
    var pushes: [Push] = []
    var arrivals: [Arrival] = []
    /// FCM's names of all sends that it has accepted.
    var names: Set<String> = []
    var problems: [String] = []
}

/// Reading it from the hub, when nobody changes anything any more.
extension StudyEvidence {
    /// How often the open sessions and those of each person are read until they agree: a session may end by itself in between.
    private static let readings = 3

    /// Reads what is open, from both sides.
    mutating func readOpen(of classes: [TestClass], by people: [StudyPerson]) async throws {
        var problems: [String] = []
        for _ in 0..<Self.readings {
            problems = []
            var current: [String: ObjectID] = [:]
            for person in people {
                guard let answer = await person.person.read("/user/sessions"), answer.status == 200 else {
                    problems.append("the sessions of \(person.account) cannot be read")
                    continue
                }
                let own = try JSONCoder.decode(ReadOwnSessions.Reply.self, from: answer.body)
                current[person.account] = own.current?.id
            }
            open = []
            for group in classes {
                guard let answer = await people.first?.person.read(group.sessions), answer.status == 200 else { continue }
                let listed = try JSONCoder.decode(ListSessions.Reply.self, from: answer.body)
                problems += listed.sessions.compactMap { StudyPerson.problem(with: $0, at: listed.now) }
                open += listed.sessions
            }
            problems += Self.differences(open, current)
            if problems.isEmpty { break }
        }
        self.problems += problems
    }

    /// Each person is in at most one session, and the sessions and the persons agree on it.
    static func differences(_ open: [StudySession], _ current: [String: ObjectID]) -> [String] {
        var problems = DoubleAttendance.all(in: open).map(\.description).sorted()
        var found: [String: ObjectID] = [:]
        for session in open {
            for account in session.attendants { found["\(account)"] = session.id }
        }
        for account in Set(found.keys).union(current.keys).sorted() where found[account] != current[account] {
            let (one, other) = (found[account].map { "\($0)" } ?? "none", current[account].map { "\($0)" } ?? "none")
            problems.append("\(account) is in \(one) by the lists, and in \(other) by what they see themselves")
        }
        return problems
    }

    /// Reads the sessions of a class that have ended, with their posts.
    mutating func readPast(of group: TestClass, by professor: RunStudent, and people: [StudyPerson]) async throws {
        let known = Dictionary(uniqueKeysWithValues: people.map { ($0.account, $0.person) })
        for session in try await professor.all("sessions", at: group.sessions + "/past?limit=100", as: PastSession.self) {
            past[session.id] = session
            let path = "\(group.sessions)/\(session.id)/posts?limit=100"
            posts[session.id] = try await professor.all("posts", at: path, as: SessionPost.self)
            let witnesses = session.attendants.compactMap { $0.person.account.flatMap { known[$0.description] } }
            // The professor sees more than the others.
            guard let witness = witnesses.first(where: { $0.account != professor.account }) else { continue }
            publicPosts[session.id] = try await witness.all("posts", at: path, as: SessionPost.self)
        }
    }

    /// Reads the pushes that the message log has of the study service, and what came of them.
    ///
    /// - Parameter sends: Every send that FCM has accepted.
    mutating func readPushes(of messageLogs: CommandClient, _ sends: [JSONValue]) async throws {
        pushes = []
        for digit in "0123456789abcdef" {
            var next: String?
            repeat {
                let page = try await messageLogs.request(
                    ListPushes(sender: "study", keyPrefix: String(digit), after: next), timeout: .seconds(60))
                for summary in page.pushes {
                    let push = try await messageLogs.request(GetPush(pushID: summary.pushID), timeout: .seconds(60))
                    read(push)
                }
                next = page.next
            } while next != nil
        }
        names = Set(sends.compactMap { $0["name"]?.string })
        arrivals = sends.compactMap { send in
            guard let message = send["body"]?["message"], let kind = message["data"]?["person_kind"]?.string,
                kind.hasPrefix("session_"), let session = message["data"]?["person_id"]?.string,
                let account = message["token"]?.string.flatMap({ phones[$0] }), let name = send["name"]?.string,
                let received = send["received_at"]?.integer
            else { return nil }
            return Arrival(place: .init(kind: kind, session: session, account: account), name: name, received: received)
        }
    }

    private mutating func read(_ push: Schemas.Push) {
        guard let content = push.person, let session = ObjectID(content.push.id) else {
            return problems.append("a push of the study service is about \(push.person?.push.id ?? "nobody")")
        }
        for record in push.relay.recipients {
            let device = record.recipient.device.flatMap { devices["\($0)"] }
            let forgotten: String? = record.recipient.field == .account ? "" : nil
            guard let account = device ?? record.recipient.account?.description ?? forgotten else {
                problems.append("a push goes to \(record.recipient), whom nobody knows")
                continue
            }
            pushes.append(
                Push(
                    kind: content.kind, session: session, account: account, state: record.state, name: record.name,
                    hasEnded: push.relay.nextAttempt == nil))
        }
    }
}
