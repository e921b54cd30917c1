import FoundationEssentials
import ServiceKit

/// JSON requests to Google, with Google's request timeout.
struct JSONRequests: Sendable {
    /// How long after its message's expiry a request may still be answered. The request may wait for a connection first, so this
    /// is also the maximum delay after which FCM gets an expired message.
    private static let timeAfterExpiry = Duration.seconds(1)

    /// The header for a JSON body.
    static let contentType = "content-type: application/json"

    let transport: any HTTPTransport

    /// - Parameters:
    ///   - bodies: The body of each POST; `nil` for a GET.
    ///   - headers: All headers, including ``contentType``.
    ///   - expiry: Nothing is sent after this time.
    ///   - deadline: When to give up.
    /// - Returns: The outcome of each request.
    @inline(__always)
    func send(
        _ bodies: [Data?], to url: String, headers: [String], before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async -> [Result<HTTPTransportResponse, SendFailure>] {
        let begin = ContinuousClock.now
        guard begin < expiry else { return bodies.map { _ in .failure(.expired) } }
        let end = min(deadline, begin + DeliveryTimes.fcmRequestTimeout, expiry + Self.timeAfterExpiry)
        let outcomes = await transport.sendReconnecting(
            bodies.map { HTTPTransportRequest(url: url, headers: headers, body: $0, deadline: end) }, before: expiry)
        return Self.results(of: outcomes, since: begin)
    }

    // Not inlined; see RelayHandler for the reason.
    @inline(never)
    private static func results(
        of outcomes: [HTTPTransportOutcome], since begin: ContinuousClock.Instant
    ) -> [Result<HTTPTransportResponse, SendFailure>] {
        outcomes.map { $0.mapError { SendFailure($0, after: ContinuousClock.now - begin) } }
    }
}
