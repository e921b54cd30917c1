import Base
import Bus
import Schemas

extension MessageRoutes {
    /// All messages that match, as a CSV file. If the caller loses the right during the export, the connection is broken off. Each
    /// part has only the messages that the caller may read at that time.
    func export(_ call: Call<NoBody>, _ query: HistoryQuery) async throws -> Answer<Page> {
        let (caller, principal) = (call.caller, call.principal)
        let first = try await messageLog.history(
            await cube.placed(query.export(before: nil)), for: try await cube.reader(principal), caller)
        return .csv(
            "messages.csv", header: .messageHeader, for: call.request, on: call.context.channel, first: CSVPart(first)
        ) { [cube, messageLog, lookUp] cursor in
            let principal = try await principal.checkedAgain(lookUp)
            try principal.requireSecondFactor()
            try principal.require(.read)
            let reader = try await cube.reader(principal)
            let command = await cube.placed(query.export(before: cursor))
            return CSVPart(try await messageLog.history(command, for: reader, caller))
        }
    }
}

extension CSVLine {
    /// The names of the columns of the archive.
    static let messageHeader = CSVLine(header: [
        "id", "time", "state", "channel", "area", "subject", "title", "description", "message", "sender", "reason",
    ])

    /// A message of the archive.
    init(_ message: Message) {
        self.init([
            message.msiKey.description, message.timestamp.dateAndTime, message.relay.state.rawValue, message.names.channel,
            message.names.area, message.names.subject, message.title, message.desc, message.message, message.sender,
            message.relay.reasons.joined(separator: "; "),
        ])
    }
}

extension RelayRecord {
    /// Why it was recalled, and why components are not accepted, each reason once.
    fileprivate var reasons: [String] {
        let errors = components.filter { $0.state != .accepted }.compactMap(\.error)
        let recall = state == .recalled ? trace?.last { $0.action == .recall }?.reason : nil
        return ([recall].compactMap(\.self) + errors.map { "\($0.code): \($0.message)" })
            .reduce(into: []) { reasons, reason in if !reasons.contains(reason) { reasons.append(reason) } }
    }
}

extension CSVPart<PageCursor> {
    init(_ page: ListMessages.Reply) {
        self.init(lines: page.messages.map { CSVLine($0) }, next: page.next)
    }
}
