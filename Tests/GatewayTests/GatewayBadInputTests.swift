import Foundation
import TestSupport
import Testing

@Suite("Gateway, bad input", .timeLimit(.minutes(10)))
struct GatewayBadInputTests {
    @Test("Hundreds of bad requests are refused, and leave nothing behind")
    func badRequests() async throws {
        try await RunningGateway.with { gateway in
            let path = try await gateway.makeSubject()
            let seed: UInt64 = 20_261_123
            try await round(seed, gateway, path)
            let before = try ProcessUsage(of: gateway.process.identifier)
            try await round(seed + 1, gateway, path)
            try await expectNoGrowth(of: gateway.process, since: before, "seed \(seed)")
            expectCleanLog(of: gateway.process, secret: BadHTTPRequests.secret, "seed \(seed)")

            // On a busy machine a service may answer late once.
            try await eventually("all is well") { try await gateway.request("GET", "/health").status == 200 }
            let posted = try await gateway.request("POST", "/message", body: path.message())
            #expect(posted.status == 201, "\(posted)")
            let list = try await gateway.request("GET", "/message?limit=1")
            #expect(
                (list.object["messages"] as? [[String: Any]])?.first?["msi_key"] as? String == posted.object["msi_key"] as? String
            )
        }
    }

    private func round(_ seed: UInt64, _ gateway: RunningGateway, _ path: SamplePath) async throws {
        var maker = BadHTTPRequests(seed: seed, path: path, token: gateway.token ?? "")
        let requests = maker.make()
        #expect(requests.count >= 100)
        for (number, request) in requests.enumerated() {
            let comment: Comment = "seed \(seed), request \(number): \(request.description)"
            do {
                let answer = try await HTTPConversation.send(request.bytes, to: gateway.port, isLast: request.isCutOff)
                check(answer, to: request, comment)
            } catch {
                Issue.record("\(comment.rawValue): \(error)")
            }
            try #require(gateway.process.isRunning, "\(comment.rawValue) ended the process: \(gateway.process.log.suffix(2_000))")
        }
    }

    private func check(_ answer: HTTPAnswer?, to request: BadHTTPRequest, _ comment: Comment) {
        // For bytes that are no request, closing the connection is a valid answer.
        guard let answer else { return }
        #expect(
            (400..<500).contains(answer.status) || answer.status == 501 || answer.status == 505, "\(comment.rawValue): \(answer)")
        // A request is answered by the gateway, with a problem document.
        if !answer.body.isEmpty { #expect(answer.problem != nil, "\(comment.rawValue): \(answer)") }
        #expect(answer.body.count < 2_000, comment)
    }
}
