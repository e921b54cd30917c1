import FoundationEssentials
import Glibc
import Base
import MobileApp

/// What the person does with the phone outside the app: `PUT /control`.
struct PhoneControl: Codable, Hashable, Sendable {
    enum System: String, ClosedEnum {
        case android, ios
    }

    enum Language: String, ClosedEnum {
        case en, ar
    }

    var platform = System.android
    /// The phone has no network: neither FCM nor the hub can be reached.
    var offline = false
    /// The app does not run. The operating system still shows pop-ups; data messages are lost.
    var killed = false
    /// Whether the app is on the screen; otherwise the phone is locked.
    var foreground = true
    var language = Language.en
    /// How many seconds the phone's clock is ahead.
    var clockOffset = 0

    private enum CodingKeys: String, CodingKey {
        case platform, offline, killed, foreground, language
        case clockOffset = "clock_offset"
    }

    /// Ten years.
    static let maxClockOffset = 315_360_000

    /// The members of a request. Absent ones do not change.
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

/// The phone's clock: this machine's clock plus the offset of ``PhoneControl``.
struct PhoneClock: DeviceClock {
    let memory: PhoneMemory

    var now: Int64 {
        Int64(Date().timeIntervalSince1970 * 1_000) + Int64(memory.system.control.clockOffset) * 1_000
    }

    func offset(at moment: Int64) -> Int {
        var time = time_t(moment / 1_000)
        var local = tm()
        localtime_r(&time, &local)
        return local.tm_gmtoff
    }

    func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
