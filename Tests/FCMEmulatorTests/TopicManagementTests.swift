import NIOHTTP1
import Testing
import TestSupport

@Suite("Topic management by the Instance ID API")
struct TopicManagementTests {
    @Test("Each token of a batch has its own result")
    func eachTokenHasItsOwnResult() async throws {
        try await withEmulator { client in
            let phone = try await client.registerPhone()
            let unknown = "abcdefghijklmnopqrstuv:APA91b" + String(repeating: "x", count: 134)
            let expected = #"{"results":[{},{"error":"NOT_FOUND"},{"error":"INVALID_ARGUMENT"},{}]}"#
            #expect(try await client.subscribe([phone, unknown, "nonsense", phone], to: "t").text == expected)
            #expect(try await client.unsubscribe([phone, unknown, "nonsense", phone], from: "t").text == expected)
            // Ending a missing subscription is not an error.
            #expect(try await client.unsubscribe([phone], from: "never").text == #"{"results":[{}]}"#)
        }
    }

    @Test(
        "An invalid batch is refused as a whole",
        arguments: [
            "", "[]", "{", #"{"registration_tokens":["x"]}"#, #"{"to":"/topics/t"}"#,
            #"{"to":"t","registration_tokens":["x"]}"#, #"{"to":"/topics/a b","registration_tokens":["x"]}"#,
            #"{"to":"/topics/t","registration_tokens":[]}"#, #"{"to":"/topics/t","registration_tokens":[1]}"#,
            #"{"to":"/topics/t","registration_tokens":["# + Array(repeating: #""x""#, count: 1_001).joined(separator: ",") + "]}",
        ])
    func aBadCallIsRefusedAsAWhole(_ body: String) async throws {
        try await withEmulator { client in
            for method in ["batchAdd", "batchRemove"] {
                let answer = try await client.call(.POST, "/iid/v1:\(method)", token: "owner", body)
                #expect(answer.status == 400)
                #expect((answer.object["error"] as? String)?.isEmpty == false)
            }
        }
    }
}
