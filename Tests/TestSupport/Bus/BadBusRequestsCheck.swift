import FoundationEssentials
package import Testing

/// Sends bad requests to a service, in two rounds. Each request must be answered with a failure. The second round must not
/// increase the process's resources. The log must not contain the requests' content.
///
/// - Returns: The number of requests.
@discardableResult
package func checkBadRequests(
    to process: ServiceProcess, at endpoint: String, seed: UInt64, _ commands: [SampleCommand]
) async throws -> Int {
    var count = 0
    func round(_ seed: UInt64) async throws {
        var maker = BadBusRequests(seed: seed)
        let requests = maker.make(for: commands)
        for (number, request) in requests.enumerated() {
            let comment: Comment = "seed \(seed), request \(number): \(request.description)"
            try await checkBadRequest(request, at: endpoint, comment)
            try #require(process.isRunning, "\(comment.rawValue) ended the process: \(process.log.suffix(2_000))")
        }
        count += requests.count
    }

    try await round(seed)
    let before = try ProcessUsage(of: process.identifier)
    try await round(seed + 1)
    try await expectNoGrowth(of: process, since: before, "seed \(seed)")
    expectCleanLog(of: process, secret: BadBusRequests.secret, "seed \(seed)")
    return count
}

private func checkBadRequest(_ request: BadBusRequest, at endpoint: String, _ comment: Comment) async throws {
    let stranger = try RawDealer(connectedTo: endpoint)
    try await stranger.send(request.frames)
    let ping = [Array(#"{"id":"ping","command":"bus.ping"}"#.utf8), Array("{}".utf8)]
    if case .disconnected = request.answer {
        // A request before the reconnection may be lost.
        try await eventually {
            try await stranger.send(ping)
            return try await stranger.receive(within: .milliseconds(100)) == [#"{"id":"ping","status":"ok"}"#, "{}"]
        }
        return
    }
    guard var reply = try await stranger.receive() else {
        Issue.record("no answer; \(comment.rawValue)")
        return
    }
    // The delimiter and the frames before it are returned.
    while reply.count > 2 { reply.removeFirst() }
    if case .refused(let id) = request.answer {
        let header = try JSONDecoder().decode([String: String].self, from: Data(reply[0].utf8))
        #expect(["invalid", "deadline_exceeded"].contains(header["status"]), "\(comment.rawValue): \(reply)")
        #expect(header["id"] == id, comment)
        let failure = try JSONDecoder().decode([String: String].self, from: Data(reply[1].utf8))
        #expect(failure["message"]?.isEmpty == false && reply[1].utf8.count < 2_000, comment)
    }
    try await stranger.send(ping)
    #expect(try await stranger.receive() == [#"{"id":"ping","status":"ok"}"#, "{}"], comment)
}

/// Checks that a process's resources have not grown: closed connections and requests are released.
package func expectNoGrowth(of process: ServiceProcess, since before: ProcessUsage, _ comment: Comment) async throws {
    var after = try ProcessUsage(of: process.identifier)
    // The process notices a closed connection a moment later.
    try await eventually {
        after = try ProcessUsage(of: process.identifier)
        return after.descriptors <= before.descriptors + 2
    }
    // Idle threads end, and start again with work.
    #expect(after.threads <= before.threads + 4, "\(comment.rawValue): \(before), then \(after)")
    #expect(after.resident <= before.resident + 16 << 10, "\(comment.rawValue): \(before), then \(after)")
}

/// Checks that a process has logged no error, no long line and no secret.
package func expectCleanLog(of process: ServiceProcess, secret: String, _ comment: Comment) {
    for line in process.log.split(separator: "\n") {
        #expect(!line.contains(#""level":"error""#) && !line.contains(#""level":"critical""#), comment)
        #expect(line.hasPrefix("{"), "\(comment.rawValue): \(line.prefix(200))")
        #expect(line.utf8.count < 2_000, "\(comment.rawValue): \(line.prefix(200))")
        #expect(!line.contains(secret), comment)
    }
}
