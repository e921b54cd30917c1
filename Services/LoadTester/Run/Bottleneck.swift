/// What limits a load.
enum Bottleneck: String, CaseIterable, Encodable, CodingKeyRepresentable, Sendable {
    /// The relay is in the ramp to its full rate.
    case ramp
    /// The relay is at its full rate.
    case pace
    /// FCM's quota for the project is used up.
    case quota

    /// A description, with the settings that control it.
    var explanation: String {
        switch self {
        case .ramp: "the relay's ramp to its full rate (MSI_FCM_RAMP)"
        case .pace: "the relay's full rate (MSI_FCM_QUOTA, MSI_FCM_QUOTA_SHARE)"
        case .quota: "FCM's quota for the project, which is used up"
        }
    }
}
