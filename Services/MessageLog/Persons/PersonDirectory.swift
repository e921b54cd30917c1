import Base
import Bus
import Schemas

/// Names the devices of persons, and learns which of them are not reached any more.
protocol PersonDirectory: Sendable {
    /// The devices that a push reaches now.
    ///
    /// - Throws: ``CommandFailure`` if there is no answer, or if the people service is of an older version, without the command.
    func devices(_ command: ResolveDevices) async throws(CommandFailure) -> [ReachedDevice]

    /// Reports devices whose apps are gone.
    ///
    /// - Throws: As for devices.
    func report(_ command: EndDevicePushes) async throws(CommandFailure)
}

/// The people service on the bus.
struct BusPersonDirectory: PersonDirectory {
    /// The wait for an answer. A turn has time for two of them: its lease leaves room for both.
    static let timeout = Duration.seconds(2)

    let people: CommandClient

    func devices(_ command: ResolveDevices) async throws(CommandFailure) -> [ReachedDevice] {
        try await people.request(command, timeout: Self.timeout).devices
    }

    func report(_ command: EndDevicePushes) async throws(CommandFailure) {
        _ = try await people.request(command, timeout: Self.timeout)
    }
}
