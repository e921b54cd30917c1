import Schemas

/// Whether each push about the sessions of a run is in the message log as often as it should be, and at FCM. Pure.
///
/// How often that is follows from what people were answered. What they have asked for without an answer, what happened shortly before the
/// end of a session, and sessions during which the machine's clock was set, only bound it from above: the push may have expired.
struct StudyPushes: Sendable {
    private struct Place: Hashable {
        let kind: PushKind
        let session: ObjectID
        let account: String
    }

    private(set) var problems: [String] = []
    private let counts: [Place: Int]
    private let evidence: StudyEvidence

    /// A session without its clock or its end in doubt is told of within this time, in milliseconds.
    private static let margin: Int64 = 60_000
    private static let minMinutesWithWarning = 15

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

    /// Checks how many pushes of a kind about a session are for an account.
    private mutating func expect(
        _ kind: PushKind, about session: PastSession, for account: String, _ least: Int, _ most: Int
    ) {
        let found = count(kind, session, account)
        guard found < least || found > most else { return }
        let expected = least == most ? "\(least)" : "\(least) to \(most)"
        problems.append("\(account) got \(found) pushes \(kind) about \(session.id), expected \(expected)")
    }

    private mutating func judge(_ session: PastSession, _ record: StudyRecords.Session, _ starter: String) {
        let isCertain = !isDisturbed(session, record)
        let hosts = Set([starter]).union(record.handOvers.filter { $0.value.possible > 0 }.keys)
        // Nobody else can get anything about it.
        let known = record.visitors.union(hosts).union(evidence.announced).union(record.invites.keys)
        let there = stayed(record, starter)
        for account in known.sorted() {
            let isAnnounced = evidence.announced.contains(account) && account != starter
            expect(.sessionNew, about: session, for: account, isAnnounced && isCertain ? 1 : 0, isAnnounced ? 1 : 0)
            let wasThere = record.visitors.contains(account) || hosts.contains(account)
            judgeEnd(session, record, account, isThere: there.contains(account) && isCertain, wasThere: wasThere)
            judgeInvitations(session, record, account)
            judgePosts(session, record, account, isThere: there.contains(account) && isCertain, wasThere: wasThere)
        }
        judgeJoins(session, record, starter, hosts, isCertain: isCertain)
        for place in counts.keys where place.session == session.id && !known.contains(place.account) {
            problems.append("\(place.account) got a push \(place.kind) about \(session.id), in which they have no part")
        }
    }

    /// Who was there until the end, or has hosted it without being there.
    private func stayed(_ record: StudyRecords.Session, _ starter: String) -> Set<String> {
        let staysAsHost = record.attends || record.handOvers.allSatisfy { $0.value.possible == 0 }
        return record.joined.union(staysAsHost ? [starter] : []).subtracting(record.leavers).subtracting(record.enders)
    }

    /// Whether the machine's clock was set while the session was open, or shortly afterwards.
    private func isDisturbed(_ session: PastSession, _ record: StudyRecords.Session) -> Bool {
        let time = record.begun - Self.margin...max(record.begun, session.ended.rawValue) + Self.margin
        return evidence.steps.contains { $0.overlaps(time) }
    }

    /// Whether it has ended so long before its planned end that no push about it has expired on its way.
    private func isEarly(_ session: PastSession, _ record: StudyRecords.Session) -> Bool {
        let planned = session.starts.rawValue + Int64(record.minutes.min() ?? 0) * 60_000
        return !isDisturbed(session, record) && session.ended.rawValue < planned - StudyVerdict.pushTime
    }

    private mutating func judgeEnd(
        _ session: PastSession, _ record: StudyRecords.Session, _ account: String, isThere: Bool, wasThere: Bool
    ) {
        expect(.sessionEnded, about: session, for: account, isThere ? 1 : 0, wasThere ? 1 : 0)
        // The one who has ended it is not told.
        let ender =
            switch session.reason {
            case .host: session.host.account?.description
            case .staff: record.enders.count == 1 ? record.enders.first : nil
            default: String?.none
            }
        if ender == account { expect(.sessionEnded, about: session, for: account, 0, 0) }
        let isLong = (record.minutes.max() ?? 0) >= Self.minMinutesWithWarning
        expect(.sessionEnding, about: session, for: account, 0, isLong && wasThere ? 1 : 0)
    }

    /// Each person to whom it was handed over, or who was invited, is told.
    private mutating func judgeInvitations(_ session: PastSession, _ record: StudyRecords.Session, _ account: String) {
        let isEarly = isEarly(session, record)
        let handOvers = record.handOvers[account] ?? StudyRecords.Count()
        expect(.sessionHost, about: session, for: account, isEarly ? handOvers.certain : 0, handOvers.possible)
        let invites = record.invites[account] ?? StudyRecords.Count()
        expect(.sessionInvite, about: session, for: account, isEarly ? invites.certain : 0, invites.possible)
    }

    /// The host is told of everybody who comes for the first time.
    private mutating func judgeJoins(
        _ session: PastSession, _ record: StudyRecords.Session, _ starter: String, _ hosts: Set<String>, isCertain: Bool
    ) {
        let came = session.attendants.filter { !record.attends || $0.person.account?.description != starter }
        let planned = session.starts.rawValue + Int64(record.minutes.min() ?? 0) * 60_000
        let early = came.filter { $0.joined.rawValue < planned - StudyVerdict.pushTime }
        let found = counts.filter { $0.key.session == session.id && $0.key.kind == .sessionJoin }
        let total = found.values.reduce(0, +)
        if total > came.count || total < (isCertain ? early.count : 0) {
            problems.append("\(total) pushes tell that \(came.count) persons have joined \(session.id)")
        }
        for place in found.keys where !hosts.contains(place.account) {
            problems.append("\(place.account) was told of who has joined \(session.id), and has never hosted it")
        }
    }

    /// The first post is told at once, and later ones at most once a minute. Nobody is told of their own posts alone.
    private mutating func judgePosts(
        _ session: PastSession, _ record: StudyRecords.Session, _ account: String, isThere: Bool, wasThere: Bool
    ) {
        let posts = evidence.posts[session.id] ?? []
        let hasOthers = posts.contains { $0.author?.description != account }
        let minutes = max(0, (session.ended.rawValue - session.starts.rawValue) / 60_000)
        let joined = session.attendants.first { $0.person.account?.description == account }?.joined
        let first = posts.min { $0.at < $1.at }
        let knows = isThere && isEarly(session, record) && joined != nil
        let isTold = knows && first.map { $0.author?.description != account && $0.at > (joined ?? .max) } ?? false
        expect(.sessionPost, about: session, for: account, isTold ? 1 : 0, hasOthers && wasThere ? Int(minutes) + 2 : 0)
    }

    /// What the message log says that FCM has accepted is at FCM, and FCM has nothing else.
    private mutating func judgeDelivery() {
        for push in evidence.pushes {
            let what = "the push \(push.kind) about \(push.session) for \(push.account)"
            if !push.hasEnded { problems.append("\(what) has no end") }
            if push.state == .failed { problems.append("\(what) has failed") }
            if push.state == .accepted, !evidence.names.contains(push.name ?? "") { problems.append("FCM does not have \(what)") }
        }
        let logged = Set(
            counts.keys.map { StudyEvidence.Arrival(kind: "\($0.kind)", session: "\($0.session)", account: $0.account) })
        let strays = Set(evidence.arrivals.filter { $0.kind.hasPrefix("session_") }).subtracting(logged)
        problems += strays.map { "the phone of \($0.account) got a push \($0.kind) about \($0.session), which is not logged" }
    }
}
