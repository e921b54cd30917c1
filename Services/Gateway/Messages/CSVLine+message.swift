import CSV
import Schemas

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
    /// Why components are not accepted, each reason once.
    fileprivate var reasons: [String] {
        let errors = components.filter { $0.state != .accepted }.compactMap(\.error)
        return errors.map { "\($0.code): \($0.message)" }
            .reduce(into: []) { reasons, reason in if !reasons.contains(reason) { reasons.append(reason) } }
    }
}

extension CSVPart<PageCursor> {
    init(_ page: ListMessages.Reply) {
        self.init(lines: page.messages.map { CSVLine($0) }, next: page.next)
    }
}
