import Schemas

/// The conclusion about the people who studied. Pure.
///
/// Nobody is in two sessions, and no session outlives its rules. Each post is where it should be. The message log has each push once, for
/// whom it should be and nobody else, and never for the one who has caused it; FCM has what the message log says that it has, once, unless a
/// fault explains another copy.
struct StudyVerdict: Sendable {
    private(set) var problems: [String]
    /// Whether the run has had enough of everything. Waiting does not change that.
    let variety: StudyVariety
    /// The line for the report.
    let summary: String

    private static let maxProblems = 50

    init(_ evidence: StudyEvidence) {
        problems = evidence.problems + evidence.records.problems
        for (id, session) in evidence.past { problems += Self.problems(of: session, evidence.records.sessions[id]) }
        let lost = Set(evidence.records.sessions.filter { $0.value.starter != nil }.keys).subtracting(evidence.past.keys)
        problems += lost.map { "the session \($0) was started, and is not in the history" }
        problems += Self.problemsOfPosts(evidence)
        let pushes = StudyPushes(evidence)
        problems += pushes.problems
        variety = StudyVariety(evidence)
        let hidden = problems.count - Self.maxProblems
        if hidden > 0 { problems = problems.prefix(Self.maxProblems) + ["and \(hidden) further problems of people who study"] }
        let attendances = evidence.past.values.reduce(0) { $0 + $1.attendants.count }
        summary =
            "study: \(variety.summary) attendances=\(attendances) pushes=\(evidence.pushes.count) doubled=\(pushes.doubled) "
            + "problems=\(problems.count + variety.problems.count)"
    }

    /// What is wrong with a session that has ended, by its rules.
    private static func problems(of session: PastSession, _ record: StudyRecords.Session?) -> [String] {
        guard let record, record.starter != nil else { return ["nobody has started the session \(session.id)"] }
        var problems: [String] = []
        let lasted = session.ended.rawValue - session.starts.rawValue
        let planned = record.minutes.map { Int64($0) * 60_000 }
        if let longest = planned.max(), lasted > longest {
            problems.append("\(session.id) has lasted \(lasted) ms, longer than \(longest) ms")
        }
        if session.reason == .time, !planned.contains(lasted) {
            problems.append("\(session.id) has ended by its time after \(lasted) ms, and was planned for \(planned.sorted())")
        }
        if session.reason == .left, !record.hasOpenReport, !record.endsByLeaving.contains(session.ended) {
            problems.append("\(session.id) has ended at \(session.ended), since its host has left, and no report has said so")
        }
        if let end = record.mustEndBy, session.ended > end {
            problems.append("\(session.id) has ended at \(session.ended), and its host had left it until \(end)")
        }
        if [.host, .staff, .closed].contains(session.reason), record.enders.isEmpty {
            problems.append("\(session.id) has ended (\(session.reason.rawValue)), and nobody has asked for it")
        }
        if session.reason == .restored { problems.append("\(session.id) was restored from a backup, and there was none") }
        let there = Set(session.attendants.compactMap { $0.person.account?.description })
        if there.count < session.attendants.count { problems.append("the history of \(session.id) has somebody twice") }
        let missing = record.joined.union(record.attends ? [record.starter].compactMap(\.self) : []).subtracting(there)
        problems += missing.sorted().map { "\($0) was at \(session.id), and is not in its history" }
        let strangers = there.subtracting(record.visitors).subtracting([record.starter].compactMap(\.self))
        problems += strangers.sorted().map { "\($0) is in the history of \(session.id), and was never there" }
        return problems
    }

    // MARK: Posts

    private static func problemsOfPosts(_ evidence: StudyEvidence) -> [String] {
        var problems: [String] = []
        var found: Set<String> = []
        for (id, posts) in evidence.posts {
            for post in posts {
                guard let record = evidence.records.posts[post.text], record.session == id else {
                    problems.append("\(id) has a post that nobody has sent there: \(post.text)")
                    continue
                }
                if !found.insert(post.text).inserted { problems.append("a post is there twice: \(post.text)") }
                problems += Self.problems(of: post, record)
            }
            let shown = posts.filter { $0.removed == nil }.map(\.id)
            if let count = evidence.past[id]?.posts, count != shown.count {
                problems.append("\(id) has \(shown.count) posts, and its history says \(count)")
            }
            if let read = evidence.publicPosts[id], read.map(\.id) != shown || read.contains(where: { $0.removed != nil }) {
                problems.append("those who were at \(id) see \(read.count) posts, and \(shown.count) were not removed")
            }
        }
        let lost = evidence.records.posts.filter { $0.value.id != nil && !found.contains($0.key) }.keys
        problems += lost.sorted().map { "lost: \($0)" }
        return problems
    }

    private static func problems(of post: SessionPost, _ record: StudyRecords.Post) -> [String] {
        var problems: [String] = []
        if let id = record.id, id != post.id { problems.append("\(post.text) was answered as another post") }
        if post.author?.description != record.author { problems.append("\(post.text) has another author") }
        if record.isRemoved, post.removed == nil { problems.append("\(post.text) was removed, and is there") }
        if let by = post.removed?.by?.description, !record.removers.contains(by) {
            problems.append("\(post.text) was removed by \(by), who has not asked for it")
        }
        return problems
    }

    // MARK: The audit log

    /// Moderation is in the audit log, once each, and nothing else that people do in sessions.
    static func problems(ofAudit entries: [AuditEntry], _ evidence: StudyEvidence) -> [String] {
        var problems: [String] = []
        let sessions = entries.filter { $0.object.kind == "study_session" }
        let ended = evidence.past.values.filter { $0.reason == .staff }.map { "\($0.id)" }
        problems += differences(sessions.map(\.object.id), ended, "study_session.end")
        problems += Set(sessions.map(\.action)).subtracting(["study_session.end"]).sorted().map { "the audit log has \($0)" }
        let posts = entries.filter { $0.object.kind == "study_post" }
        let moderated = evidence.posts.values.joined().filter { post in post.removed.map { $0.by != post.author } ?? false }
        problems += differences(posts.map(\.object.id), moderated.map { "\($0.id)" }, "study_post.remove")
        return problems
    }

    private static func differences(_ found: [String], _ expected: [String], _ action: String) -> [String] {
        var problems: [String] = []
        if Set(found).count < found.count { problems.append("the audit log has something twice: \(action)") }
        let wrong = Set(found).symmetricDifference(expected)
        if !wrong.isEmpty {
            problems.append("the audit log lacks \(action), or has too many: \(wrong.count), such as \(wrong.sorted().prefix(5))")
        }
        return problems
    }
}
