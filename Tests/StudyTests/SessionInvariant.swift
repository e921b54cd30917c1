import Schemas
import Store
import TestSupport

@testable import Study

extension TwoInstances {
    /// What does not fit together in a class and its sessions.
    func problems(in classID: ObjectID) async throws -> [String] {
        let rules = instances[0].rules()
        return try await instances[0].store.snapshot { [now = clock.now] transaction in
            var problems: [String] = []
            let roster = Query(where: StudyStore.memberClass == classID, order: .ascending(StudyStore.memberAccount))
            let members = try transaction.page(of: StudyStore.members, roster, limit: 100).documents.map(\.document)
            let enrolled = Set(members.map(\.account))
            var sessions = try transaction.openSessions(of: classID)
            let past = Query(
                where: StudyStore.sessionClass == classID, StudyStore.sessionEnded >= 0,
                order: .ascending(StudyStore.sessionEnded))
            sessions += try transaction.page(of: StudyStore.sessions, past, limit: 100).documents.map(\.document)
            for session in sessions {
                problems += try transaction.problems(of: session, rules)
                guard session.isOpen(at: now, rules) else { continue }
                problems += try transaction.problems(ofOpen: session, enrolled: enrolled)
            }
            let places = sessions.filter { $0.isOpen(at: now, rules) }.flatMap { $0.attendants.map(\.account) }
            if Set(places).count != places.count { problems.append("somebody is in two sessions: \(places)") }
            let group = try transaction.get(classID, from: StudyStore.classes)?.document
            if group?.members != members.count { problems.append("the class counts \(group?.members ?? 0) members") }
            if group?.closed != nil, !places.isEmpty { problems.append("a session is open in a closed class") }
            return problems
        }
    }
}

extension Transaction {
    /// What is wrong with a session and its stays.
    fileprivate func problems(of session: SessionDocument, _ rules: StudyRules) throws -> [String] {
        var problems: [String] = []
        let stays = try attendances(at: session.id)
        let there = stays.filter { $0.left == nil }.compactMap(\.account)
        let attendants = session.attendants.map(\.account)
        if there.sorted() != attendants.sorted() { problems.append("stays of \(there), attendants \(attendants)") }
        if Set(attendants).count != attendants.count { problems.append("an attendant is there twice: \(attendants)") }
        if (session.open == true) != (session.due != nil) { problems.append("due \(String(describing: session.due))") }
        if (session.open == true) == (session.ended != nil) { problems.append("it is open and has ended, or neither") }
        if (session.ended == nil) != (session.namesUntil == nil) { problems.append("its names are kept for no time") }
        let latest = min(session.ends, session.graceEnd(rules) ?? session.ends)
        if let ended = session.ended, ended > latest { problems.append("it has outlived its end at \(latest): \(ended)") }
        if stays.contains(where: { $0.since >= latest }) { problems.append("somebody has come after its end at \(latest)") }
        return problems.map { "session \(session.id): \($0)" }
    }

    /// What is wrong with an open session and its persons.
    fileprivate func problems(ofOpen session: SessionDocument, enrolled: Set<String>) throws -> [String] {
        var problems: [String] = []
        for attendant in session.attendants {
            if !enrolled.contains(attendant.account) { problems.append("\(attendant.account) is not in the class") }
            let person = try get(attendant.account, from: StudyStore.persons)?.document
            if person?.current != session.id { problems.append("\(attendant.account) does not know of it") }
        }
        guard let host = session.host else { return ["session \(session.id) has no host"] }
        if !enrolled.contains(host) { problems.append("its host \(host) is not in the class") }
        if !session.attends(host) {
            let hosted = try get(host, from: StudyStore.persons)?.document.hosted ?? []
            if !session.sponsored || !hosted.contains(session.id) { problems.append("its host \(host) is not there") }
        }
        return problems.map { "session \(session.id): \($0)" }
    }
}
