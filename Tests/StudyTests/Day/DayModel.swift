import Base
import Schemas

/// What should be so in a simulated day: where everybody is, how each session ends, and who is told what, how often.
///
/// It follows the rules as the API's document has them, and knows nothing of how the service keeps sessions. The simulation
/// calls ``pass(to:)`` at each moment.
struct DayModel {
    /// A push that a person should get.
    struct Push: Hashable {
        let kind: PushKind
        let session: ObjectID
        let account: AccountName
    }

    /// Whether the host is in the area.
    enum Area: Hashable {
        case never, inside
        case outside(since: UnixMilliseconds)
    }

    struct Stay: Hashable {
        let from: UnixMilliseconds
        /// `nil` while it lasts, or if it ended with the session.
        var to: UnixMilliseconds?
    }

    struct News: Hashable {
        /// The authors of the posts that wait.
        var posts: [ObjectID: AccountName]
        let due: UnixMilliseconds

        var authors: Set<AccountName> { Set(posts.values) }
    }

    struct End: Hashable {
        let reason: SessionEnd
        let at: UnixMilliseconds
    }

    struct Session {
        let id: ObjectID
        let classID: ObjectID
        let place: Coordinate
        let starts: UnixMilliseconds
        var ends: UnixMilliseconds
        var host: AccountName
        var area: Area
        /// In the order of their coming.
        var attendants: [AccountName] = []
        var stays: [AccountName: [Stay]] = [:]
        var isWarned = false
        var told: UnixMilliseconds?
        var news: News?
        /// The authors of the posts that were not removed.
        var posts: [ObjectID: AccountName] = [:]
        var invited: Set<AccountName> = []
        var end: End?

        /// The attendants and the host.
        var audience: Set<AccountName> { Set(attendants + [host]) }
    }

    let rules: StudyRules
    private(set) var sessions: [ObjectID: Session] = [:]
    private(set) var openIDs: Set<ObjectID> = []
    /// How often each push should be sent.
    private(set) var pushes: [Push: Int] = [:]
    /// The session in which each person is.
    private(set) var places: [AccountName: ObjectID] = [:]
    /// The persons of each class, and those of them who want to know of new sessions.
    var members: [ObjectID: [AccountName]] = [:]
    var announcing: [ObjectID: Set<AccountName>] = [:]

    private static let warning = Milliseconds.seconds(600)
    private static let minWarned = Milliseconds.seconds(900)
    private static let postPeriod = Milliseconds.seconds(60)

    init(rules: StudyRules) {
        self.rules = rules
    }

    // MARK: What is so

    func current(of account: AccountName) -> Session? { places[account].flatMap { sessions[$0] } }

    /// The open sessions of some classes.
    func openSessions(of classes: [ObjectID]) -> [Session] {
        openIDs.compactMap { sessions[$0] }.filter { classes.contains($0.classID) }
    }

    /// The open sessions that a person hosts without attending them.
    func hosted(by account: AccountName) -> [Session] {
        openIDs.compactMap { sessions[$0] }.filter { $0.host == account && !$0.attendants.contains(account) }
    }

    /// The minutes of a person's stays at a session that has ended.
    func minutes(of account: AccountName, at session: Session) -> Int {
        let end = session.end?.at ?? session.ends
        let stayed = (session.stays[account] ?? []).reduce(Int64(0)) { $0 + (($1.to ?? end) - $1.from).rawValue }
        return Int((stayed + 30_000) / 60_000)
    }

    // MARK: The time

    /// What happens by itself until a moment, at which the service looks.
    mutating func pass(to now: UnixMilliseconds) {
        for id in openIDs {
            guard let session = sessions[id] else { continue }
            if case .outside(let since) = session.area, case let left = since + Milliseconds(rules.grace), left <= now,
                left < session.ends
            {
                end(id, .left, at: left)
            } else if session.ends <= now {
                end(id, .time, at: session.ends)
            } else {
                tellWhatIsDue(at: id, now)
            }
        }
    }

    private mutating func tellWhatIsDue(at id: ObjectID, _ now: UnixMilliseconds) {
        guard var session = sessions[id] else { return }
        if !session.isWarned, session.ends - session.starts >= Self.minWarned, session.ends - Self.warning <= now {
            session.isWarned = true
            push(.sessionEnding, session, to: session.audience)
        }
        if let news = session.news, news.due <= now {
            session.news = nil
            session.told = now
            // With several authors each of them learns of the others' posts.
            let onlyAuthor = news.authors.count == 1 ? news.authors : []
            push(.sessionPost, session, to: session.audience.subtracting(onlyAuthor))
        }
        sessions[id] = session
    }

    private mutating func push(_ kind: PushKind, _ session: Session, to accounts: some Sequence<AccountName>) {
        for account in accounts { pushes[Push(kind: kind, session: session.id, account: account), default: 0] += 1 }
    }

    // MARK: What people do

    /// - Parameter attends: Whether the host is there.
    mutating func start(_ answer: StudySession, at place: Coordinate, attends: Bool) {
        let host = answer.host ?? "nobody"
        if attends { leaveCurrent(host, at: answer.starts) }
        var session = Session(
            id: answer.id, classID: answer.classID, place: place, starts: answer.starts, ends: answer.ends, host: host,
            area: attends ? .inside : .never)
        if attends {
            session.attendants = [host]
            session.stays[host] = [Stay(from: answer.starts)]
            places[host] = answer.id
        }
        sessions[answer.id] = session
        openIDs.insert(answer.id)
        push(.sessionNew, session, to: (announcing[answer.classID] ?? []).subtracting([host]))
    }

    /// Why a person cannot join, as the field of the conflict; `nil` if they can.
    func refusal(ofJoining id: ObjectID, by account: AccountName, leave: Bool) -> String? {
        guard let session = sessions[id], session.end == nil else { return "ended" }
        guard places[account] != id else { return nil }
        if places[account] != nil, !leave { return "session" }
        return session.attendants.count < rules.attendants ? nil : "attendants"
    }

    mutating func join(_ account: AccountName, to id: ObjectID, at now: UnixMilliseconds) {
        guard places[account] != id else { return }
        leaveCurrent(account, at: now)
        guard var session = sessions[id] else { return }
        if session.stays[account] == nil, session.host != account { push(.sessionJoin, session, to: [session.host]) }
        session.attendants.append(account)
        session.stays[account, default: []].append(Stay(from: now))
        sessions[id] = session
        places[account] = id
    }

    private mutating func leaveCurrent(_ account: AccountName, at now: UnixMilliseconds) {
        if let current = places[account] { leave(account, from: current, at: now) }
    }

    /// The host ends a session so, and anyone else leaves it.
    mutating func leave(_ account: AccountName, from id: ObjectID, at now: UnixMilliseconds) {
        guard var session = sessions[id], session.end == nil else { return }
        guard session.host != account else { return end(id, .host, at: now, by: account) }
        session.attendants.removeAll { $0 == account }
        if let last = session.stays[account]?.indices.last { session.stays[account]?[last].to = now }
        sessions[id] = session
        places[account] = nil
    }

    mutating func end(_ id: ObjectID, _ reason: SessionEnd, at moment: UnixMilliseconds, by account: AccountName? = nil) {
        guard var session = sessions[id], session.end == nil else { return }
        session.end = End(reason: reason, at: moment)
        session.news = nil
        push(.sessionEnded, session, to: session.audience.filter { $0 != account })
        for attendant in session.attendants { places[attendant] = nil }
        sessions[id] = session
        openIDs.remove(id)
    }

    mutating func handOver(_ id: ObjectID, to account: AccountName) {
        guard var session = sessions[id] else { return }
        session.host = account
        // The next host has to be inside first.
        session.area = .never
        sessions[id] = session
        push(.sessionHost, session, to: [account])
    }

    mutating func move(endOf id: ObjectID, to end: UnixMilliseconds, at now: UnixMilliseconds) {
        guard var session = sessions[id] else { return }
        session.ends = end
        if now + Self.warning < end {
            session.isWarned = false
        } else if !session.isWarned, end - session.starts >= Self.minWarned {
            session.isWarned = true
            // Its host knows.
            push(.sessionEnding, session, to: session.audience.subtracting([session.host]))
        }
        sessions[id] = session
    }

    /// - Returns: What the host is told.
    mutating func report(_ nearness: StudyRules.Nearness, of id: ObjectID, at now: UnixMilliseconds) -> HostPresence? {
        guard var session = sessions[id] else { return nil }
        switch (nearness, session.area) {
        case (.near, _): session.area = .inside
        case (.far, .inside): session.area = .outside(since: now)
        default: break
        }
        sessions[id] = session
        let isInaccurate = nearness == .unknown
        switch session.area {
        case .never: return HostPresence(.never, inaccurate: isInaccurate)
        case .inside: return HostPresence(.inside, inaccurate: isInaccurate)
        case .outside(let since):
            let end = min(since + Milliseconds(rules.grace), session.ends)
            return HostPresence(.outside, ends: end, inaccurate: isInaccurate)
        }
    }

    mutating func post(_ post: ObjectID, to id: ObjectID, by author: AccountName, at now: UnixMilliseconds) {
        guard var session = sessions[id] else { return }
        session.posts[post] = author
        if var news = session.news {
            news.posts[post] = author
            session.news = news
        } else if let told = session.told, now < told + Self.postPeriod {
            session.news = News(posts: [post: author], due: told + Self.postPeriod)
        } else {
            session.told = now
            push(.sessionPost, session, to: session.audience.subtracting([author]))
        }
        sessions[id] = session
    }

    mutating func remove(_ post: ObjectID, from id: ObjectID) {
        sessions[id]?.posts[post] = nil
        sessions[id]?.news?.posts[post] = nil
        // Nobody is told of nothing.
        if sessions[id]?.news?.posts.isEmpty == true { sessions[id]?.news = nil }
    }

    /// Whom an invitation reaches.
    func invitable(_ accounts: [AccountName], to id: ObjectID) -> Set<AccountName> {
        guard let session = sessions[id] else { return [] }
        let members = Set(members[session.classID] ?? [])
        return Set(accounts).intersection(members).subtracting(session.audience).subtracting(session.invited)
    }

    mutating func invite(_ accounts: Set<AccountName>, to id: ObjectID) {
        guard let session = sessions[id] else { return }
        sessions[id]?.invited.formUnion(accounts)
        push(.sessionInvite, session, to: accounts)
    }
}
