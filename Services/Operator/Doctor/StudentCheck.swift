import Base
import Bus
import Logging
import Schemas
import ServiceKit

/// The keys of the tokens of students' devices, and the erasures of persons.
struct StudentCheck: Sendable {
    let settings: SettingValues
    /// The endpoints of the people services that answer.
    let people: [String]

    private static let timeout = Duration.seconds(5)

    /// - Returns: None if no people service answers, which the check of the sockets reports, or if it is of a version without students.
    /// - Throws: ``ConfigurationError``, or ``BusError`` if there is no bus.
    func findings() async throws -> [Finding] {
        guard let endpoint = people.first else { return [] }
        do {
            return try await CommandClient.with([endpoint], settings) { client in
                // After the last one there are no ends, and the answer has the keys alone.
                let keys = try await client.request(ReadDeviceChanges(after: .max), timeout: Self.timeout).keys
                let erasures = try await client.request(ListErasures(), timeout: Self.timeout)
                return try Self.findings(about: keys)
                    + Self.findings(about: erasures, logged: loggedErasures(endpoint), at: .now)
            }
        } catch let failure as CommandFailure {
            guard !failure.isUnknownCommand else { return [] }
            return [
                .failure(
                    .students,
                    "\(ServiceEntry.people.executable) at \(endpoint) does not say what it knows of students: \(failure.message)",
                    "its log says more")
            ]
        }
    }

    static func findings(about keys: [DeviceTokenKey]) -> [Finding] {
        let name = ServiceEntry.people.executable
        guard !keys.isEmpty else {
            return [
                .failure(
                    .students, "\(name) has no key for the tokens of students' devices, so no student can use the app",
                    "restart it; its log says more")
            ]
        }
        // 65 bytes, the first of which is 4.
        guard keys.allSatisfy({ $0.key.wholeMatch(of: /B[A-Za-z0-9_-]{86}/) != nil }) else {
            return [
                .failure(
                    .students, "a key of the tokens of students' devices is none",
                    "make a new one, and end the earlier ones: msi keys tokens --forget")
            ]
        }
        let count = keys.count == 1 ? "one key" : "\(keys.count) keys"
        return [.ok(.students, "the tokens of students' devices are checked with \(count)")]
    }
}
