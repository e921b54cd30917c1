import Bus
import Base
import Schemas
import TestSupport
import Testing

/// The trace of a post on the way to the relay.
@Suite("Traces", .timeLimit(.minutes(10)))
struct TraceTests {
    @Test("Every attempt to relay a message or a push belongs to the trace that posted it, even after a restart")
    func attempts() async throws {
        try await withTemporaryFolder { folder in
            let (first, second) = (Traceparent(), Traceparent())
            // There is no relay yet.
            let (msiKey, pushID) = try await RunningMessageLog.with(in: folder) { log in
                let message = try await log.log(.sample(), context: .init(actor: "ann", traceparent: first))
                let logged = try await log.client.request(LogPush.sample(), context: .init(actor: "people", traceparent: second))
                    .push
                _ = try await log.wait(for: message.msiKey) { $0.components[0].error != nil }
                return (message.msiKey, logged.id)
            }
            let refusal = First()
            let relay = RelayDouble { command in
                guard refusal.take() else { return command.components.map(\.accepted) }
                return command.components.map { $0.refused(.retryable, "UNAVAILABLE", retryAfter: 200) }
            }
            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder, settings: ["MSI_LOG_LEVEL": "debug"]) { log in
                    _ = try await log.wait(for: msiKey) { $0.state == .relayed }
                    try await eventually { try await log.client.request(GetPush(pushID: pushID)).relay.state == .relayed }
                    #expect(relay.asked.count == 2 && relay.askedPushes.count == 1)
                    let traces = relay.traces.compactMap(\.self)
                    #expect(traces.count == 3)
                    #expect(traces.filter { $0.traceID == first.traceID }.count == 2)
                    #expect(traces.filter { $0.traceID == second.traceID }.count == 1)
                    // Each attempt is a separate span.
                    #expect(Set(traces.map(\.parentID)).count == 3)
                    for message in ["will be tried again", #""relayed""#] {
                        try await eventually("the line of the trace with \(message)") {
                            log.process.log.split(separator: "\n").contains { $0.contains(first.traceID) && $0.contains(message) }
                        }
                    }
                }
            }
        }
    }

    @Test("A message that was posted without a trace begins one, and all its attempts belong to it")
    func without() async throws {
        try await withTemporaryFolder { folder in
            let relay = RelayDouble()
            try await relay.run(in: folder) {
                try await RunningMessageLog.with(in: folder) { log in
                    let key = try await log.log(.sample()).msiKey
                    _ = try await log.wait(for: key) { $0.state == .relayed }
                    let stored = try #require(try await log.message(key).traceparent.flatMap { Traceparent($0) })
                    #expect(relay.traces.compactMap(\.?.traceID) == [stored.traceID])
                }
            }
        }
    }
}
