import JSON

/// What a person does with the phone, from outside of the app: `PUT /control`.
struct PhoneControl: Codable, Hashable, Sendable {
    enum System: String, ClosedEnum {
        case android, ios
    }

    enum Language: String, ClosedEnum {
        case en, ar
    }

    var platform = System.android
    /// Without a network: neither FCM nor the hub can be reached.
    var offline = false
    /// The app does not run. The operating system still shows pop-ups; data messages are lost.
    var killed = false
    /// The app is on the screen; otherwise the phone is locked.
    var foreground = true
    var language = Language.en
    /// Seconds that the phone's clock is ahead.
    var clockOffset = 0

    private enum CodingKeys: String, CodingKey {
        case platform, offline, killed, foreground, language
        case clockOffset = "clock_offset"
    }

    /// Ten years.
    static let maxClockOffset = 315_360_000

    /// The members of a request; absent ones stay.
    struct Change: Codable, Hashable, Sendable {
        var platform: System?
        var offline: Bool?
        var killed: Bool?
        var foreground: Bool?
        var language: Language?
        var clockOffset: Int?

        private enum CodingKeys: String, CodingKey {
            case platform, offline, killed, foreground, language
            case clockOffset = "clock_offset"
        }
    }

    func applying(_ change: Change) -> PhoneControl {
        var changed = self
        changed.platform = change.platform ?? platform
        changed.offline = change.offline ?? offline
        changed.killed = change.killed ?? killed
        changed.foreground = change.foreground ?? foreground
        changed.language = change.language ?? language
        changed.clockOffset = change.clockOffset ?? clockOffset
        return changed
    }
}
