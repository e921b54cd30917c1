import Base
import Bus
import Schemas
import TestSupport

/// A push for one person, from the message log, where another service has logged it.
struct PersonalPush: Hashable, Sendable {
    let kind: PushKind
    /// What it is about, such as a session or a message.
    let about: ObjectID
    /// Empty if the message log has forgotten it: the push has expired before its person's devices were known.
    let account: String
    let state: DeliveryState
    /// FCM's name for it; `nil` if FCM has not accepted it.
    var name: String?
    /// Whether nothing more is tried.
    var hasEnded = true

    /// What is wrong with its end.
    ///
    /// - Parameter names: FCM's names of all sends that it has accepted.
    func problems(names: Set<String>) -> [String] {
        let what = "the push \(kind) about \(about) for \(account)"
        var problems: [String] = []
        if !hasEnded { problems.append("\(what) has no end") }
        if state == .failed { problems.append("\(what) has failed") }
        if state == .accepted, !names.contains(name ?? "") { problems.append("FCM does not have \(what)") }
        return problems
    }

    /// What a phone cannot tell apart.
    struct Place: Hashable, Sendable {
        let kind: String
        let about: String
        /// Each has one phone.
        let account: String
    }

    var place: Place { Place(kind: "\(kind)", about: "\(about)", account: account) }

    /// A push that a phone has got, by the emulator's archive.
    struct Arrival: Hashable, Sendable {
        let place: Place
        /// FCM's name for it.
        let name: String
        /// When FCM accepted it, in Unix milliseconds.
        let received: Int64
    }
}

/// The pushes of a service for persons, and what came of them.
struct PersonalPushes: Sendable {
    private(set) var pushes: [PersonalPush] = []
    private(set) var problems: [String] = []
    /// FCM's names of all sends that it has accepted.
    let names: Set<String>
    let arrivals: [PersonalPush.Arrival]

    /// Reads them.
    ///
    /// - Parameters:
    ///   - sender: The service.
    ///   - phones: The accounts by the registration tokens of their phones.
    ///   - devices: The accounts by the ids of their devices.
    ///   - sends: Every send that FCM has accepted.
    init(
        of sender: String, at messageLogs: CommandClient, phones: [String: String], devices: [String: String],
        _ sends: [JSONValue]
    ) async throws {
        names = Set(sends.compactMap { $0["name"]?.string })
        arrivals = sends.compactMap { send in
            guard let message = send["body"]?["message"], let kind = message["data"]?["person_kind"]?.string,
                let about = message["data"]?["person_id"]?.string, let token = message["token"]?.string,
                let account = phones[token], let name = send["name"]?.string, let received = send["received_at"]?.integer
            else { return nil }
            let place = PersonalPush.Place(kind: kind, about: about, account: account)
            return PersonalPush.Arrival(place: place, name: name, received: received)
        }
        for digit in "0123456789abcdef" {
            var next: String?
            repeat {
                let page = try await messageLogs.request(
                    ListPushes(sender: sender, keyPrefix: String(digit), after: next), timeout: .seconds(60))
                for summary in page.pushes {
                    let push = try await messageLogs.request(GetPush(pushID: summary.pushID), timeout: .seconds(60))
                    read(push, of: sender, devices)
                }
                next = page.next
            } while next != nil
        }
    }

    private mutating func read(_ push: Push, of sender: String, _ devices: [String: String]) {
        guard let content = push.person, let about = ObjectID(content.push.id) else {
            return problems.append("a push of \(sender) is about \(push.person?.push.id ?? "nobody")")
        }
        for record in push.relay.recipients {
            let device = record.recipient.device.flatMap { devices["\($0)"] }
            let forgotten: String? = record.recipient.field == .account ? "" : nil
            guard let account = device ?? record.recipient.account?.description ?? forgotten else {
                problems.append("a push goes to \(record.recipient), whom nobody knows")
                continue
            }
            pushes.append(
                PersonalPush(
                    kind: content.kind, about: about, account: account, state: record.state, name: record.name,
                    hasEnded: push.relay.nextAttempt == nil))
        }
    }
}
