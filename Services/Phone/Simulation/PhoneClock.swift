import FoundationEssentials
import Glibc
import MobileApp

/// The phone's clock: this machine's, moved by the control.
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
