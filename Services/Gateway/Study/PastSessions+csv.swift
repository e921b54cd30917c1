import Base
import Bus
import DeviceTokens
import FoundationEssentials
import HTTPTypes
import Hummingbird
import Schemas

extension StudySessionRoutes {
    /// The maximum number of sessions of a part of an export. Each may have hundreds of attendants.
    private static let maxPerPart = 50

    func past(_ call: PersonCall<NoBody>, _ query: PastSessionQuery) async throws -> Answer<ListPastSessions.Reply> {
        let classID = try call.identifier("classID")
        if ListFormat(query.format, for: call.request) == .csv { return try await export(call, classID, query) }
        let command = query.command(of: classID, limit: query.pageSize, after: query.after)
        let page = try await study.request(command, for: call)
        var headers = call.link(to: "/classes/\(classID)/sessions/past", limit: query.pageSize, after: page.next)
        headers[.vary] = "Accept"
        return Answer(page, headers: headers)
    }

    /// All sessions that match. If the caller loses the right, or the device ends, the connection is broken off.
    private func export(
        _ call: PersonCall<NoBody>, _ classID: ObjectID, _ query: PastSessionQuery
    ) async throws -> Answer<ListPastSessions.Reply> {
        let (caller, person) = (call.caller, call.principal)
        let first = try await study.request(
            query.command(of: classID, limit: Self.maxPerPart, after: query.after), for: call)
        return .csv(
            "sessions.csv", header: .pastSessionHeader, for: call.request, on: call.context.channel, first: CSVPart(first)
        ) { [study, devices] cursor in
            if let refusal = devices.refusal(of: person) { throw Problem(.unauthenticated, refusal.text) }
            let command = query.command(of: classID, limit: Self.maxPerPart, after: cursor)
            return CSVPart(try await study.request(command, context: caller))
        }
    }
}

extension CSVPart<String> {
    init(_ page: ListPastSessions.Reply) {
        self.init(lines: page.sessions.flatMap { CSVLine.lines(of: $0) }, next: page.next)
    }
}

extension CSVLine {
    /// The names of the columns of a class's history.
    static let pastSessionHeader = CSVLine(header: [
        "session", "starts", "ended", "reason", "topics", "description", "place", "sponsored", "host", "host_number", "posts",
        "person", "number", "joined", "minutes",
    ])

    /// A line for each attendance of a session; one without a person for a session at which nobody was.
    static func lines(of session: PastSession) -> [CSVLine] {
        let common = [
            "\(session.id)", session.starts.dateAndTime, session.ended.dateAndTime, session.reason.rawValue,
            session.topics.joined(separator: "; "), session.description ?? "", session.placeName ?? "", "\(session.sponsored)",
            session.host.account?.description ?? "", "\(session.host.number)", "\(session.posts)",
        ]
        guard !session.attendants.isEmpty else { return [CSVLine(common + ["", "", "", ""])] }
        return session.attendants.map { attendance in
            let person = attendance.person
            return CSVLine(
                common + [
                    person.account?.description ?? "", "\(person.number)", attendance.joined.dateAndTime, "\(attendance.minutes)",
                ])
        }
    }
}
