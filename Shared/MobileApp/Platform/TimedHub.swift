/// Ends requests that the hub does not answer in time, also in the middle of an answer, so that the app asks again.
struct TimedHub: HubConnection {
    let hub: any HubConnection
    let clock: any DeviceClock

    static let limit = Duration.seconds(30)

    func answer(to request: HubRequest) async throws -> HubAnswer {
        try await clock.within(Self.limit) { [hub] in try await hub.answer(to: request) }
    }
}
