import CoreMetrics
import Instruments
import Schemas
import Time

extension Project {
    /// Sets the gauges of the project.
    func collectMetrics() {
        let pace = pace
        Instrument.fcmRate.gauge(["project": id]).set(pace.rate)
        Instrument.fcmFullRate.gauge(["project": id]).set(pace.fullRate)
        Instrument.fcmWaiting.gauge(["project": id]).set(pace.waiting)
        Instrument.fcmQuotaUsed.gauge(["project": id]).set(messageGate.pacer.quotaUsed)
        Instrument.fcmQuotaPause.gauge(["project": id]).set(Double(pace.pausedFor?.rawValue ?? 0) / 1_000)
        Instrument.fcmInFlight.gauge(["project": id]).set(inFlight)
        Instrument.fcmHealthy.gauge(["project": id]).set(health.status == .ok ? 1 : 0)
        tokens?.collectMetrics(of: id)
    }
}
