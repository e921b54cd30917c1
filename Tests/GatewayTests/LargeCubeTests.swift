import Foundation
import Schemas
import TestSupport
import Testing

/// A large cube: additions are refused, and everything else works.
@Suite("Large cube", .timeLimit(.minutes(10)))
struct LargeCubeTests {
    /// 2,000 characters of four bytes.
    private static let long = String(repeating: "🎓", count: 2_000)
    /// How many subjects each channel has. An edit reads and writes its whole channel, so the channels are small.
    private static let subjects = Array(repeating: 260, count: 10)

    @Test("A cube that is larger than any reply can be listed, posted to, and made smaller, and cannot grow")
    func largerThanAReply() async throws {
        try await withTemporaryFolder { folder in
            let topic = try await storeLargeCube(in: folder)
            try await RunningGateway.with(in: folder) { gateway in
                let path = SamplePath(
                    channel: "\(topic.channel)", area: "\(topic.area)", subject: "\(topic.subject)", topicKey: "\(topic)")
                #expect(try await gateway.requestUntilTaken("POST", "/message", body: path.message()).status == 201)
                #expect(try await gateway.requestUntilTaken("GET", "/health").status == 200)
                let listed = try await gateway.requestUntilTaken("GET", "/channel")
                #expect(listed.status == 200 && listed.body.count > 20 << 20)
                let channels = try #require(try JSONSerialization.jsonObject(with: listed.body) as? [[String: Any]])
                let areas = channels.compactMap { ($0["areas"] as? [[String: Any]])?.first }
                #expect(areas.compactMap { ($0["subjects"] as? [Any])?.count } == Self.subjects)

                let area = "/area/\(path.channel)/\(path.area)"
                let growths = [
                    ("PUT", area, #"{"name":"A longer name","desc":"d"}"#),
                    ("POST", "/channel", #"{"name":"n","desc":"\#(Self.long)"}"#),
                ]
                for (method, target, body) in growths {
                    let refused = try await gateway.requestUntilTaken(method, target, body: body)
                    #expect(refused.status == 507 && refused.problem == "storage-full", "\(refused)")
                    #expect((refused.object["detail"] as? String)?.contains("MSI_CUBE_SIZE_LIMIT") == true)
                }
                let subject = "/subject/\(path.channel)/\(path.area)/\(path.subject)"
                let shorter = #"{"name":"n","desc":"","opt":{"level":"","distribution":"Alert"}}"#
                #expect(try await gateway.requestUntilTaken("PUT", subject, body: shorter).status == 200)
                try await delete(subject, of: gateway)
                #expect(try await gateway.requestUntilTaken("POST", "/message", body: path.message()).status == 400)
                // Below the limit there is room again.
                for channel in channels {
                    try await delete("/channel/\(try #require(channel["_id"] as? String))", of: gateway)
                }
                _ = try await gateway.makeSubject()
            }
        }
    }

    private func delete(_ target: String, of gateway: RunningGateway) async throws {
        let first = try await gateway.request("DELETE", target)
        guard first.status == 503 else { return #expect(first.status == 204, "\(first)") }
        // The first request may have been done after its answer.
        #expect([204, 404].contains(try await gateway.requestUntilTaken("DELETE", target).status))
    }

    /// Stores a cube in the service's database.
    ///
    /// - Returns: The first subject.
    private func storeLargeCube(in folder: String) async throws -> TopicKey {
        let channels = Self.subjects.map { count in
            let (channel, area) = (ObjectID(), ObjectID())
            let subjects = (0..<count).map { _ in
                let topic = TopicKey(channel: channel, area: area, subject: ObjectID())
                return Subject(
                    id: topic.subject, name: "n", desc: Self.long, topicKey: topic,
                    opt: SubjectOptions(level: .optional, distribution: .alert))
            }
            return Channel(
                id: channel, name: "C", desc: "", areas: [Area(id: area, name: "A", desc: "", subjects: subjects)])
        }
        try await storeCube(channels, version: 7, in: folder)
        return try #require(channels.first?.areas.first?.subjects.first).topicKey
    }
}
