import AsyncHTTPClient
import NIOHTTP1
import TestSupport
import Testing

/// What clients of HTTP/1.0 get, those that wait for `100 Continue`, and those that ask only for the head.
@Suite("The emulator's versions of HTTP")
struct HTTPVersionTests {
    private static let send = "/v1/projects/msi-emulator/messages:send"
    private static let message = #"{"message":{"topic":"t"}}"#

    @Test(
        "HTTP/1.0 gets answers with a length, without chunks, and the end of the connection",
        arguments: [
            ("GET", "/emulator/status", nil, 200), ("GET", "/nowhere", nil, 404), ("POST", "/token", "x", 400),
            ("POST", send, message, 200), ("POST", send, "{", 400), ("PUT", send, message, 405),
        ] as [(String, String, String?, Int)])
    func version10(method: String, target: String, body: String?, status: Int) async throws {
        try await withEmulator { client in
            for fields in [[], ["Host: 127.0.0.1"], ["Expect: 100-continue"]] {
                let request = HTTPConversation.oldRequest(
                    method, target, ["Authorization: Bearer owner"] + fields, body: body)
                // It ends with the connection, or the test would wait.
                let answer = try #require(
                    try await HTTPConversation.send(request, to: client.port, trusting: "\(client.folder.emulator)/ca.pem"))
                #expect(answer.status == status && answer.isForOldClient, "\(fields): \(answer)")
                #expect(answer["content-length"] != nil, "\(fields)")
            }
        }
    }

    @Test(
        "A refusal of HEAD has no body, and the connection stays usable",
        arguments: [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only])
    func head(version: HTTPClient.Configuration.HTTPVersion) async throws {
        try await withEmulator(version: version) { client in
            for (path, status) in [("/emulator/status", 405), ("/nowhere", 404)] {
                let answer = try await client.call(.HEAD, path)
                #expect(answer.status == status && answer.body.isEmpty && answer["content-length"] != "0", "\(answer)")
            }
            #expect(try await client.call(.GET, "/emulator/status").status == 200)
        }
    }

    @Test("A client that expects 100 Continue gets it before the answer")
    func expectation() async throws {
        try await withEmulator { client in
            let request = HTTPConversation.request(
                "POST", Self.send, headers: ["Authorization": "Bearer owner", "Expect": "100-continue"],
                body: Array(Self.message.utf8))
            let answer = try await HTTPConversation.send(
                request, to: client.port, trusting: "\(client.folder.emulator)/ca.pem")
            #expect(answer?.status == 100 && answer?.text.hasPrefix("HTTP/1.1 200 ") == true)
        }
    }
}
