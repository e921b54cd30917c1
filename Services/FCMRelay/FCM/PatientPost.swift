import FoundationEssentials
import ServiceKit

/// POSTs JSON to Google, with the patience that Google asks for.
struct PatientPost: Sendable {
    /// For how long a request that was made before its message expired may be answered after that. It may have to wait for a
    /// connection first: a message is never later at FCM than this.
    private static let timeAfterExpiry = Duration.seconds(1)

    /// What says that a body is JSON.
    static let contentType = "content-type: application/json"

    let transport: any HTTPTransport

    /// - Parameters:
    ///   - bodies: Of one request each.
    ///   - headers: All of them, ``contentType`` among them.
    ///   - expiry: Nothing is sent from then on.
    ///   - deadline: When to give up.
    /// - Returns: What became of each.
    @inline(__always)
    func post(
        _ bodies: [Data], to url: String, headers: [String], before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<HTTPTransportResponse, SendFailure>] {
        let begin = ContinuousClock.now
        guard begin < expiry else { return bodies.map { _ in .failure(.expired) } }
        let end = min(deadline, begin + DeliveryTimes.fcmRequestTimeout, expiry + Self.timeAfterExpiry)
        let outcomes = await transport.reach(
            bodies.map { HTTPTransportRequest(url: url, headers: headers, body: $0, deadline: end) }, before: expiry)
        return Self.results(of: outcomes, since: begin)
    }

    // Out of line, as is much else here: see RelayHandler.
    @inline(never)
    private static func results(
        of outcomes: [HTTPTransportOutcome], since begin: ContinuousClock.Instant
    ) -> [Result<HTTPTransportResponse, SendFailure>] {
        outcomes.map { $0.mapError { SendFailure($0, after: ContinuousClock.now - begin) } }
    }
}
