extension HTTPTransport {
    /// Sends a request, again and again for a while as long as nobody takes it: one that certainly has not reached its server. An
    /// interrupted connection is back by then, and a storm warning has not lost the ten seconds that an FCM in trouble has to
    /// be left alone for.
    ///
    /// - Parameter expiry: It is not sent again from then on.
    @inline(__always)
    func reach(
        _ request: HTTPTransportRequest, before expiry: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPTransportResponse {
        let end = min(request.deadline, expiry, .now + .seconds(3))
        do {
            return try await send(request)
        } catch {
            return try await send(request, after: error, before: end)
        }
    }

    /// Sends a request that has failed again, as long as that may help.
    private func send(
        _ request: HTTPTransportRequest, after failure: TransportError, before end: ContinuousClock.Instant
    ) async throws(TransportError) -> HTTPTransportResponse {
        var failure = failure
        var pause = Duration.milliseconds(100)
        while failure.code == .notReachable, !failure.mayHaveBeenProcessed, .now + pause < end,
            (try? await Task.sleep(for: pause)) != nil
        {
            do {
                return try await send(request)
            } catch {
                failure = error
            }
            pause = min(pause * 2, .milliseconds(500))
        }
        throw failure
    }
}
