import FCM
import FoundationEssentials
import Base
import Schemas
import TestSupport

/// The relayed message: always the same Alert, with two sends. The same sends for the peers are in files of a folder.
struct RelayedMessage {
    let folder: String

    static let project = "campus-benchmark"
    static let path = "/v1/projects/\(project)/messages:send"
    static let answer = #"{"name":"projects/\#(project)/messages/0:1795262462412009%b611fad549928558"}"#
    /// As long as Google's.
    static let accessToken = "ya29." + String(repeating: "c.b0AXv0zTN-", count: 18)

    /// The payload of `message.relay`.
    var payloadFile: String { folder + "/payload.json" }
    /// FCM's requests for it: the notification's and the data's body.
    var bodyFiles: [String] { Component.allCases.map { "\(folder)/\($0.rawValue).json" } }
    /// The headers of these requests.
    var headersFile: String { folder + "/headers" }

    init(in folder: String) throws {
        self.folder = folder
        let now = UnixMilliseconds.now
        let topic = TopicKey(channel: ObjectID(), area: ObjectID(), subject: ObjectID())
        let message = RelayMessage(
            msiKey: ObjectID(), timestamp: now,
            content: MessageContent(
                title: "Campus closed", desc: "Please stay at home",
                message: "All lectures of today are cancelled because of the storm. "
                    + "The library and the canteen stay closed until tomorrow at noon.",
                topicKey: topic, distribution: .alert),
            expires: now + 2_419_200_000)
        try JSONCoder.encode(message).write(to: URL(filePath: payloadFile))
        for (component, file) in zip(Component.allCases, bodyFiles) {
            try FCMRequest.body(component, of: message, now: now).write(to: URL(filePath: file))
        }
        let headers = ["content-type: application/json", "authorization: Bearer \(Self.accessToken)"]
        try Data(headers.joined(separator: "\n").utf8).write(to: URL(filePath: headersFile))
    }

    /// Writes a service account's key file.
    ///
    /// - Parameter tokenURI: The token endpoint.
    /// - Returns: The file's path.
    func writeServiceAccount(tokenURI: String) async throws -> String {
        let file = folder + "/service-account.json"
        try await ServiceAccountFile.json(project: Self.project, tokenURI: tokenURI).write(to: URL(filePath: file))
        return file
    }
}
