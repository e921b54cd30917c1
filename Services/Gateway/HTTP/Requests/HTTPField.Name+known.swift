import HTTPTypes

extension HTTPField.Name {
    /// A field name that is certain to be well formed.
    static func known(_ name: StaticString) -> HTTPField.Name {
        guard let field = HTTPField.Name("\(name)") else { preconditionFailure("\(name) is not a field name") }
        return field
    }

    static let forwarded = known("Forwarded")
    static let lastEventID = known("Last-Event-ID")
    static let accelBuffering = known("X-Accel-Buffering")
    static let link = known("Link")
    static let rateLimit = known("RateLimit")
    static let rateLimitPolicy = known("RateLimit-Policy")
    static let xForwardedFor = known("X-Forwarded-For")
    static let xForwardedProto = known("X-Forwarded-Proto")
    static let hostField = known("Host")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let traceparent = known("traceparent")
    static let requestID = known("X-Request-Id")
    static let idempotencyKey = known("Idempotency-Key")
    static let idempotencyReplayed = known("Idempotency-Replayed")
}
