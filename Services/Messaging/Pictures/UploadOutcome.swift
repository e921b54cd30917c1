import CoreMetrics
import Instruments

/// What came of an upload, for the metrics.
enum UploadOutcome {
    case stored
    /// There is no room, or the account has too many pictures.
    case full, limited
    case refused(PictureRefusal.Reason)

    func count() { Instrument.messagingPictureUploads.counter(["outcome": label]).increment() }

    private var label: String {
        switch self {
        case .stored: "stored"
        case .full: "full"
        case .limited: "limited"
        case .refused(let reason): reason.rawValue
        }
    }
}
