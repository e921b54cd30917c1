import Schemas
import Synchronization

/// What the people of a run have done with sessions and posts: what they were answered, and what they have asked for without an answer.
struct StudyRecords: Sendable {
    struct Session: Hashable, Sendable {
        /// Whoever has started it, whether that person attends it, and when, by a clock that is right; `nil` before the answer.
        var starter: String?
        var attends = true
        var begun: Int64 = 0
        /// The planned durations that it has had, or may have had, in minutes.
        var minutes: Set<Int> = []
        /// Who has joined it, by the answers, and who may have.
        var joined: Set<String> = []
        var visitors: Set<String> = []
        /// Who has asked to leave it, in whatever way, and who has asked for its end.
        var leavers: Set<String> = []
        var enders: Set<String> = []
        /// To whom it was handed over, and how often: by the answers, and at most.
        var handOvers: [String: Count] = [:]
        /// Who was invited.
        var invites: [String: Count] = [:]
        /// When it ends because its host is outside, by the answers to the host's reports.
        var endsByLeaving: Set<UnixMilliseconds> = []
        /// Whether it is not known what such a report was answered.
        var hasOpenReport = false
        /// The latest end by such an answer, if no later report came from inside and nobody else has hosted it since.
        var mustEndBy: UnixMilliseconds?
    }

    /// How often something was done: by the answers, and at most.
    struct Count: Hashable, Sendable {
        var certain = 0
        var possible = 0

        /// An earlier attempt without an answer may have done it as well.
        mutating func add(isDone: Bool, _ answer: DefiniteAnswer) {
            if isDone { certain += 1 }
            possible += (isDone ? 1 : 0) + (answer.isRepeated ? 1 : 0)
        }
    }

    struct Post: Hashable, Sendable {
        let session: ObjectID
        let author: String
        /// Its id, once it was answered.
        var id: ObjectID?
        /// Who has asked for its removal, and whether that was answered.
        var removers: Set<String> = []
        var isRemoved = false
    }

    var sessions: [ObjectID: Session] = [:]
    /// By their texts, each of which is sent once.
    var posts: [String: Post] = [:]
    /// How often people have done something, each time after a look at their own sessions.
    var turns = 0
    /// How often they have asked for something, whatever was answered.
    var tries: [StudyVariety.Kind: Int] = [:]
    /// How many answers have shown several open sessions of one moment.
    var compared = 0
    /// What no answer may say.
    var problems: [String] = []
}

/// The records of a run, which all of its people write.
final class StudyLedger: Sendable {
    private static let maxProblems = 100

    private let state = Mutex(StudyRecords())

    var records: StudyRecords { state.withLock(\.self) }

    func note(_ change: (inout StudyRecords) -> Void) { state.withLock { change(&$0) } }

    func note(_ id: ObjectID, _ change: (inout StudyRecords.Session) -> Void) {
        state.withLock { change(&$0.sessions[id, default: StudyRecords.Session()]) }
    }

    func complain(_ problem: String) {
        state.withLock { if $0.problems.count < Self.maxProblems { $0.problems.append(problem) } }
    }

    /// Somebody is about to ask for something.
    func tries(_ kind: StudyVariety.Kind) { note { $0.tries[kind, default: 0] += 1 } }

    /// Somebody is about to do what leaves sessions, or ends those that they host.
    func leaves(_ account: String, sessions: [ObjectID]) {
        for id in sessions {
            note(id) { session in
                session.leavers.insert(account)
                session.enders.insert(account)
            }
        }
    }

    /// A post that is not known to be removed, and that a predicate accepts.
    func post(where accepts: (StudyRecords.Post) -> Bool, using random: inout some RandomNumberGenerator) -> (
        text: String, id: ObjectID, session: ObjectID
    )? {
        let posts = records.posts.filter { $0.value.id != nil && !$0.value.isRemoved && accepts($0.value) }
        guard let (text, post) = posts.sorted(by: { $0.key < $1.key }).randomElement(using: &random), let id = post.id else {
            return nil
        }
        return (text, id, post.session)
    }
}
