import Base
import Schemas
import Store
import TestSupport
import Testing

@testable import Study

/// What happens in the same moment on two instances of the service: one consistent state each time.
@Suite("Sessions on two instances", .timeLimit(.minutes(240)))
struct SessionRaceTests {
    private static let workers = 4
    /// Seeds that have a database of their own: the tests' server of MongoDB reads a whole collection for each query of a transaction.
    private static let batch = 5

    /// How many random orders there are. In level one MongoDB's server, which the tests share, has a fifth of them: each kind of seed six
    /// times.
    private static func seeds(of kind: StoreKind) -> Int {
        Level.isAll ? 10_000 : kind == .sqlite ? 300 : 60
    }

    /// How often each of the other tests is repeated, with another class.
    private static func rounds(of kind: StoreKind) -> Int {
        Level.isAll || kind == .sqlite ? 10 : 5
    }

    @Test(
        "Random orders of simultaneous joins, leaves, hand-overs and ends, some while sessions end by the clock, leave one consistent state",
        arguments: StoreKind.allCases)
    func anyOrder(kind: StoreKind) async throws {
        let seeds = Self.seeds(of: kind)
        _ = try await concurrently(Self.workers) { worker in
            for batch in stride(from: worker * Self.batch, to: seeds, by: Self.workers * Self.batch) {
                try await TwoInstances.with(kind) { pair in
                    for seed in batch..<min(batch + Self.batch, seeds) { try await Self.race(seed, on: pair) }
                }
            }
        }
    }

    /// In some seeds the persons are in two classes. Others begin a moment before sessions end by their time, or because their hosts
    /// have left, and one act lets that moment pass.
    private static func race(_ seed: Int, on pair: TwoInstances) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let first = try await pair.group(named: "\(seed)")
        var groups = [first]
        if seed % 10 == 4 { groups.append(try await pair.group(named: "\(seed)-more", beside: first)) }
        var acts = (0..<first.persons.count).map { _ in
            (0..<3).map { _ in
                let group = Int.random(in: 0..<groups.count, using: &random)
                return (group: group, act: RaceAct.random(in: groups[group], using: &random))
            }
        }
        if [1, 3, 6, 8].contains(seed % 10) {
            try await pair.wait(untilEndIn: first, byTime: seed % 10 > 5)
            let (person, turn) = (Int.random(in: acts.indices, using: &random), Int.random(in: 0..<3, using: &random))
            acts[person][turn].act = .pass(pair.clock)
        }
        try await concurrently(acts.count) { [acts, groups] person in
            for (group, act) in acts[person] { try await act.perform(in: groups[group], on: pair.instances[person % 2]) }
        }
        // Who were in sessions of two classes would know of one alone, which is a problem of the other class.
        for group in groups {
            let problems = try await pair.problems(in: group.classID)
            #expect(problems == [], "seed \(seed)")
        }
    }

    @Test("Of two joins of one person in the same moment, one succeeds", arguments: StoreKind.allCases)
    func onePersonTwice(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            for round in 0..<Self.rounds(of: kind) {
                let group = try await pair.group(named: "two-\(round)")
                let successes = try await concurrently(2) { number in
                    try await RaceAct.join(4, session: number, leave: false).perform(in: group, on: pair.instances[number])
                }
                #expect(successes.count { $0 } == 1)
                #expect(try await pair.problems(in: group.classID) == [])
            }
        }
    }

    @Test("The last places are given once each", arguments: StoreKind.allCases)
    func lastPlaces(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            for round in 0..<Self.rounds(of: kind) {
                let group = try await pair.group(named: "places-\(round)")
                // The first session has its host, and room for two more.
                let successes = try await concurrently(4) { number in
                    let person = [0, 3, 4, 5][number]
                    return try await RaceAct.join(person, session: 0, leave: true)
                        .perform(in: group, on: pair.instances[number % 2])
                }
                #expect(successes.count { $0 } == 2)
                #expect(try await pair.problems(in: group.classID) == [])
            }
        }
    }

    @Test("No session is open in a class that was closed while it began", arguments: StoreKind.allCases)
    func closing(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            for round in 0..<Self.rounds(of: kind) {
                let group = try await pair.group(named: "closing-\(round)")
                let acts = [RaceAct.close, .start(4, leave: true), .start(5, leave: true)]
                try await concurrently(acts.count) { number in
                    try await acts[number].perform(in: group, on: pair.instances[number % 2])
                }
                #expect(try await pair.problems(in: group.classID) == [])
                let open = try await pair.instances[0].store.snapshot { try $0.openSessions(of: group.classID) }
                #expect(open.isEmpty)
            }
        }
    }

    @Test("Not more sessions begin than a class may have", arguments: StoreKind.allCases)
    func limit(kind: StoreKind) async throws {
        try await TwoInstances.with(kind, rules: .limited(sessions: 4)) { pair in
            for round in 0..<Self.rounds(of: kind) {
                let group = try await pair.group(named: "limit-\(round)")
                // There are three.
                let successes = try await concurrently(2) { number in
                    try await RaceAct.start(number + 4, leave: false).perform(in: group, on: pair.instances[number])
                }
                #expect(successes.count { $0 } == 1)
            }
        }
    }

    @Test("Who leaves the class in the moment in which they join a session is not in it", arguments: StoreKind.allCases)
    func leavingTheClass(kind: StoreKind) async throws {
        try await TwoInstances.with(kind) { pair in
            for round in 0..<Self.rounds(of: kind) {
                let group = try await pair.group(named: "leaving-\(round)")
                let acts = [RaceAct.join(4, session: 0, leave: false), .leaveClass(4)]
                try await concurrently(acts.count) { number in
                    try await acts[number].perform(in: group, on: pair.instances[number])
                }
                #expect(try await pair.problems(in: group.classID) == [])
                let sessions = try await pair.instances[0].store.snapshot { try $0.openSessions(of: group.classID) }
                #expect(!sessions.contains { $0.attends(group.persons[4].key) })
            }
        }
    }
}
