import Schemas

/// Whether each push about the sessions of a run is in the message log as often as it should be, and at FCM. Pure.
///
/// How often that is follows from what people were answered. What they have asked for without an answer only bounds it from above. If the
/// machine's clock was set, some pushes are not expected for certain: see ``mayBeLate(_:)`` and ``isSteady(_:_:until:)``.
struct StudyPushes: Sendable {
    private struct Place: Hashable {
        let kind: PushKind
        let session: ObjectID
        /// Empty if it is forgotten: see ``StudyEvidence/Push/account``.
        let account: String
    }

    private(set) var problems: [String] = []
    /// How many pushes phones have got in addition to those that the message log has.
    private(set) var doubled = 0
    private let counts: [Place: Int]
    private let evidence: StudyEvidence

    /// That something is due is noticed within this time, in milliseconds, even if the service is away for a while.
    private static let margin: Int64 = 60_000
    /// By how much the clock is set, and how long an end is worth a push, in milliseconds.
    private static let hour: Int64 = 3_600_000
    private static let minMinutesWithWarning = 15
    /// How long before the end of a session its attendants are told, in milliseconds.
    private static let warning: Int64 = 600_000

    init(_ evidence: StudyEvidence) {
        self.evidence = evidence
        counts = Dictionary(
            evidence.pushes.map { (Place(kind: $0.kind, session: $0.session, account: $0.account), 1) }, uniquingKeysWith: +)
        for session in evidence.past.values {
            guard let record = evidence.records.sessions[session.id], let starter = record.starter else { continue }
            judge(session, record, starter)
        }
        judgeDelivery()
    }

    private func count(_ kind: PushKind, _ session: PastSession, _ account: String) -> Int {
        counts[Place(kind: kind, session: session.id, account: account)] ?? 0
    }

    /// Checks how many pushes of a kind about a session are for an account. One whose account is forgotten may be for any.
    private mutating func expect(
        _ kind: PushKind, about session: PastSession, for account: String, _ least: Int, _ most: Int
    ) {
        let found = count(kind, session, account)
        let forgotten = count(kind, session, "")
        guard found + forgotten < least || found > most else { return }
        let expected = least == most ? "\(least)" : "\(least) to \(most)"
        problems.append("\(account) got \(found) pushes \(kind) about \(session.id), expected \(expected)")
    }

    private mutating func judge(_ session: PastSession, _ record: StudyRecords.Session, _ starter: String) {
        let hosts = Set([starter]).union(record.handOvers.filter { $0.value.possible > 0 }.keys)
        // Nobody else can get anything about it.
        let known = record.visitors.union(hosts).union(evidence.announced).union(record.invites.keys)
        let there = stayed(record, starter)
        for account in known.sorted() {
            let announcements = evidence.announced.contains(account) && account != starter ? 1 : 0
            expect(.sessionNew, about: session, for: account, announcements, announcements)
            let wasThere = record.visitors.contains(account) || hosts.contains(account)
            let isThere = there.contains(account)
            judgeEnd(session, record, account, isThere: isThere, wasThere: wasThere)
            judgeInvitations(session, record, account)
            judgePosts(session, record, account, isThere: isThere, wasThere: wasThere)
        }
        judgeJoins(session, record, starter, hosts)
        for place in counts.keys where place.session == session.id && !known.contains(place.account) && !place.account.isEmpty {
            problems.append("\(place.account) got a push \(place.kind) about \(session.id), in which they have no part")
        }
    }

    /// Who was there until the end, or has hosted it without being there.
    private func stayed(_ record: StudyRecords.Session, _ starter: String) -> Set<String> {
        let staysAsHost = record.attends || record.handOvers.allSatisfy { $0.value.possible == 0 }
        return record.joined.union(staysAsHost ? [starter] : []).subtracting(record.leavers).subtracting(record.enders)
    }

    private func wasSet(during time: ClosedRange<Int64>) -> Bool { evidence.steps.contains { $0.overlaps(time) } }

    /// Whether the service's clock was right from the start of a session to a moment by that clock.
    private func isSteady(_ session: PastSession, _ record: StudyRecords.Session, until moment: UnixMilliseconds) -> Bool {
        let begun = record.begun
        // Otherwise it was started while the clock was an hour ahead or behind.
        guard session.starts.rawValue >= begun, session.starts.rawValue < begun + Self.hour / 2 else { return false }
        return moment >= session.starts && !wasSet(during: begun...moment.rawValue)
    }

    /// Whether its end may have been noticed so late that nobody is told any more: the clock was set an hour ahead before.
    private func mayBeLate(_ session: PastSession) -> Bool {
        guard [.time, .left].contains(session.reason) else { return false }
        // The second time is that of a session of a clock that was an hour behind.
        return [session.ended.rawValue, session.ended.rawValue + Self.hour].contains { wasSet(during: $0...$0 + Self.margin) }
    }

    /// When somebody came first.
    private func arrival(_ account: String, at session: PastSession) -> UnixMilliseconds? {
        session.attendants.first { $0.person.account?.description == account }?.joined
    }

    private mutating func judgeEnd(
        _ session: PastSession, _ record: StudyRecords.Session, _ account: String, isThere: Bool, wasThere: Bool
    ) {
        let isTold = isThere && !mayBeLate(session)
        expect(.sessionEnded, about: session, for: account, isTold ? 1 : 0, wasThere ? 1 : 0)
        // The one who has ended it is not told.
        let ender =
            switch session.reason {
            case .host: session.host.account?.description
            case .staff: record.enders.count == 1 ? record.enders.first : nil
            default: String?.none
            }
        if ender == account { expect(.sessionEnded, about: session, for: account, 0, 0) }
        let isLong = (record.minutes.max() ?? 0) >= Self.minMinutesWithWarning
        let warnings = isThere && isWarned(session, record, account) ? 1 : 0
        expect(.sessionEnding, about: session, for: account, warnings, isLong && wasThere ? 1 : 0)
    }

    /// Whether an attendant who has stayed was there when the attendants had to be told that it ends soon.
    private func isWarned(_ session: PastSession, _ record: StudyRecords.Session, _ account: String) -> Bool {
        guard record.minutes.count == 1, let minutes = record.minutes.first, minutes >= Self.minMinutesWithWarning,
            let joined = arrival(account, at: session)
        else { return false }
        let time = session.starts.rawValue + Int64(minutes) * 60_000 - Self.warning
        let noticed = UnixMilliseconds(rawValue: time + Self.margin)
        guard session.ended > noticed, isSteady(session, record, until: noticed) else { return false }
        return joined >= session.starts && joined.rawValue < time
    }

    /// Each person to whom it was handed over, or who was invited, is told.
    private mutating func judgeInvitations(_ session: PastSession, _ record: StudyRecords.Session, _ account: String) {
        let handOvers = record.handOvers[account] ?? StudyRecords.Count()
        expect(.sessionHost, about: session, for: account, handOvers.certain, handOvers.possible)
        let invites = record.invites[account] ?? StudyRecords.Count()
        expect(.sessionInvite, about: session, for: account, invites.certain, invites.possible)
    }

    /// The host is told of everybody who comes for the first time.
    private mutating func judgeJoins(
        _ session: PastSession, _ record: StudyRecords.Session, _ starter: String, _ hosts: Set<String>
    ) {
        let came = session.attendants.count { !record.attends || $0.person.account?.description != starter }
        let found = counts.filter { $0.key.session == session.id && $0.key.kind == .sessionJoin }
        let total = found.values.reduce(0, +)
        if total != came { problems.append("\(total) pushes tell that \(came) persons have joined \(session.id)") }
        for place in found.keys where !hosts.contains(place.account) && !place.account.isEmpty {
            problems.append("\(place.account) was told of who has joined \(session.id), and has never hosted it")
        }
    }

    /// The first post is told at once, and later ones at most once a minute. Nobody is told of their own posts alone.
    private mutating func judgePosts(
        _ session: PastSession, _ record: StudyRecords.Session, _ account: String, isThere: Bool, wasThere: Bool
    ) {
        let posts = evidence.posts[session.id] ?? []
        let hasOthers = posts.contains { $0.author?.description != account }
        // With a clock that was set, some minutes are an hour.
        let minutes = (session.ended.rawValue - session.starts.rawValue) / 60_000
        let most = isSteady(session, record, until: session.ended) ? Int(minutes) + 2 : Int.max
        var isTold = false
        if isThere, let first = posts.min(by: { $0.at < $1.at }), let joined = arrival(account, at: session) {
            isTold =
                first.author?.description != account && joined >= session.starts && joined < first.at
                && isSteady(session, record, until: first.at)
        }
        expect(.sessionPost, about: session, for: account, isTold ? 1 : 0, hasOthers && wasThere ? most : 0)
    }

    /// What the message log says that FCM has accepted is at FCM, and FCM has nothing else that no fault explains.
    private mutating func judgeDelivery() {
        for push in evidence.pushes {
            let what = "the push \(push.kind) about \(push.session) for \(push.account)"
            if !push.hasEnded { problems.append("\(what) has no end") }
            if push.state == .failed { problems.append("\(what) has failed") }
            if push.state == .accepted, !evidence.names.contains(push.name ?? "") { problems.append("FCM does not have \(what)") }
        }
        let logged = Dictionary(grouping: evidence.pushes) { push in
            StudyEvidence.Arrival.Place(kind: "\(push.kind)", session: "\(push.session)", account: push.account)
        }
        for (place, copies) in Dictionary(grouping: evidence.arrivals, by: \.place) {
            judge(copies, at: place, logged[place] ?? [])
        }
    }

    /// A phone has each push once, under the name that the message log knows. Another copy is of a push whose outcome was lost, and that was
    /// sent again, or of one that has expired on its way to FCM.
    private mutating func judge(
        _ copies: [StudyEvidence.Arrival], at place: StudyEvidence.Arrival.Place, _ logged: [StudyEvidence.Push]
    ) {
        let what = "the phone of \(place.account) got a push \(place.kind) about \(place.session)"
        guard !logged.isEmpty else { return problems.append("\(what), which is not logged") }
        doubled += max(0, copies.count - logged.count)
        let names = Set(logged.compactMap(\.name))
        let unexplained = copies.filter { copy in
            !names.contains(copy.name)
                && !PushInFlight(received: copy.received, storing: evidence.storing).canBeDoubled(by: evidence.injectedFaults)
        }
        let expired = logged.count { $0.state == .expired }
        for copy in unexplained.sorted(by: { $0.received < $1.received }).dropFirst(expired) {
            problems.append(
                "unexplained: \(what) as \(copy.name), at FCM at \(copy.received): \(copies.count) are at FCM, and \(logged.count) "
                    + "are logged")
        }
    }
}
