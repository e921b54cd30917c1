import CSV
import JSON
import Schemas

extension CSVLine {
    /// The names of the columns of the audit log.
    static let auditHeader = CSVLine(header: [
        "number", "at", "actor", "address", "action", "kind", "object", "before", "after", "id", "hash",
    ])

    /// An entry of the audit log.
    init(_ line: NumberedAuditEntry) {
        let entry = line.entry
        self.init([
            String(line.number), entry.at.dateAndTime, entry.actor ?? "", entry.address ?? "", entry.action, entry.object.kind,
            entry.object.id, entry.before?.text ?? "", entry.after?.text ?? "", entry.id.description, line.hash,
        ])
    }
}

extension CSVPart<String> {
    init(_ page: ListAuditEntries.Reply) {
        self.init(lines: page.entries.map { CSVLine($0) }, next: page.next)
    }
}
