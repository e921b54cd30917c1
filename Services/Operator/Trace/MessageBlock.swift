import Base
import Bus
import Schemas
import ServiceKit

/// A block of a message's pushes to browsers: a push of the message log to at most 500 subscriptions of one push service.
struct MessageBlock: Encodable, Sendable {
    let pushID: ObjectID
    /// The push service: its host, or the domain that its hosts have in common.
    let service: String
    let state: RelayState
    let attempts: Int
    /// The number of browsers in each state.
    let browsers: [String: Int]
    let error: DeliveryError?
    /// The number of the range of subscriptions that it is a part of.
    private let range: Int

    private enum CodingKeys: String, CodingKey {
        case service, state, attempts, browsers, error
        case pushID = "push_id"
    }

    /// - Returns: `nil` if the push's key is not that of a block, `MSI_KEY/NUMBER/SERVICE`.
    init?(_ push: PushSummary) {
        let parts = push.idempotencyKey.split(separator: "/", maxSplits: 2)
        guard parts.count == 3, let range = Int(parts[1]) else { return nil }
        pushID = push.pushID
        service = String(parts[2])
        state = push.state
        attempts = push.attempts
        browsers = push.recipients
        error = push.error
        self.range = range
    }

    /// The sender of the blocks: the Web Push service.
    private static let sender = ServiceEntry.webpush.name

    /// Reads the blocks of a message from the message log, in the order in which they were logged.
    static func all(of msiKey: ObjectID, _ settings: SettingValues) async throws -> [MessageBlock] {
        try await CommandClient.with(settings.value(.endpoints(of: .messageLog)), settings) { client in
            var pushes: [PushSummary] = []
            var next: String?
            repeat {
                let page = try await client.request(ListPushes(sender: sender, keyPrefix: "\(msiKey)/", after: next))
                pushes += page.pushes
                next = page.next
            } while next != nil
            return ordered(pushes)
        }
    }

    /// The blocks among the pushes. The keys' bytes put 10 before 2.
    static func ordered(_ pushes: [PushSummary]) -> [MessageBlock] {
        pushes.compactMap { MessageBlock($0) }.sorted { ($0.range, $0.service) < ($1.range, $1.service) }
    }
}

extension MessageBlock: CustomStringConvertible {
    /// `6b01… at push.apple.com: failed, 498 accepted, 2 failed; error: HTTP_403 …`.
    var description: String {
        let counts = DeliveryState.allCases.compactMap { state in browsers[state.rawValue].map { "\($0) \(state.rawValue)" } }
        return "\(pushID) at \(service): " + ([state.rawValue] + counts).joined(separator: ", ")
            + (error.map { "; error: \($0.code) \($0.message)" } ?? "")
    }
}
