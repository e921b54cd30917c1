import Schemas
import TestSupport

/// Whether so much has happened in a run that its verdict says something. Pure.
///
/// A run with many turns in ten minutes has everything, with a seed by which the clock is not set ahead for six minutes, such as 8261. How
/// much a shorter one has depends on the machine. There it is only a problem if people have asked for something often, and it has never
/// happened.
struct StudyVariety: Sendable {
    /// What happens, by its name in the report.
    enum Kind: String, CaseIterable, Sendable {
        case sessions
        case byTime = "by_time"
        case left
        case handedOver = "handed_over"
        case joined, posts, arrived, compared
    }

    /// How long people study, and how often at most.
    struct Plan: Sendable {
        let length: Duration
        let people: Int
        /// The time between two turns of a person. With the faults and the requests it is longer.
        let period: Duration

        var turns: Int { people * Int(length / period) }
    }

    /// How often it has happened.
    let counts: [Kind: Int]
    private(set) var problems: [String] = []

    private static let minLength = Duration.seconds(60)
    private static let lengthOfAll = Duration.seconds(600)
    private static let turnsOfAll = 10_000

    init(_ evidence: StudyEvidence) {
        counts = Dictionary(uniqueKeysWithValues: Kind.allCases.map { ($0, $0.count(in: evidence)) })
        guard let plan = evidence.plan, plan.length >= Self.minLength else { return }
        if evidence.records.turns < plan.people {
            problems.append("\(plan.people) people study, and have done something only \(evidence.records.turns) times")
        }
        let hasAll = plan.length >= Self.lengthOfAll && plan.turns >= Self.turnsOfAll
        for kind in Kind.allCases where counts[kind] == 0 {
            let tries = kind.tries(in: evidence)
            guard hasAll || tries >= kind.minTries else { continue }
            problems.append(
                "\(kind.absence) (tried \(tries) times by \(plan.people) people within \(plan.length.inSeconds)), so the run proves "
                    + "nothing about it")
        }
    }

    /// The figures for the report.
    var summary: String { Kind.allCases.map { "\($0.rawValue)=\(counts[$0] ?? 0)" }.joined(separator: " ") }
}

extension StudyVariety.Kind {
    /// So often something is not tried without any success: mostly at least every second time succeeds. Pushes expire together if the
    /// machine's clock is set.
    fileprivate var minTries: Int { self == .arrived ? 50 : 20 }

    fileprivate func count(in evidence: StudyEvidence) -> Int {
        let records = evidence.records.sessions.values
        return switch self {
        case .sessions: evidence.past.count
        case .byTime:
            // A clock that is set ahead ends all sessions, and one that was behind those that have begun with it.
            evidence.past.values.count {
                $0.reason == .time
                    && MachineClock(evidence.injectedFaults).wasNeverAhead(during: $0.starts.rawValue...$0.ended.rawValue)
            }
        case .left: evidence.past.values.count { $0.reason == .left }
        case .handedOver: records.flatMap(\.handOvers.values).reduce(0) { $0 + $1.certain }
        case .joined: records.reduce(0) { $0 + $1.joined.count }
        case .posts: evidence.posts.values.reduce(0) { $0 + $1.count }
        case .arrived: evidence.arrivals.count
        case .compared: evidence.records.compared
        }
    }

    /// How often it should have happened, or might have. Nobody can ask for a session's end by its time.
    fileprivate func tries(in evidence: StudyEvidence) -> Int {
        self == .arrived ? evidence.pushes.count : evidence.records.tries[self] ?? 0
    }

    /// That it has not happened.
    fileprivate var absence: String {
        switch self {
        case .sessions: "nobody has started a session"
        case .byTime: "no session has ended by its time"
        case .left: "no session has ended because its host had left"
        case .handedOver: "no session was handed over"
        case .joined: "nobody has joined a session"
        case .posts: "no post was stored"
        case .arrived: "no push about a session has arrived at a phone"
        case .compared: "no answer has shown two open sessions"
        }
    }
}
