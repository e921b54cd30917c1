import Base
import NIOHTTP1
import TestSupport

/// A gateway, and a message to post there again and again.
struct PostTarget {
    private let port: Int
    private let headers: [String: String]
    private let body: String

    /// Makes a subject of Information at a gateway.
    init(at portal: Portal, headers: [String: String]) async throws {
        let subject = try await portal.makeSubject("Information", name: "Posts")
        let message = subject.message(
            title: "Library", desc: "", message: "The library and the canteen stay closed until tomorrow at noon.")
        port = portal.port
        self.headers = headers
        body = String(decoding: message.data, as: UTF8.self)
    }

    private init(_ target: PostTarget, headers: [String: String]) {
        port = target.port
        self.headers = headers
        body = target.body
    }

    /// The same gateway and message with other headers.
    func with(_ headers: [String: String]) -> PostTarget {
        PostTarget(self, headers: headers)
    }

    func measure(_ wrk: Wrk) async throws -> Wrk.Figures {
        try await wrk.run(port, "/message", method: "POST", headers: headers, bodies: [body])
    }
}
