import TestSupport

/// What the phones have at the end of a run.
struct PhoneEvidence: Sendable {
    /// How many were started.
    let phones: Int
    /// The first of them, which are off, killed or late at times.
    let unsteady: Int
    /// How many persons have two of them.
    var accounts = 0
    /// `nil` if they did not report.
    let report: FleetCount?
    let logFile: String
    /// The messages to the phones' subjects whose data FCM has accepted, by the emulator's archive.
    var sent: Set<String> = []
    /// How many phones have reported each message to the hub, by its `msi_key`.
    var receipts: [String: Int] = [:]
}

/// Whether each phone has each message once, and the hub knows that it has it. Pure.
///
/// A phone must have a message whose data FCM has accepted according to our archive: if FCM did not bring it, the hub tells it. That
/// holds for phones that were off or late, and for the messages of a clock step. If FCM has accepted the data but its answer was lost and
/// the message then expired, the hub does not know; the phones that were connected have it, and it is not required.
struct PhoneVerdict: Sendable {
    private(set) var problems: [String] = []
    /// The line for the report.
    let summary: String

    private static let maxNamed = 5

    init(_ evidence: PhoneEvidence, archive: [String: ArchivedMessage]) {
        guard let report = evidence.report else {
            summary = "phones: no report"
            problems = ["the phones did not report what they have, see \(evidence.logFile)"]
            return
        }
        summary =
            "phones: count=\(report.phones) expected=\(report.expected) delivered=\(report.delivered) missing=\(report.missing) "
            + "doubled=\(report.doubled)" + (report.persons.map { " pushes_to_persons=\($0.expected)" } ?? "")
        if report.phones != evidence.phones { problems.append("\(report.phones) of \(evidence.phones) phones have reported") }
        if report.missing > 0 { problems.append("\(report.missing) messages that the hub tells are missing on the phones") }
        if report.doubled > 0 { problems.append("\(report.doubled) messages are on a phone more than once") }
        judge(report.persons, accounts: evidence.accounts)
        let miscounted = archive.keys.filter { evidence.receipts[$0, default: 0] != report.received[$0, default: 0] }
        if !miscounted.isEmpty {
            let named = miscounted.sorted().prefix(Self.maxNamed).map {
                "\($0): \(evidence.receipts[$0, default: 0]) of \(report.received[$0, default: 0])"
            }
            problems.append("\(miscounted.count) messages have other receipts than phones, such as \(named)")
        }
        let absent = evidence.sent.filter { key in
            let isKnown = archive[key]?.components.contains { $0.component.name == "data" && $0.state == "accepted" } ?? false
            return isKnown && report.received[key] != evidence.phones
        }
        guard !absent.isEmpty else { return }
        let named = absent.sorted().prefix(Self.maxNamed).map { "\($0) on \(report.received[$0] ?? 0)" }
        problems.append("\(absent.count) messages are not on all \(evidence.phones) phones, such as \(named)")
    }

    /// Each push to a person is on both of their phones, and on no other one. A process that was killed while a push was on its way may have
    /// sent it twice; the phone then replaces the pop-up.
    private mutating func judge(_ persons: FleetCount.Persons?, accounts: Int) {
        guard accounts > 0 else { return }
        guard let persons, persons.accounts == accounts else {
            return problems.append("\(persons?.accounts ?? 0) of \(accounts) persons are signed in on two phones")
        }
        if persons.missing > 0 { problems.append("\(persons.missing) of \(persons.expected) pushes to persons are missing") }
        if persons.stray > 0 { problems.append("\(persons.stray) pushes to persons are on phones that should not have them") }
    }
}
