import Schemas
import ServiceKit

extension Lease {
    /// How long a process owns a claimed message, in milliseconds.
    static let duration = Int64(DeliveryTimes.leaseDuration / .milliseconds(1))
}
