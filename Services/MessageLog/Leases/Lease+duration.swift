import Schemas
import ServiceKit

extension Lease {
    /// How long a claimed message is a process' own, in milliseconds.
    static let duration = Int64(DeliveryTimes.leaseDuration / .milliseconds(1))
}
