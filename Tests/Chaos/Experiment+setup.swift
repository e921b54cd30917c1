import Base
import NIOHTTP1
import TestSupport

extension Experiment {
    private static let subjects = 16
    /// The number of subjects for many browsers.
    private static let crowds = 8
    /// The number of phones that they push to.
    static let pushedPhones = 5

    /// - Returns: The registration tokens.
    func registerPhones(_ count: Int, at fcm: FCMServer) async throws -> [String] {
        var tokens: [String] = []
        for _ in 0..<count {
            let answer = try await fcm.call(.POST, "/emulator/devices")
            guard answer.status == 201, let token = try answer.json["token"]?.string else {
                throw UnexpectedAnswer(answer)
            }
            tokens.append(token)
        }
        return tokens
    }

    /// The people who study, in their classes.
    func makeStudy(_ clients: Clients) async throws -> StudyTraffic {
        let phones = try await registerPhones(StudyTraffic.people(studying), at: clients.fcm)
        let requests = StudentRequests(portal: clients.portal, retryTimeout: Self.retryTimeout, isMixed: false)
        return try await StudyTraffic(count: studying, requests, phones: phones, portal: clients.portal, seed: seed)
    }

    func makeSubjects(_ portal: Portal) async throws -> RunSubjects {
        var (ordinary, crowds): ([SubjectPath], [SubjectPath]) = ([], [])
        for number in 0..<Self.subjects {
            let level = number < Self.levels.count ? Self.levels[number] : ""
            ordinary.append(try await portal.makeSubject(number.isMultiple(of: 2) ? "Alert" : "Information", level: level))
        }
        if BrowserFleet.isCrowd(browsers) {
            for _ in 0..<Self.crowds { crowds.append(try await portal.makeSubject("Alert")) }
        }
        return RunSubjects(
            ordinary: ordinary, ofPhones: Array(ordinary.prefix(Self.levels.count)), held: try await makeHeldSubject(portal),
            crowds: crowds)
    }

    /// - Returns: The id of a channel without subjects.
    func makeChannel(_ portal: Portal) async throws -> String {
        let answer = try await portal.call(.POST, "/channel", ["name": "Elsewhere", "desc": ""])
        guard answer.status == 201, let id = try answer.json["_id"]?.string else { throw UnexpectedAnswer(answer) }
        return id
    }

    /// A subject whose messages need an approval.
    private func makeHeldSubject(_ portal: Portal) async throws -> SubjectPath {
        let subject = try await portal.makeSubject("Alert", level: "Forced")
        let path = "/approval/\(subject.channel)/\(subject.area)/\(subject.subject)"
        let answer = try await portal.call(.PUT, path, ["approval": true])
        guard answer.status == 200 else { throw UnexpectedAnswer(answer) }
        return subject
    }

    /// - Returns: The id of a template with the blank `number`.
    func makeTemplate(_ portal: Portal) async throws -> String {
        let template: JSONValue = [
            "name": "Chaos", "title": "{{number}}", "desc": "The library", "message": "The library stays closed: {{number}}.",
        ]
        let answer = try await portal.call(.POST, "/template", template)
        guard answer.status == 201, let id = try answer.json["_id"]?.string else { throw UnexpectedAnswer(answer) }
        return id
    }
}

/// The subjects of a run.
struct RunSubjects: Sendable {
    let ordinary: [SubjectPath]
    /// Those of the ordinary ones to which the phones are subscribed.
    let ofPhones: [SubjectPath]
    /// Its messages are held until a second person approves them.
    let held: SubjectPath
    /// Those with many browsers, to which few messages are posted; none if there are few browsers.
    let crowds: [SubjectPath]

    var all: [SubjectPath] { ordinary + [held] + crowds }
    /// Those to which few browsers are subscribed. With all of them, the server that replaces MongoDB would have too much to do.
    var ofBrowsers: [SubjectPath] { Array(ordinary.filter { $0.distribution == "Alert" }.prefix(2)) + [held] }
}
