package import FoundationEssentials
import JSON

/// FCM's answer to a message that it has accepted: `{"name":"projects/…/messages/…"}`, and whatever else there may be.
package struct FCMAcceptance: Decodable, Sendable {
    /// FCM's name for the message.
    package let name: String

    /// Reads an answer's body; `nil` for one without a name.
    package init?(body: Data) {
        if let name = body.withUnsafeBytes(Self.onlyName) {
            self.name = name
        } else if let other = try? JSONCoder.decode(Self.self, from: body) {
            self = other
        } else {
            return nil
        }
    }

    /// The name, where there is nothing else, as in every answer of FCM's so far.
    private static func onlyName(in json: UnsafeRawBufferPointer) -> String? {
        var name: String?
        var reader = PlainReader(json)
        let isRead = reader.object { reader in reader.name("name") && name.takeOnce(reader.text()) }
        return isRead && reader.isAtEnd() ? name : nil
    }
}
