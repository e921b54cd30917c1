import HTTPTypes

/// `GET /health`: whether the gateway and the services behind it can do their work.
struct HealthRoutes: Feature {
    let check: HealthCheck

    var section: APISection { APISection("Health", "For monitoring, and for a portal's health display.") }

    var routes: [Route] {
        [
            Route(.get, "/health", right: .anyone, answer: .ok(Health.self), health)
                .documented(
                    "Ask whether everything works",
                    "The status is 200 while messages are accepted and stored, even if their delivery has to wait, and 503 otherwise. While the "
                        + "people or the cube service is away, `copies` says until when the gateway works with its copies of their data.",
                    also: [AnswerForm(.serviceUnavailable, Health.self)], callsServices: false)
        ]
    }

    /// 200 if every service can do its work, even while the relay or FCM is unreachable; otherwise 503.
    private func health(_ call: Call<NoBody>) async throws -> Answer<Health> {
        let health = await check.read()
        let canWork = health.status != .unavailable
        return canWork ? Answer(health) : Answer(health, status: .serviceUnavailable, headers: [.retryAfter: "2"])
    }
}
