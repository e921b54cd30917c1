import FoundationEssentials

/// POSTs JSON to Google, with the patience that Google asks for.
struct PatientPost: Sendable {
    /// Google asks for no less than ten seconds.
    private static let requestTimeout = Duration.seconds(10)
    /// For how long a request that was made before its message expired may be answered after that. It may have to wait for a
    /// connection first: a message is never later at FCM than this.
    private static let timeAfterExpiry = Duration.seconds(1)

    let transport: any HTTPTransport

    /// - Parameters:
    ///   - headers: Beside the content's type.
    ///   - expiry: Nothing is sent from then on.
    ///   - deadline: When to give up.
    @inline(__always)
    func post(
        _ body: Data, to url: String, headers: [String], before expiry: ContinuousClock.Instant,
        by deadline: ContinuousClock.Instant
    ) async throws(SendFailure) -> HTTPTransportResponse {
        let begin = ContinuousClock.now
        guard begin < expiry else { throw .expired }
        do {
            return try await transport.reach(
                HTTPTransportRequest(
                    url: url, headers: ["content-type: application/json"] + headers, body: body,
                    deadline: min(deadline, begin + Self.requestTimeout, expiry + Self.timeAfterExpiry)),
                before: expiry)
        } catch {
            throw SendFailure(error, after: ContinuousClock.now - begin)
        }
    }
}
