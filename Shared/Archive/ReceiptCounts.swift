import Schemas

/// What reports of phones add to the counts of messages.
struct ReceiptCounts: Sendable {
    /// The reports, without messages that do not count. Reports of no other messages are left out.
    private(set) var reports: [AddReceipts]
    private(set) var byMessage: [ObjectID: MessageReceipts] = [:]

    init(of reports: [AddReceipts]) {
        self.reports = reports
    }

    /// The messages of all reports.
    var messages: Set<ObjectID> { reports.reduce(into: []) { $0.formUnion($1.messages) } }

    /// Leaves out all other messages.
    mutating func keep(_ countable: Set<ObjectID>) {
        reports = reports.compactMap { report in
            let kept = AddReceipts(
                installation: report.installation, report: report.report,
                received: report.received.filter(countable.contains), opened: report.opened.filter(countable.contains))
            return kept.messages.isEmpty ? nil : kept
        }
    }

    /// Counts a report.
    mutating func add(_ report: AddReceipts) {
        for key in Set(report.received) { byMessage[key, default: MessageReceipts(received: 0, opened: 0)].received += 1 }
        for key in Set(report.opened) { byMessage[key, default: MessageReceipts(received: 0, opened: 0)].opened += 1 }
    }
}
