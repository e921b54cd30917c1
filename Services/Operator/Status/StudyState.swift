import Base
import Schemas
import ServiceKit

/// What `msi status` knows about the study sessions.
typealias StudyState = CountState<CountStudy>

extension StudyState {
    static func read(_ settings: SettingValues, _ health: ProductStatus.Health) async -> StudyState {
        await read(CountStudy(), of: .study, settings, health)
    }

    var lines: [String] { described("study: the sessions are not known") { [$0.summary] } }
}

extension CountStudy.Reply {
    /// Something that waits longer than this is late: a session is ended, and its attendants are told, within seconds.
    static let maxOverdue = Milliseconds.seconds(60)

    /// Whether the service is late with its work on open sessions.
    var isLate: Bool { overdue > Self.maxOverdue }

    fileprivate var summary: String {
        let classes = classes == 1 ? "1 class" : "\(classes) classes"
        let open = "study: \(counted(sessions, "open session")) with \(counted(attendants, "person")), in \(classes)"
        return isLate ? open + "; ends and pushes are late by \(overdue.rounded)" : open
    }
}
