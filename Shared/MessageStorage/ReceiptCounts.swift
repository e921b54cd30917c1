import Schemas

/// What reports of phones add to the counts of messages.
struct ReceiptCounts {
    private(set) var byMessage: [ObjectID: MessageReceipts] = [:]

    mutating func add(_ report: AddReceipts) {
        for key in Set(report.received) { byMessage[key, default: MessageReceipts(received: 0, opened: 0)].received += 1 }
        for key in Set(report.opened) { byMessage[key, default: MessageReceipts(received: 0, opened: 0)].opened += 1 }
    }
}
