package import FoundationEssentials
import JSON

/// FCM's answer to a message that it has accepted: `{"name":"projects/…/messages/…"}`.
package struct FCMAcceptance: Decodable, Sendable {
    /// FCM's name for the message.
    package let name: String

    /// Reads an answer's body; `nil` if it has no name.
    package init?(body: Data) {
        guard let read = try? JSONCoder.decode(Self.self, from: body) else { return nil }
        self = read
    }
}
