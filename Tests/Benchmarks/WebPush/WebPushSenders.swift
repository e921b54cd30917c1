import Base
import FoundationEssentials
import Schemas
import TestSupport
import WebPushKeys

/// The peers that send pushes without the product: libcurl with bodies that are encrypted beforehand, and pywebpush, which
/// encrypts each push.
struct WebPushSenders {
    let peers: String
    /// The folder for the peers' files.
    private let folder: String
    private let bodies: [String]

    /// As many as differ. The raw sender sends them in turn.
    private static let bodyCount = 500
    /// As many as the product has at most at one push service.
    private static let inFlight = 200

    /// - Parameter text: What is encrypted.
    init(text: Data, peers: String, folder: String) throws {
        (self.peers, self.folder) = (peers, folder)
        bodies = try (0..<Self.bodyCount).map { number in
            let file = "\(folder)/body\(number)"
            try PushEncryption.encrypt(text, to: PushKeys().browserKeys).write(to: URL(filePath: file))
            return file
        }
        // As long as the product's token and key.
        let authorization =
            "authorization: vapid t=\(String(repeating: "e", count: 36)).\(String(repeating: "c", count: 130))."
            + "\(String(repeating: "s", count: 86)), k=\(String(repeating: "k", count: 87))"
        let headers = [
            "ttl: 2419200", "urgency: high", "topic: \(ObjectID())", "content-encoding: aes128gcm",
            "content-type: application/octet-stream", authorization,
        ]
        try Data(headers.joined(separator: "\n").utf8).write(to: URL(filePath: headersFile))
        try text.write(to: URL(filePath: textFile))
    }

    private var headersFile: String { folder + "/headers" }
    private var textFile: String { folder + "/text" }
    private var subscriptionsFile: String { folder + "/subscriptions.json" }

    /// - Returns: Pushes a second of the C program.
    func sendRaw(_ count: Int, to sink: Sink) async throws -> Double {
        let result = try await Peer(path: peers + "/raw_libcurl").run(
            [
                SampleSubscriptions.endpoint(0, at: sink.url), sink.certificateFile, headersFile, String(Self.inFlight),
                String(count), "0",
            ] + bodies)
        return result.count / result.seconds
    }

    /// - Parameter sink: One that takes HTTP/1.1, which pywebpush uses.
    /// - Returns: Pushes a second of pywebpush, and its microseconds of processor time for each.
    func sendWithPython(_ count: Int, to sink: Sink) async throws -> (rate: Double, processorTime: Double) {
        let subscriptions: [JSONValue] = (0..<Self.bodyCount).map { number in
            let browser = PushKeys()
            return [
                "endpoint": .string(SampleSubscriptions.endpoint(number, at: sink.url)),
                "keys": ["p256dh": .string(browser.p256dh), "auth": .string(browser.authSecret.text)],
            ]
        }
        try JSONValue.array(subscriptions).data.write(to: URL(filePath: subscriptionsFile))
        let output = try await PythonScript.run(
            "send_webpush.py", [subscriptionsFile, textFile, sink.certificateFile, String(count)])
        let numbers = output.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard numbers.count == 3 else { throw PeerFailure(description: "send_webpush.py printed \(output)") }
        return (numbers[0] / numbers[1], numbers[2] / numbers[0] * 1e6)
    }
}
