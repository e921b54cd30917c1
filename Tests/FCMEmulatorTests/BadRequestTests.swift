import AsyncHTTPClient
@testable import FCMEmulator
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL
import Schemas
import TestSupport
import Testing

/// Every bad request gets a JSON answer, and the emulator keeps running.
@Suite("Bad requests to the emulator")
struct BadRequestTests {
    @Test("Unknown routes and wrong methods are refused as FCM refuses them")
    func unknownRoutesAndWrongMethods() async throws {
        try await withEmulator { client in
            for path in ["/", "/nope", "/v1/projects/msi-emulator/messages", "/emulator/devices/x/y/z", "/%ff"] {
                let answer = try await client.call(.GET, path, token: nil)
                #expect(answer.status == 404, "\(path)")
                #expect(answer.errorStatus == "NOT_FOUND")
            }
            // The address of the legacy API, which Google ended in 2024.
            #expect(try await client.call(.POST, "/fcm/send", token: nil).status == 404)
            let wrong: [(HTTPMethod, String, String)] = [
                (.GET, "/token", "POST"), (.GET, "/v1/projects/msi-emulator/messages:send", "POST"),
                (.DELETE, "/emulator/devices", "POST"), (.POST, "/emulator/messages", "DELETE, GET"),
                (.PUT, "/iid/v1:batchAdd", "POST"), (.OPTIONS, "/token", "POST"),
            ]
            for (method, path, allowed) in wrong {
                let answer = try await client.call(method, path, token: "owner")
                #expect(answer.status == 405, "\(method) \(path)")
                #expect(answer.headers.first(name: "Allow") == allowed)
                #expect(answer.error["code"] as? Int == 405)
            }
        }
    }

    @Test("A body that is too large is refused", arguments: [HTTPClient.Configuration.HTTPVersion.automatic, .http1Only])
    func aBodyThatIsTooLargeIsRefused(version: HTTPClient.Configuration.HTTPVersion) async throws {
        try await withEmulator(version: version) { client in
            // Larger than the read limit: 400, as for every message that is too large.
            let answer = try await client.send("{\"message\":{\"topic\":\"\(String(repeating: "x", count: 2_000_000))\"}}")
            #expect(answer.status == 400)
            #expect(answer.errorMessage?.hasPrefix("Message is too large.") == true)
            #expect(answer.version == (version == .http1Only ? .http1_1 : .http2))
            #expect(try await client.sendMark("fine", to: ("topic", "t")).status == 200)
        }
    }

    @Test("A malformed body is refused with FCM's error")
    func malformedBodies() async throws {
        let good = #"{"validate_only":false,"message":{"topic":"t","data":{"a":"\u00e9\ud83d\ude00"},"android":{"ttl":"1.5s"}}}"#
        var bodies = (0..<good.utf8.count).map { Array(good.utf8.prefix($0)) }
        bodies += [
            Array("[]".utf8), Array("null".utf8), Array("12".utf8), Array("\"x\"".utf8), Array((good + "x").utf8),
            // A byte order mark, UTF-16 and UTF-32 in both byte orders, and trailing commas.
            [0xEF, 0xBB, 0xBF] + Array(good.utf8), good.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] },
            [0xFF, 0xFE] + good.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] },
            good.unicodeScalars.flatMap { [0, 0, UInt8($0.value >> 8), UInt8($0.value & 0xFF)] },
            good.unicodeScalars.flatMap { [UInt8($0.value & 0xFF), UInt8($0.value >> 8), 0, 0] },
            Array(#"{"message":{"topic":"t",}}"#.utf8), Array(#"{"message":{"topic":"t"},}"#.utf8),
            Array(#"{"message":{"topic":"t","android":{"notification":{"body_loc_args":["a",]}}}}"#.utf8),
            [0xFF, 0xFE], Array(#"{"message":{"topic":""#.utf8) + [0xC3, 0x28] + Array(#""}}"#.utf8),
            Array((String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)).utf8),
            Array(String(repeating: "{\"a\":", count: 50_000).utf8),
            Array(#"{"message":{"topic":"t","data":{"a":"\ud800"}}}"#.utf8),
            Array(#"{"message":{"topic":"t","data":{"a":"\u12"}}}"#.utf8),
            Array(#"{"message":{"topic":"t","android":{"notification":{"notification_count":1e999}}}}"#.utf8),
            Array(#"{"message":{"topic":"t","android":{"ttl":"99999999999999999999s"}}}"#.utf8),
            Array(#"{"message":{"topic":"t","android":{"ttl":"s"}}}"#.utf8),
            Array(#"{"message":{"topic":"t","android":{"ttl":"--1s"}}}"#.utf8),
            Array("{\"message\":{\"condition\":\"\(String(repeating: "(", count: 5_000))\"}}".utf8),
            Array("{\"message\":{\"condition\":\"\(String(repeating: "!", count: 5_000))\"}}".utf8),
        ]
        try await withEmulator { client in
            for body in bodies {
                let answer = try await client.call(
                    .POST, "/v1/projects/msi-emulator/messages:send", headers: [("Authorization", "Bearer owner")], body: body)
                #expect(answer.status == 400, "\(String(decoding: body.prefix(100), as: UTF8.self))")
                #expect(answer.errorStatus == "INVALID_ARGUMENT")
            }
            for body in bodies {
                let batch = try await client.call(
                    .POST, "/iid/v1:batchAdd", headers: [("Authorization", "Bearer owner"), ("access_token_auth", "true")],
                    body: body)
                #expect(batch.status == 400)
                let token = try await client.call(.POST, "/token", body: body)
                // A form is short.
                #expect(token.status == (body.count > 16_384 ? 413 : 400), "\(String(decoding: body.prefix(100), as: UTF8.self))")
            }
            #expect(try await client.sendMark("fine", to: ("topic", "t")).status == 200)
        }
    }
}

@Suite("Clients' protocol errors")
struct ClientFaultTests {
    @Test("A broken connection or stream is the client's fault, and no error of the emulator")
    func faults() {
        for error in [NIOHTTP2Errors.noSuchStream(streamID: 3), ChannelError.inputClosed, NIOSSLError.uncleanShutdown]
            as [any Error]
        {
            #expect(ErrorMiddleware.isClientsFault(error), "\(error)")
        }
        #expect(!ErrorMiddleware.isClientsFault(CommandFailure(.internal, "a defect")))
    }
}
