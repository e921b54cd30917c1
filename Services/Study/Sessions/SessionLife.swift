import Base
import Schemas

/// What happens to a study session.
enum SessionInput: Hashable, Sendable {
    /// A person comes. Who is there already changes nothing.
    case join(SessionDocument.Attendant)
    /// A person leaves, by the account in lower case. The host ends it so. Who is not there changes nothing.
    case leave(account: String)
    /// Somebody ends it: an account in lower case, or `nil` for nobody who would know of it.
    case end(SessionEnd, by: String?)
    /// The host hands it over to an attendant, by the account in lower case.
    case handOver(to: String)
    /// The host changes what it says about itself, without ``SessionEdit/host``. The caller has checked the place.
    case edit(SessionEdit)
    /// The host's device has reported a position.
    case report(StudyRules.Nearness)
    /// A post, by its author's account in lower case.
    case posted(by: String)
    /// A post was removed. `waiting` has the authors, in lower case, of those that are left of ``SessionDocument/news``; `nil`: the
    /// removed one did not wait.
    case postRemoved(waiting: Set<String>?)
    /// Whatever is due.
    case clock
}

/// What follows from it.
enum SessionOutput: Hashable, Sendable {
    case joined(SessionDocument.Attendant)
    case left(SessionDocument.Attendant)
    /// `told` are the attendants and the host, but not who has ended it.
    case ended(SessionEnd, at: UnixMilliseconds, told: [AccountName])
    case handedOver(to: SessionDocument.Attendant, from: AccountName)
    /// For the host who has reported a position.
    case presence(HostPresence)
    /// `told` are the attendants and the host, but not the host who has just brought the end so near.
    case endsSoon(told: [AccountName])
    /// There are new posts. `told` are the attendants and the host, but not their only author.
    case posts(told: [AccountName])
    /// What its class sees of it is not as before.
    case changed
}

/// The life of a session: open, then ended, and never open again. Pure: the caller passes the time.
///
/// Time decides, not the one who writes it down: what is over has ended, whatever is stored.
extension SessionDocument {
    /// A shorter session has no push before its end.
    private static let minWarned = Milliseconds.seconds(900)

    /// Whether it is open at a moment.
    func isOpen(at now: UnixMilliseconds, _ rules: StudyRules) -> Bool {
        self.open == true && overSince(now, rules) == nil
    }

    /// The session as it is at a moment, also while nobody has written down that it has ended.
    func settled(at now: UnixMilliseconds, _ rules: StudyRules) -> SessionDocument {
        var session = self
        _ = session.endIfOver(at: now, rules)
        return session
    }

    /// Changes the session.
    ///
    /// - Returns: What follows from it.
    /// - Throws: ``CommandFailure`` with `conflict`, after which the session is not to be stored: with the field `ended` for
    ///   anything but ``SessionInput/clock`` if it has ended; with `attendants`, `host` or `minutes` for what is not possible
    ///   in it.
    mutating func apply(
        _ input: SessionInput, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws(CommandFailure) -> [SessionOutput] {
        var outputs = endIfOver(at: now, rules)
        guard open == true else {
            guard input == .clock else { throw .sessionEnded }
            due = nil
            return outputs
        }
        outputs += try follow(input, at: now, rules)
        due = nextDue(rules)
        return outputs
    }

    private mutating func follow(
        _ input: SessionInput, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws(CommandFailure) -> [SessionOutput] {
        switch input {
        case .join(let attendant): return try join(attendant, rules)
        case .leave(let account): return leave(account, at: now)
        case .end(let reason, let account): return end(reason, at: now, by: account)
        case .handOver(let account): return try handOver(to: account)
        case .edit(let edit): return try change(edit, at: now, rules)
        case .report(let nearness): return report(nearness, at: now, rules)
        case .posted(let author): return post(by: author, at: now)
        case .postRemoved(let authors):
            posts = max(0, posts - 1)
            if let news, let authors { self.news = News(due: news.due, authors: authors) }
            return []
        case .clock: return tellWhatIsDue(at: now)
        }
    }

    // MARK: Attendants

    /// Whether a person is there, or was at the end.
    ///
    /// - Parameter account: In lower case.
    func attends(_ account: String) -> Bool { attendants.contains { $0.account == account } }

    /// The attendants and the host.
    ///
    /// - Parameter account: One who is left out, in lower case.
    func audience(except account: String? = nil) -> [AccountName] {
        var names = attendants.filter { $0.account != account }.map(\.name)
        if let host, let hostName, host != account, !attends(host) { names.append(hostName) }
        return names
    }

    private mutating func join(_ attendant: Attendant, _ rules: StudyRules) throws(CommandFailure) -> [SessionOutput] {
        guard !attends(attendant.account) else { return [] }
        guard attendants.count < rules.attendants else {
            throw CommandFailure(
                .conflict, "the session has room for \(rules.attendants) attendants, and they are there", field: "attendants")
        }
        attendants.append(attendant)
        return [.joined(attendant), .changed]
    }

    private mutating func leave(_ account: String, at now: UnixMilliseconds) -> [SessionOutput] {
        guard account != host else { return end(.host, at: now, by: account) }
        guard let place = attendants.firstIndex(where: { $0.account == account }) else { return [] }
        return [.left(attendants.remove(at: place)), .changed]
    }

    private mutating func handOver(to account: String) throws(CommandFailure) -> [SessionOutput] {
        guard let next = attendants.first(where: { $0.account == account }) else {
            throw CommandFailure(.conflict, "the next host has to attend the session", field: "host")
        }
        guard account != host else { return [] }
        let from = hostName
        host = next.account
        hostName = next.name
        hostRole = next.role
        hostNumber = next.number
        area = .never
        guard let from else { return [.changed] }
        return [.handedOver(to: next, from: from), .changed]
    }

    // MARK: The end

    /// Why the session is over at a moment, and since when; `nil` if it is not.
    private func overSince(_ now: UnixMilliseconds, _ rules: StudyRules) -> (reason: SessionEnd, moment: UnixMilliseconds)? {
        // A backup may be put back long after the end.
        if let restored { return (reason: .restored, moment: min(restored, ends)) }
        if let graceEnd = graceEnd(rules), graceEnd <= now, graceEnd < ends { return (reason: .left, moment: graceEnd) }
        guard ends <= now else { return nil }
        return (reason: .time, moment: ends)
    }

    private mutating func endIfOver(at now: UnixMilliseconds, _ rules: StudyRules) -> [SessionOutput] {
        guard open == true, let over = overSince(now, rules) else { return [] }
        return end(over.reason, at: over.moment, by: nil)
    }

    /// Topics, attendants and host stay as they are.
    private mutating func end(_ reason: SessionEnd, at moment: UnixMilliseconds, by account: String?) -> [SessionOutput] {
        self.open = nil
        due = nil
        news = nil
        ended = moment
        self.reason = reason
        if forgetsPlace == true { forgetPlace() }
        // A restore wakes nobody.
        guard reason != .restored else { return [.changed] }
        return [.ended(reason, at: moment, told: audience(except: account)), .changed]
    }

    // MARK: What it says about itself

    static func plannedEnd(from start: UnixMilliseconds, minutes: Int) -> UnixMilliseconds {
        start + .seconds(Int64(minutes).multiplied(by: 60))
    }

    private mutating func change(
        _ edit: SessionEdit, at now: UnixMilliseconds, _ rules: StudyRules
    ) throws(CommandFailure) -> [SessionOutput] {
        let before = self
        var outputs: [SessionOutput] = []
        if let minutes = edit.minutes, case let end = Self.plannedEnd(from: starts, minutes: minutes), end != ends {
            guard minutes <= rules.maxMinutes else { throw .tooLong(rules) }
            guard end > now else { throw CommandFailure(.conflict, "the session would have ended already", field: "minutes") }
            ends = end
            if now + StudyLimits.warning < ends { warned = nil }
            outputs += tellIfEndingSoon(at: now, except: host)
        }
        if let topics = edit.topics { self.topics = topics.map(\.tidied) }
        if let description = edit.description { self.description = description.isInvisible ? nil : description }
        if let place = edit.place { move(to: place, edit.position, rules) }
        return self == before ? [] : outputs + [.changed]
    }

    // MARK: Pushes at their time

    private mutating func post(by author: String, at now: UnixMilliseconds) -> [SessionOutput] {
        posts += 1
        if let news {
            self.news = News(due: news.due, author: news.author == author ? author : nil)
            return []
        }
        if let told, case let next = told + StudyLimits.postPushPeriod, now < next {
            news = News(due: next, author: author)
            return []
        }
        told = now
        return [.posts(told: audience(except: author))]
    }

    private mutating func tellWhatIsDue(at now: UnixMilliseconds) -> [SessionOutput] {
        var outputs = tellIfEndingSoon(at: now)
        if let news, news.due <= now {
            self.news = nil
            told = now
            outputs.append(.posts(told: audience(except: news.author)))
        }
        return outputs
    }

    /// - Parameter account: Who has caused it, in lower case.
    private mutating func tellIfEndingSoon(at now: UnixMilliseconds, except account: String? = nil) -> [SessionOutput] {
        guard let warning, warning <= now else { return [] }
        warned = true
        return [.endsSoon(told: audience(except: account))]
    }

    /// When its attendants are told that it ends soon; `nil` if they are not, or were.
    private var warning: UnixMilliseconds? {
        guard warned != true, ends - starts >= Self.minWarned else { return nil }
        return ends - StudyLimits.warning
    }

    /// When the service has to look at it next; `nil` once it has ended.
    func nextDue(_ rules: StudyRules) -> UnixMilliseconds? {
        guard open == true else { return nil }
        return [ends, warning, graceEnd(rules), news?.due].compactMap(\.self).min()
    }
}

extension CommandFailure {
    static let sessionEnded = CommandFailure(.conflict, "the session has ended", field: "ended")

    static func tooLong(_ rules: StudyRules) -> CommandFailure {
        CommandFailure(.conflict, "a session may last \(rules.maxMinutes) minutes", field: "minutes")
    }
}
