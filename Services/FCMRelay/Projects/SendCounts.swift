import CoreMetrics
import Instruments
import Schemas

/// Counts the outcomes of a project's sends.
struct SendCounts: Sendable {
    private let project: String
    private let ok: Counter
    let duration: CoreMetrics.Timer

    init(project: String) {
        self.project = project
        ok = Instrument.fcmSends.counter(["project": project, "outcome": "ok"])
        duration = Instrument.fcmSendDuration.timer(["project": project])
    }

    /// - Parameter failures: `nil` for a success.
    func record(_ failures: [SendFailure?]) {
        for failure in failures {
            guard let failure else {
                ok.increment()
                continue
            }
            // FCM may answer with a code that the relay does not know; such codes are not labels.
            let code = RelayErrorCode(rawValue: failure.error.code)?.rawValue ?? "other"
            Instrument.fcmSends.counter(["project": project, "outcome": code]).increment()
        }
    }
}
