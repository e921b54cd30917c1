import JSON

/// The urgency of a delivery. Urgent items go out first, here and in the relay.
package enum Urgency: String, ClosedEnum {
    case high, normal
}

extension Distribution {
    /// An Alert is urgent.
    package var urgency: Urgency {
        switch self {
        case .alert: .high
        case .information: .normal
        }
    }

    /// The distribution whose messages have this urgency.
    package init(_ urgency: Urgency) {
        self =
            switch urgency {
            case .high: .alert
            case .normal: .information
            }
    }
}
