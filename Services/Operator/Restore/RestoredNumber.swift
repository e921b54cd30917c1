import Schemas
import Time

/// The numbers with which restored data goes on, where others remember numbers: phones those of broadcasts, and browsers, gateways and
/// programs the versions in entity tags.
///
/// The numbers after the backup are not known any more, and must not be given again. The seconds since 2026 are above all of them, also above
/// those that were given after a former restore, as long as there is less than one change each second. They fit into 31 bits until 2094.
struct RestoredNumber: Sendable {
    private static let step: Int64 = 1_000_000
    private static let start = UnixMilliseconds(rawValue: 1_767_225_600_000)

    /// The time of the restore.
    let restored: UnixMilliseconds

    /// - Parameter number: The one in the backup.
    func after(_ number: Int64) -> Int64 {
        max((restored - Self.start).rawValue / 1_000, number + Self.step)
    }
}
