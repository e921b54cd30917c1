import Schemas
import ServiceKit
import Time

extension Lease {
    /// How long a process owns a claimed message.
    static let duration = Milliseconds(DeliveryTimes.leaseDuration)
}
